"""Short forms of Italian by the occasion: a match, a ward, a road, a chat, an advertisement."""

import re
from typing import Final

from polyvox.text.normalize.romance.short_forms.common_rules import TUMOUR_STAGES

BY_OCCASION: Final = (
    *(
        (receptor, re.compile(rf"{receptor}-(?<!\w{receptor}-)(?=[,;.) /]|$)"), f"{receptor} meno")
        for receptor in ("ER", "PR", "PgR", "HIV", "HCV", "Rh")
    ),
    *(
        (f"{prefix}i", re.compile(rf"{prefix}i(?:(?<=\d..)(?=$|[ ,;.)])|(?<=\d ..)(?=$|[,;.)]| di ))"), f"{prefix}iB")
        for prefix in "KMGT"
    ),
    (
        "cp cp. cpr cpr. compressa pastiglia capsula",
        re.compile(
            r"1(?<= e 1)(?= (?:la |alla )?(?:sera|mattina|mattino|notte)(?!\w)"
            r"| (?:a|dopo|prima di) (?:pranzo|cena|colaz))"
        ),
        "una",
    ),
    (
        "Rai Canale Italia Rete Sky",
        re.compile(r"((?:Rai|Canale|Italia|Rete|Sky)(?: [^.;:\d]{0,20}| ?\d)[,:]) (\d{1,2})\.([0-5]\d)(?!\d)"),
        r"\1 \2:\3",
    ),
    (
        "capp. Capp. capitoli Capitoli artt. Artt. voll. Voll. canti tomi libri",
        re.compile(
            r"([CcAaVvTtLl](?<!\w.)(?:app\.|apitoli|rtt\.|oll\.|anti|omi|ibri) [IVXL]+) ?[-–] ?(?=[IVXL]+(?!\w))"
        ),
        r"\1 a ",
    ),
    ("A. C. L. N. P. Q. S. V.", re.compile(r"([ACLNPQSV](?<![\w.].))\.(?= [A-Z]\.?\s*(?:\Z|\n))"), r"\1"),
    (
        "Ca. ca.",
        re.compile(
            r"(?<!\w)([Cc])a\.(?= (?:mammari|polmonar|prostatic|gastric|ovaric|renal|vescical|tiroide"
            r"|epatic|squamos|duttal))"
        ),
        r"\1arcinoma",
    ),
    ("acc.", re.compile(r"(?<!\w)acc\.(?= (?:prof|doc\.|docenti|ins))"), "accompagnatori"),
    *(
        (
            held,
            re.compile(rf"(?<!\w){held[:-1]}(?:{rest}|\.) (\d{{1,5}})/(\d\d)(?![\d/])"),
            rf"{held[:-1]}{rest} \1 barra \2",
        )
        for held, rest in (
            ("prev.", "entivo"),
            ("Prev.", "entivo"),
            ("fatt.", "ura"),
            ("Fatt.", "ura"),
            ("ord.", "ine"),
            ("Ord.", "ine"),
        )
    ),
    ("x", re.compile(r"x(?<!\w.) fav(?:ore)?(?!\w)"), "per favore"),
    ("es", re.compile(r"(?<!\w)es(?= \d{1,3}(?!\d))"), "esercizio"),
    ("pag", re.compile(r"(?<!\w)pag(?= \d{1,3}(?!\d))"), "pagina"),
    (
        "matr.",
        re.compile(r"(?<=1 )matr\.(?! ?\d)(?!\w)|(?<=cam\. )matr\.(?!\w)|(?<=camera )matr\.(?!\w)"),
        "matrimoniale",
    ),
    ("matr.", re.compile(r"(?<=\d )matr\.(?! ?\d)(?!\w)|(?<=camere )matr\.(?!\w)"), "matrimoniali"),
    ("v.", re.compile(r"(?<!\w)([Cc]ambio (?:a )?\d{1,2}) v\.(?!\w)"), r"\1 velocità"),
    *(
        (short, re.compile(rf"(?<=[a-zà-ÿ] ){short}(?= a (?:pranzo|cena)| (?:alle|dalle) \d)"), name)
        for short, name in (
            ("lun", "lunedì"),
            ("mar", "martedì"),
            ("mer", "mercoledì"),
            ("gio", "giovedì"),
            ("ven", "venerdì"),
            ("sab", "sabato"),
            ("dom", "domenica"),
        )
    ),
    *(
        (short, re.compile(rf"(?<=[a-zà-ÿ] ){short}(?=[?!])"), name)
        for short, name in (
            ("lun", "lunedì"),
            ("gio", "giovedì"),
            ("ven", "venerdì"),
            ("sab", "sabato"),
            ("dom", "domenica"),
        )
    ),
    ("prod.", re.compile(r"(?<=in )prod\.(?!\w)"), "produzione"),
    ("acc.", re.compile(r"(?<=d')acc\.(?!\w)"), "acconto"),
    ("sost.", re.compile(r"(?<=[Bb]us )sost\.(?!\w)"), "sostitutivo"),
    ("cons. cons", re.compile(r"(?<=[Uu]scita )cons\.(?!\w)"), "consigliata"),
    (
        "dir.",
        re.compile(r"(?<!\w)(A\d{1,2}|S[SP] ?\d{1,3}|[Tt]angenziale|[Rr]accordo) dir\.(?= [A-Z])"),
        r"\1 direzione",
    ),
    ("rit.", re.compile(r"(?<=[;,] )rit\.(?= [A-Z][a-zà-ÿ]+(?:[.,;)]| e |$))"), "ritirato"),
    ("ott. Ott.", re.compile(r"(?<!\d )(?<!\w)([Oo])tt\.(?= di finale)"), r"\1ttavi"),
    ("f.", re.compile(r"(?<=[AB][12] )f\.(?=[:,;)]|$)"), "femminile"),
    ("m.", re.compile(r"(?<=[AB][12] )m\.(?=[:,;)]|$)"), "maschile"),
    ("p/", re.compile(r"(?<![\w/])p/t(?![\w/])"), "part time"),
    ("f/", re.compile(r"(?<![\w/])f/t(?![\w/])"), "full time"),
    ("p.", re.compile(r"p\.(?:(?<=ult\. p\.)|(?<=ultimo p\.))(?!\w)"), "piano"),
    (
        "ed. Ed.",
        re.compile(
            r"(?<!\w)([Ee])d\.(?= (?:fisica|civica|musicale|artistica|tecnica|stradale|sessuale|motoria"
            r"|alimentare|ambientale))"
        ),
        r"\1ducazione",
    ),
    ("ed. Ed.", re.compile(r"(?<!\w)([Ee])d\. (?:fis|mot)\.(?!\w)"), r"\1ducazione fisica"),
    ("mill.", re.compile(r"(?:(?<=[°ºIVX] )|(?<=mo ))mill\.(?!\w)"), "millennio"),
    ("val.", re.compile(r"(?<!\w)val\.(?= \d+ ?(?:gg|giorni|mesi|mm|anni|aa|h)(?!\w))"), "validità"),
    *(
        (
            side,
            re.compile(
                rf"(?<!\w)((?:[Rr]en|[Pp]ied|[Pp]olmon|[Tt]allon|[Pp]ollic|[Tt]esticol|[Ff]emor|[Tt]endin|[Ee]mitorac|[Bb]icipit"
                rf"|[Qq]uadricipit|[Vv]entricol)[eo]) {side}\.?(?!\w)"
            ),
            rf"\1 {word}",
        )
        for side, word in (("dx", "destro"), ("sx", "sinistro"))
    ),
    ("J", re.compile(r"(?:(?<=[.,]\d )|(?<=[.,]\d\d )|(?<=[.,]\d{3} ))J(?![\w'’·/-]|\.\w)"), "joule"),
    (
        "x",
        re.compile(r"x(?<!\w.) (lun|mar|mer|gio|ven|sab|dom)(?=[:,;.!?)]|$| (?:mattin|sera|pom|prossim))"),
        r"per \1.",
    ),
    ("imp.", re.compile(r"(?<!\w)(è|molto|troppo|poco|più|cosa|super) imp\.(?!\w)"), r"\1 importante"),
    ("rip. Rip.", re.compile(r"(?<!\w)([Rr])ip\.(?= (?:tra|fra|dopo|a \d|ogni|esam|in \d))"), r"\1ipetere"),
    ("mm mm.", re.compile(r"(?<!\w)([Tt]ra|[Ff]ra|[Dd]opo|[Oo]gni) (\d{1,2}) mm\.?(?=[,;.)]|$)"), r"\1 \2 mesi"),
    ("sts", re.compile(r"(\d['’](?:\+\d)?|\+\d) sts(?!\w)"), r"\1 secondo tempo supplementare"),
    ("pts", re.compile(r"(\d['’](?:\+\d)?|\+\d) pts(?!\w)"), r"\1 primo tempo supplementare"),
    ("pt", re.compile(r"(\d['’](?:\+\d)?|\+\d) pt(?!\w)"), r"\1 primo tempo"),
    ("st", re.compile(r"(\d['’](?:\+\d)?|\+\d) st(?!\w)"), r"\1 secondo tempo"),
    (
        "Imm. imm.",
        re.compile(r"(?<!\w)([Ii])mm\.(?= (?:gen|feb|mar|apr|mag|giu|lug|ago|set|ott|nov|dic|20\d\d))"),
        r"\1mmatricolata",
    ),
    ("Aff. aff.", re.compile(r"(?:\A|(?<=\n))Aff\.(?= [a-z])"), "Affittasi"),
    ("conf.", re.compile(r"(?<!\w)([Cc])onf\.(?= (?:Cass|Cons\. ?St|Corte|Trib|TAR|App))"), r"\1onforme"),
    ("f.", re.compile(r"(?:(?<=[Mm]are )|(?<=[Vv]ento ))f\.(?= ?\d)"), "forza"),
    ("bar.", re.compile(r"(?:(?<=\$ al )|(?<=dollari al )|(?<=€ al ))bar\.(?!\w)"), "barile"),
    ("st. St.", re.compile(r"(?<!\w)([Ss])t\.(?= \d{1,2},? [Ee]p)"), r"\1tagione"),
    ("rep.", re.compile(r"(?<=\()rep\.(?=\))"), "replica"),
    ("km", re.compile(r"km(?<!\w..)(?<!\d km) (?=\d{1,3}\.\d{3}(?!\d)|\d{5,6}(?!\d)|\d{1,3}mila)"), "chilometri "),
    (
        "campo Campo magnete RM RMN risonanza Risonanza",
        re.compile(r"(?<!\w)([Cc]ampo|[Mm]agnete|RMN?|[Rr]isonanza)([^.;\d]{1,40}\d(?:[.,]\d+)?) T(?!\w)"),
        r"\1\2 tesla",
    ),
)

