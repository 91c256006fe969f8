"""Short forms of Italian by the occasion: a match, a ward, a road, a chat, an advertisement."""

import re
from typing import Final

BY_OCCASION: Final = (
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
    ("p.", re.compile(r"(?:(?<=ult\. )|(?<=ultimo ))p\.(?!\w)"), "piano"),
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
        re.compile(r"(?<!\w)x (lun|mar|mer|gio|ven|sab|dom)(?=[:,;.!?)]|$| (?:mattin|sera|pom|prossim))"),
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
    ("km", re.compile(r"(?<!\d )(?<!\w)km (?=\d{1,3}\.\d{3}(?!\d)|\d{5,6}(?!\d)|\d{1,3}mila)"), "chilometri "),
    (
        "campo Campo magnete RM",
        re.compile(r"(?<!\w)([Cc]ampo|[Mm]agnete|RMN?)([^.;\d]{1,40}\d(?:[.,]\d+)?) T(?!\w)"),
        r"\1\2 tesla",
    ),
)