IN_OCCASION: Final = (
    ("HER2-", re.compile(r"HER2-(?=[,;.) /]|$)"), "HER2 meno"),
    ("m di ", re.compile(r"(?<=\d)m (?=di CPU)"), " millicore "),
    *(
        (
            f".{tens}",
            re.compile(
                r"([AaPp](?<!\w.)(?:rr(?:ivo|\.)|art(?:enza|\.))(?: a| da| di)?(?: [A-Z][\w.']+){1,3} (?:ore |alle )?"
                rf"\d{{1,2}})\.({tens}\d)(?!\d)"
            ),
            r"\1:\2",
        )
        for tens in "012345"
    ),
    ("/", re.compile(r"/(?:(?<= \d/)|(?<= \d\d/)|(?<= \d{3}/))(?=\d{1,2}, \d{5} [A-Z])"), " barra "),
    ("uribor", re.compile(r"(?<=uribor )(1|3|6|9|12) ?[mM](?!\w)"), r"\1 mesi"),
    ("-", re.compile(r"[-–](?<=\d.)(?=(?:lun|mart?|merc?|giov?|ven|sab|dom)\. ?\d)"), " a "),
    (" /", re.compile(r"/(?<=[a-zà] /)(?=(?:[13]0|100|5|60)(?![\w/]))"), "su "),
    (
        "/",
        re.compile(r"/(?<=\d/)(?=\d{1,2} (?:da (?:3|tre|2|due)(?!\w)|a[il] (?:tir[oi]|liberi)|dal campo))"),
        " su ",
    ),
    ("XY", re.compile(r"(?<!\w)XX(?=,? (?:o|e|ed) XY)|(?<=XY o )XX|(?<=XY e )XX"), "X X"),
    *(
        (
            f"{letter}6",
            re.compile(
                rf"{letter}6(?<!\S{letter}6)(?<![a-z\d] {letter}6)(?=\?| (?:a|x|ancora|stasera|oggi|domani|su)(?!\w))"
            ),
            f"{letter}i sei",
        )
        for letter in "Cc"
    ),
    ("° e", re.compile(r"(?<![\w.,])(\d{1,2})°(?= e (?:ult\.|ultimo|penultimo))"), r"\1º"),
    ("lassifica", re.compile(r"([A-Z][a-zà-ÿ]+,?) p\. ?(?=\d)"), r"\1 punti "),
    *TUMOUR_STAGES,
)
