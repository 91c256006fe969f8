"""Short forms of Italian by the field that their neighbours show: trade, medicine, law, music, chats."""

import re
from typing import Final

from polyvox.text.normalize.romance.short_forms.common_rules import OPUS, dotted_days
from polyvox.text.normalize.romance.technical.sign_rules import (
    INVERSE_POWERS,
    charges,
    exchange_rates,
    options,
    units_of_powers,
)

_NOTE: Final = r"(?<!\w)((?:[Dd]o|[Rr]e|[Mm]i|[Ff]a|[Ss]ol|[Ll]a|[Ss]i)(?: (?:diesis|bemolle))?)"

_WEEKDAYS: Final = (
    ("lun", "lunedì"),
    ("mar", "martedì"),
    ("mer", "mercoledì"),
    ("gio", "giovedì"),
    ("ven", "venerdì"),
    ("sab", "sabato"),
    ("dom", "domenica"),
)
BY_FIELD: Final = (
    ("s.", re.compile(r"(?<!\w)s\.c\.(?=/)"), "sottocute"),
    ("A", re.compile(r"(?<=\(\d )A(?=[),])|(?<=\(\d\d )A(?=[),])|(?<=\(\d)A(?=[),])|(?<=\(\d\d)A(?=[),])"), " ampere"),
    ("lun mar mer gio ven sab dom", re.compile(
        r"(?<![\w-])(lun|mar|mer|gio|ven|sab|dom)(?= \d{1,2}(?=,? |[,;.)]|$))"
    ), r"\1."),
    ("Compl compl", re.compile(r"(?<!\w)([Cc])ompl\.?(?= di [A-Z])"), r"\1ompleanno"),
    ("matt. mat.", re.compile(r"(?<=al )matt?\.(?!\w)"), "mattino"),
    ("pf.", re.compile(r"(?<!\w)pf\.(?= |[,;)])"), "pianoforte"),
    ("all.", re.compile(r"(?<=v\. )all\.(?!\w)|(?<=vedi )all\.(?!\w)|(?<!\d )(?<!\w)all\.(?=\))"), "allegato"),
    ("t.", re.compile(r"(?<!\w)t\. (?=pieno|parziale)"), "tempo "),
    ("esp. Esp.", re.compile(r"(?<!\w)([Ee])sp\.(?= (?:min|rich|nel|in|pregr|di|\d))"), r"\1sperienza"),
    ("reg. Reg.", re.compile(r"(?<!\w)([Rr])eg\. com\.(?!\w)"), r"\1egolamento comunale"),
    ("f.", re.compile(r"(?<= a )f\. (?=basso|alto|lento|vivo|medio|moderato|spento)"), "fuoco "),
    ("ass. Ass.", re.compile(r"(?<!\w)([Aa])ss\.(?= \d+,\d+ ?%)"), r"\1ssicurazione"),
    ("Q.", re.compile(r"(?<!\w)Q\.ri(?!\w)"), "Quartieri"),
    ("Q.", re.compile(r"(?<!\w)Q\.re(?!\w)"), "Quartiere"),
    ("S.", re.compile(r"(?<!\w)S\.V\.(?!\w)"), "Signoria Vostra"),
    ("lett. Lett.", re.compile(r"(?<!\w)([Ll])ett\. mot\.(?!\w)"), r"\1ettera motivazionale"),
    ("lett. Lett.", re.compile(r"(?<!\w)([Ll])ett\. (?:di )?pres(?:ent)?\.(?!\w)"), r"\1ettera di presentazione"),
    ("I II III IV V VI VII VIII IX X", re.compile(r"(?<!\w)(I{1,3}|IV|VI{0,3}|IX|X)(?= piano(?!\w))"), r"\1°"),
    ("aliq.", re.compile(r"(?:(?<=l')|(?<=un')|(?<=L'))aliq\.(?!\w)"), "aliquota"),
    ("v. V.", re.compile(
        r"(?<![\w.])v\.(?= (?:circ|artt?\.|all|cap|par|nota|anche|sopra|sotto|infra|supra|doc|tab|fig|pagg?\."
        r"|p\. ?\d))"
    ), "vedi"),
    ("Ag.", re.compile(r"(?<!\w)Ag\.(?= (?:delle )?Entrate)"), "Agenzia"),
    ("uff. Uff.", re.compile(r"(?<!\w)([Uu])ff\. com\.(?!\w)"), r"\1ffici comunali"),
    ("v.", re.compile(r"(?<=\()v\.(?= (?:[a-zà-ÿ]|n\.|p\.|art))"), "vedi"),
    ("sx sx.", re.compile(r"(?<=[A-Z] )sx(?!\w)"), "sinistra"),
    ("dx dx.", re.compile(r"(?<=[A-Z] )dx(?!\w)"), "destra"),
    ("ott. Ott.", re.compile(r"(?<!\w)([Oo])tt\. cond\.(?!\w)"), r"\1ttime condizioni"),
    ("sto.", re.compile(r"(?<= di )sto\.(?!\w)"), "storia"),
    ("ed. Ed.", re.compile(r"(?<!\w)([Ee])d\.(?= (?:a cura|it|or|crit|econ|agg|riv))"), r"\1dizione"),
    ("w.", re.compile(r"(?<!\w)w\. ?e\.(?!\w)"), "weekend"),
    ("sc.", re.compile(r"((?:[Aa]tto|[Aa]\.) [IVX\d]+, )sc\."), r"\1scena"),
    ("poss.", re.compile(r"(?<!\w)poss\.(?= palla)"), "possesso"),
    ("p.", re.compile(r"(?<=\d in )p\.(?!\w)"), "porta"),
    ("all. All.", re.compile(r"(?<!\w)([Aa])ll\.(?= [A-Z][a-z]+(?: \(|[,;.)]|$))"), r"\1llenatore"),
    ("mod. Mod.", re.compile(r"(?<!\w)(i|dei|ai|nei|sui|modd\.|\d) mod\.(?!\w)"), r"\1 modelli"),
    ("x", re.compile(r"(?:(?<=[;:,(] )|(?<=[%€)] )|\A)x(?= [a-zà-ÿ]{3})"), "per"),
    ("x", re.compile(r"(?<=[a-zà-ÿ] )x(?=\d{1,3}(?!\w|[.,]\d))"), "per "),
    ("Cons. cons.", re.compile(r"(?<!\w)([Cc])ons\. dei min\.(?!\w)"), r"\1onsiglio dei ministri"),
    ("Cons. cons.", re.compile(
        r"(?<!\w)([Cc])ons\.(?= (?:comunale|region|provinc|d'amm|di Stato|com\.))"
    ), r"\1onsiglio"),
    ("conf. Conf.", re.compile(r"(?<!\w)([Cc])onf\.(?= stampa)"), r"\1onferenza"),
    ("d.", re.compile(r"(?<!\w)d\.lgs\.(?!\w)"), "decreto legislativo"),
    ("vis.", re.compile(r"(?<=conto )vis\.(?!\w)"), "visione"),
    ("f.", re.compile(r"(?<!\w)f\.co(?!\w)"), "franco"),
    ("alt.", re.compile(r"((?:[Ll]ung|[Ll]argh|[Ll]arg|[Pp]rof)[a-z]*\.?[^;]{0,40}, )alt\."), r"\1altezza"),
    ("aC", re.compile(r"(?<=\d )aC(?!\w)"), "avanti Cristo"),
    ("dC", re.compile(r"(?<=\d )dC(?!\w)"), "dopo Cristo"),
    ("Vitt. vitt.", re.compile(r"(?<!\w)Vitt\.(?= (?:Em|Ven|Alf))"), "Vittorio"),
    ("Em.", re.compile(r"(?<=Vitt\. )Em\.(?!\w)|(?<=Vittorio )Em\.(?!\w)|(?<=V\. )Em\.(?!\w)"), "Emanuele"),
    ("V.", re.compile(r"(?<!\w)V\.(?= Em\.)"), "Vittorio"),
    ("ss.", re.compile(r"(?<=\d )ss\.(?=[ ,;.)]|$)(?! [A-Z])"), "seguenti"),
    ("t.", re.compile(r"(?<!\w)t\.(?= [IVX]+(?!\w))"), "tomo"),
    ("ms. mss.", re.compile(r"(?<!\w)ms\.(?= (?:\d|[A-Z]))"), "manoscritto"),
    ("c.", re.compile(r"(?:(?<=% )|(?<=\d )|(?<=€ ))c\.a\.(?= |$|[,;)])"), "circa"),
    ("c.", re.compile(r"(?<!\w)c\.d\.(?= [“\"«]?[a-z]+(?:a|ione|à)(?!\w))"), "cosiddetta"),
    ("c.", re.compile(r"(?<!\w)c\.d\.(?= [“\"«]?[a-z]+i(?!\w))"), "cosiddetti"),
    ("c.", re.compile(r"(?<!\w)c\.d\.(?= [“\"«]?[a-zA-Z])"), "cosiddetto"),
    ("lt", re.compile(r"(?<=[Mm]ezzo )lt(?!\w)"), "litro"),
    ("Prof. prof.", re.compile(r"(?<!\w)([Pp])rof\. ssa(?!\w)"), r"\1rofessoressa"),
    ("Dott. dott.", re.compile(r"(?<!\w)([Dd])ott\. ssa(?!\w)"), r"\1ottoressa"),
    ("p.", re.compile(r"(?<=[°º] )p\.(?!\w)"), "piano"),
    ("pt pt.", re.compile(r"(?<=\d-\d )pt\.?(?=[);,])"), "primo tempo"),
    ("st st.", re.compile(r"(?<=\d-\d )st\.?(?=[);,])"), "secondo tempo"),
    ("gg", re.compile(r"(?<=[Aa]l )gg\.?(?!\w)"), "giorno"),
    ("h h.", re.compile(r"(?<!\w)h\.? ?(?=(?:[01]?\d|2[0-4])[:.][0-5]\d(?!\d))"), "ore "),
    ("t.", re.compile(r"(?<=[12][°º] )t\.(?!\w)"), "tempo"),
    ("AA", re.compile(r"(?<=% )(?:in )?AA(?!\w)"), "in aria ambiente"),
    ("arb.", re.compile(r"(?<!\w)(dir\. )?arb\.(?= [A-Z])"), "arbitro"),
    ("Ass. ass.", re.compile(r"(?<!\w)([Aa])ss\.(?= giustificati)"), r"\1ssenti"),
    ("C.", re.compile(r"(?<=& )C\.(?= |$)"), "C"),
    ("h H", re.compile(r"(?<!\w)[hH]24(?!\w)"), "H 24"),
    ("a.", re.compile(r"(?<!\w)(a|di|da|ha|per) (\d{1,3}) a\.(?! ?C)(?!\w)"), r"\1 \2 anni"),
    ("batt", re.compile(r"(?<!\w)(senza|la|poca|di) batt(?![\w.])"), r"\1 batteria"),
    ("cond.", re.compile(r"(?<=[Vv]oto di )cond\.(?!\w)|(?<=[Vv]oto in )cond\.(?!\w)"), "condotta"),
    ("ref.", re.compile(
        r"(?<!\w)([Ss]ignora|[Ss]ig\.ra|[Rr]agazza|[Dd]onna|[Cc]olf|[Bb]adante) ref\.(?!\w)"
    ), r"\1 referenziata"),
    ("ref.", re.compile(r"(?<!\w)([Ss]ignore|[Ss]ig\.|[Rr]agazzo|[Uu]omo) ref\.(?!\w)"), r"\1 referenziato"),
    ("App.", re.compile(r"(?<![\w'])App\.(?= [A-Z][a-z]+, (?:sez|\d|I))"), "Appello"),
    ("prezz.", re.compile(r"(?<!\w)prezz\.(?= (?:trit|q\.|fresc))"), "prezzemolo"),
    ("scal.", re.compile(r"(?<!\w)scal\.(?= (?:trit|affett))"), "scalogno"),
    ("s.", re.compile(r"(?<!\w)s\.q\.(?!\w)"), "quanto basta"),
    ("Pres. pres.", re.compile(r"(?<!\w)([Pp])res\.(?=:)"), r"\1resenti"),
    ("Ass. ass.", re.compile(r"(?<!\w)([Aa])ss\. giust\.(?!\w)"), r"\1ssenti giustificati"),
    ("Ass. ass.", re.compile(r"(?<!\w)([Aa])ss\.(?=:)"), r"\1ssenti"),
    ("snc", re.compile(r"(?<=C\. )snc(?!\w)|(?<=C )snc(?!\w)|(?<=C\. )s\.n\.c\.(?!\w)"), "S N C"),
    ("km", re.compile(r"(?<!\d )(?<!\w)km (\d{1,4})[-–](\d{1,4})(?![\w,.]\d)"), r"chilometri da \1 a \2"),
    ("c.", re.compile(r"(?<!\w)(il|lo|un|del|al|dal|nel) c\.d\.(?= [a-zà-ÿ“\"])"), r"\1 cosiddetto"),
    ("c.", re.compile(r"(?<!\w)(la|una|della|alla|dalla|nella) c\.d\.(?= [a-zà-ÿ“\"])"), r"\1 cosiddetta"),
    ("c.", re.compile(r"(?<!\w)(i|gli|dei|degli|ai|dai|nei) c\.d\.(?= [a-zà-ÿ“\"])"), r"\1 cosiddetti"),
    ("c.", re.compile(r"(?<!\w)(le|delle|alle|dalle|nelle) c\.d\.(?= [a-zà-ÿ“\"])"), r"\1 cosiddette"),
    *(
        (
            short,
            re.compile(rf"(?<![\w-]){short}(?= (?:sera|matt(?:\.|ina|ino)|pom(?:\.|eriggio)|notte|prossim|scors))"),
            name,
        )
        for short, name in _WEEKDAYS
    ),
    ("apr apr. gen gen. feb feb. mar mar. mag mag. giu giu. lug lug. ago ago.", re.compile(
        r"(?<!\w)((?:gen|feb|mar|apr|mag|giu|lug|ago)\.? ?[-–] ?)sett\.?(?!\w)"
    ), r"\1set."),
    ("p.", re.compile(r"(?<!\w)([IVX]{1,4}) p\.(?!\w)"), r"\1° piano"),
    ("x", re.compile(r"(?<=\d )x(?= [a-zà-ÿ]{3,})"), "per"),
    ("l.", re.compile(r"(?<![\w.])l\.(?= (?:n\. ?\d|\d{1,4}/\d{2,4}))"), "legge"),
    ("p/", re.compile(r"(?<![\w/])p/c(?![\w/])"), "pro capite"),
    ("cm", re.compile(
        r"(?<!\d )(?<!\d)(?<!\w)(?<!in )(?<!di )cm(?= (?:va|stai|sta|ieri|sempre|al solito|se|mai|fai|ti|si"
        r"|te|me|lui|lei|vuoi|dici|prima|quando|un|una|il|la|hai|ho|sei|siamo|è|l)(?!\w))"
    ), "come"),
    *(
        (
            short,
            re.compile(
                rf"(?<![\w-]){short}(?= \d{{1,2}} (?:h|ore|alle|gen|feb|mar|apr|mag|giu|lug|ago|set|ott|nov|dic)"
                r"(?![a-z]*\d))"
            ),
            name,
        )
        for short, name in _WEEKDAYS
    ),
    ("cap", re.compile(r"(?<![\w-])cap(?= \d{1,2} ?(?:e|[-–]|,) ?\d)"), "capitoli"),
    ("cap", re.compile(r"(?<![\w-])cap(?= \d{1,2}(?!\d))"), "capitolo"),
    ("CI", re.compile(r"(?<=[Ll]a )CI(?!\w)|(?<=in )CI(?!\w)"), "C I"),
    ("C/", re.compile(r"(?<!\w)C/C(?!\w)"), "conto corrente"),
    ("tg.", re.compile(r"(?<!\w)tg\.(?= ?(?:X{0,3}[SLM]|\d|unica)(?!\w))"), "taglia"),
    ("tg", re.compile(r"(?<!\w)tg(?= (?:X{0,3}[SLM]|[3-6]\d)(?!\w))"), "taglia"),
    ("v/", re.compile(r"(?<=\d )v/(?:die|dì|gg|giorno)(?!\w)"), "volte al giorno"),
    ("v/", re.compile(r"(?<=\d )v/sett(?:imana)?(?:\.|(?![\w.]))"), "volte a settimana"),
    ("v/", re.compile(r"(?<=\d )v/mese(?!\w)"), "volte al mese"),
    ("ctrl Ctrl", re.compile(r"(?<!\w)([Cc])trl(?![\w+-])"), r"\1ontrollo"),
    ("sent. Sent.", re.compile(
        r"(?<!\w)([Ss])ent\.(?= n\. ?\d+[^.;]{0,40}(?:disl|CAI|m(?!\w)|rifugio|E(?:E|EA)?(?!\w)))"
    ), r"\1entiero"),
    ("diff. Diff.", re.compile(
        r"(?<!\w)([Dd])iff\.(?=:? (?:E{1,3}A?|T|PD|AD|media|alta|bassa)(?!\w))"
    ), r"\1ifficoltà"),
    ("arr. Arr.", re.compile(r"(?<!\w)([Aa])rr\. dom\.(?!\w)"), r"\1rresti domiciliari"),
    ("mosc.", re.compile(r"(?<=[Nn]oce )mosc\.(?!\w)"), "moscata"),
    ("tel.", re.compile(r"(?<!\w)(accordi|contatt[oi]|colloqui[o]?) tel\.(?!\w)"), r"\1 telefonici"),
    ("tel.", re.compile(r"(?<!\w)(recapito|numero|servizio) tel\.(?!\w)(?! ?[\d:])"), r"\1 telefonico"),
    ("tel.", re.compile(r"(?<!\w)(assistenza|consulenza|chiamata|intesa) tel\.(?!\w)"), r"\1 telefonica"),
    ("leg. Leg.", re.compile(
        r"(?<=[Ss]tudio )leg\.(?!\w)|(?<=[Ss]ede )leg\.(?!\w)|(?<=[Uu]fficio )leg\.(?!\w)"
        r"|(?<=rappr\. )leg\.(?!\w)"
    ), "legale"),
    ("pass.", re.compile(r"(?<=\+ )pass\.(?!\w)"), "passaggio"),
    ("tagl. Tagl.", re.compile(r"(?<!\w)tagl\.(?= [A-Z])"), "tagliandata"),
    ("tt", re.compile(
        r"(?<!\w)(a|[Cc]iao|[Bb]aci|da|di|x|con|per) tt(?=[ ,.!?]|$)(?! (?:il|lo|la|l'|i|gli|le|quello)(?!\w))"
    ), r"\1 tutti"),
    ("risp Risp", re.compile(
        r"(?<!\w)([Rr])isp(?= (?:x|per|pls|plz|subito|appena|quando|qnd|presto|a)(?!\w)|[!?]|$)"
    ), r"\1ispondi"),
    ("sett. sett", re.compile(
        r"(?<= di )sett\.?(?!\w)|(?<=dal )sett\.?(?!\w)|(?<=fine )sett\.?(?!\w)|(?<=inizio )sett\.?(?!\w)"
    ), "settembre"),
    ("comp.", re.compile(r"(?<= i )comp\.(?!\w)|(?<=nei )comp\.(?!\w)"), "compiti"),
    ("imp.", re.compile(r"(?<=[Pp]otenza )imp\.(?!\w)|(?<=[Pp]ot\. )imp\.(?!\w)"), "impegnata"),
    ("ant.", re.compile(r"(?<=pag\. )ant\.(?!\w)|(?<=pagamento )ant\.(?!\w)|(?<=bonifico )ant\.(?!\w)"), "anticipato"),
    ("cond.", re.compile(
        r"(?<!\w)([Bb]uone|[Oo]ttime|[Dd]iscrete|cattive|perfette|in) cond\.(?!\w)"
    ), r"\1 condizioni"),
    ("p. (p.", re.compile(r"(?<!\w)p\. ?t\.(?= \d{1,2}-\d)"), "primo tempo"),
    ("s.", re.compile(r"(?<!\w)s\. ?t\.(?= \d{1,2}-\d)"), "secondo tempo"),
    ("d.", re.compile(r"(?<=per )d\. amm\.(?!\w)"), "doppia ammonizione"),
    ("mat. Mat.", re.compile(
        r"(?<!\w)([Pp]rova|[Cc]ompito|[Vv]erifica|[Oo]ra|[Ll]ezione|[Ee]sercizi|[Pp]rof\.|[Pp]rofessoressa"
        r"|[Ll]ibro|[Ee]same) di mat\.(?!\w)"
    ), r"\1 di matematica"),
    ("min Min", re.compile(r"(?<!\d )(?<!\w)([Mm])in(?= -?\d+/[+-]?\d+ ?°)"), r"\1inime"),
    ("max Max", re.compile(r"(?<!\w)([Mm])ax(?= -?\d+/[+-]?\d+ ?°)"), r"\1assime"),
    ("B.", re.compile(r"(?<!\w)B\.B\.(?= )"), "bonifico bancario"),
    ("cons. Cons.", re.compile(
        r"(?<!\w)([Cc])ons\.(?= (?:entro|in) \d+(?:[/-]\d+)? ?(?:h|ore|gg|giorni)(?!\w))"
    ), r"\1onsegna"),
    ("Ord.", re.compile(r"(?<!\w)Ord\.(?= (?:n\. ?)?\d.*(?:sped\.|cons\.|conf\.|pz|colli|[Cc]onsegna|€))"), "Ordine"),
    ("a.", re.compile(r"(?<=in )a\.a\.(?!\w| ?\d)"), "aria ambiente"),
    ("a. A.", re.compile(r"(?<!\w)[aA]\. ?[aA]\.(?= ?(?:19|20)\d\d)"), "anno accademico"),
    ("a. A.", re.compile(r"(?<!\w)[aA]\. ?[sS]\.(?= ?(?:19|20)\d\d)"), "anno scolastico"),
    ("a.", re.compile(r"(?<=\d )a\.l\.(?!\w)"), "anni luce"),
    ("x", re.compile(r"(?<=[a-z.] )x(?= ?\d{1,2} ?/ ?(?:die|dì))"), "per"),
    ("x", re.compile(r"(?<=\d )x(?= ?\d{1,2} ?/ ?(?:die|dì))"), "per"),
    ("loc.", re.compile(r"(?<=[Oo]r[ae] )loc\.(?!\w)"), "locale"),
    ("S.", re.compile(r"(?<=Venezia )S\. ?L\.(?!\w)"), "Santa Lucia"),
    ("S.", re.compile(r"(?<=Firenze )S\. ?M\. ?N\.(?!\w)"), "Santa Maria Novella"),
    ("P.", re.compile(r"(?<=Torino )P\. ?N\.(?!\w)"), "Porta Nuova"),
    ("P.", re.compile(r"(?<=Torino )P\. ?S\.(?!\w)"), "Porta Susa"),
    ("P.", re.compile(r"(?<=Milano )P\. ?G\.(?!\w)"), "Porta Garibaldi"),
    ("P.", re.compile(r"(?<=Verona )P\. ?N\.(?!\w)"), "Porta Nuova"),
    ("T.", re.compile(r"(?<=Roma )T\.ni(?!\w)"), "Termini"),
    ("propr.", re.compile(
        r"(?<=[Uu]nico )propr\.(?!\w)|(?<=[Dd]al )propr\.(?!\w)|(?<=[Ii]l )propr\.(?!\w)"
    ), "proprietario"),
    ("propr.", re.compile(r"(?<=nic[ao] )propr\.(?!\w)|(?<=\d )propr\.(?!\w)"), "proprietari"),
    ("ott. Ott.", re.compile(
        r"(?<!\d )(?<!\w)([Oo])tt\.(?= (?:stato|cond|qualità|prezzo|stip|livello|affare|occasione|risultat))"
    ), r"\1ttimo"),
    ("imp. Imp.", re.compile(r"(?<=[Cc]erca )imp\.(?!\w)|(?<=[Cc]ercasi )imp\.(?!\w)"), "impiegato"),
    ("imp.", re.compile(r"(?<!\w)imp\.(?= amm)"), "impiegato"),
    ("amm", re.compile(r"(?<!\w)amm\.vo/a(?!\w)"), "amministrativo, a"),
    ("liv. Liv.", re.compile(r"(?<!\w)([Ll])iv\.(?= \d°)"), r"\1ivello"),
    ("Comm.", re.compile(r"(?<=CCNL )Comm\.(?!\w)"), "Commercio"),
    ("ord.", re.compile(r"(?<=[Aa]zione )ord\.(?!\w)"), "ordinaria"),
    ("ord.", re.compile(r"(?<=[Aa]zioni )ord\.(?!\w)"), "ordinarie"),
    ("ord.", re.compile(r"(?<=[Pp]rof\. )ord\.(?!\w)"), "ordinario"),
    ("ord.", re.compile(r"(?<=[Pp]rofessore )ord\.(?!\w)"), "ordinario"),
    ("ass.", re.compile(r"(?<=[Pp]rof\. )ass\.(?!\w)"), "associato"),
    ("Dir. dir.", re.compile(r"(?<!\w)([Dd])ir\. civ\.(?!\w)"), r"\1iritto civile"),
    ("Dir. dir.", re.compile(r"(?<!\w)([Dd])ir\. pen\.(?!\w)"), r"\1iritto penale"),
    ("Dir. dir.", re.compile(
        r"(?<!\w)([Dd])ir\. (?=(?:lav|pubbl|priv|amm|cost|trib|comm|intern|romano|proc)(?:\.|[a-z]))"
    ), r"\1iritto "),
    ("est. Est.", re.compile(r"(?<!\w)([Ee])st\.(?= (?:dott|cons|dr|pres)\.)"), r"\1stensore"),
    ("rel. Rel.", re.compile(r"(?<!\w)([Rr])el\.(?= (?:dott|cons|dr|pres|prof)\.| [A-Z][a-z])"), r"\1elatore"),
    ("imp. Imp.", re.compile(r"(?:(?<=l')|(?<=L'))imp\.(?= )"), "imputato"),
    ("cond.", re.compile(r"(?<=è )cond\.(?= a)|(?<=fu )cond\.(?= a)|(?<=stato )cond\.(?= a)"), "condannato"),
    ("mm mm.", re.compile(r"(?<= e )(\d{1,2}) mm\.?(?= (?:di recl|di arr|di rec|\())"), r"\1 mesi"),
    ("mm mm.", re.compile(r"(?<=aa\. e )(\d{1,2}) mm\.?(?!\w)"), r"\1 mesi"),
    ("recl.", re.compile(r"(?<=di )recl\.(?!\w)"), "reclusione"),
    ("h h.", re.compile(r"(?:(?<=m\. )|(?<=v\. )|(?<=, )|(?<=[a-z] ))h\.? ?(?=\d{1,2},[0-5]\d(?!\d))"), "ore "),
    ("agg. Agg.", re.compile(
        r"(?<!\w)([Aa])gg\.(?= (?:\d|un |uno |il |lo |la |i |le |gli |sale|zucch|olio|acqua|latte|farina"
        r"|burro))"
    ), r"\1ggiungere"),
    ("stat.", re.compile(r"(?<=[°CF] )\(stat\.\)"), "(statico)"),
    ("stat.", re.compile(r"(?<=\()stat\.(?=[),])"), "statico"),
    ("vent.", re.compile(r"(?<=\()vent\.(?=[),])"), "ventilato"),
    ("acc. Acc.", re.compile(r"(?<!\w)([Aa])cc\.(?= (?:fino|di|\d+(?:[-–/]\d+)? ?cm))"), r"\1ccumuli"),
    ("all. All.", re.compile(r"(?<!\w)([Aa])ll\.(?= (?:giall|ross|arancio|meteo|verde))"), r"\1llerta"),
    ("disp.", re.compile(r"(?<= a )disp\.(?!\w)"), "disposizione"),
    ("doc.", re.compile(r"(?<!\w)doc\.(?= (?:rich|alleg|neces|di))"), "documentazione"),
    ("c.", re.compile(
        r"(?<!\w)c\.a\.(?= (?:dott|sig|prof|ing|avv|arch|rag|geom|dr|uff|ufficio|resp|[A-Z]))"
    ), "cortese attenzione"),
    ("p.", re.compile(r"(?<!\w)p\. ?c\.(?= (?:a |al |all|uff|dott|sig|ing|prof|avv))"), "per conoscenza"),
    ("acq.", re.compile(r"(?<=uff\. )acq\.(?!\w)|(?<=[Uu]fficio )acq\.(?!\w)"), "acquisti"),
    ("pers.", re.compile(r"(?<=uff\. )pers\.(?!\w)|(?<=[Uu]fficio )pers\.(?!\w)"), "personale"),
    ("min.", re.compile(_NOTE + r" min\.(?!\w)"), r"\1 minore"),
    ("magg.", re.compile(_NOTE + r" magg\.(?!\w)"), r"\1 maggiore"),
    OPUS,
    ("sgg. ssgg. sg.", re.compile(r"(?<=\d )s{1,2}gg?\.(?!\w)|(?<= e )sgg?\.(?!\w)"), "seguenti"),
    ("ed. Ed.", re.compile(r"(?<!\w)([Ee])d\.(?= [A-Z][a-zà-ÿ])"), r"\1dizioni"),
    ("ric.", re.compile(r"(?<!\w)ric\.(?= \d+ ?W)"), "ricarica"),
    ("dim. Dim.", re.compile(r"(?<!\w)([Dd])im\.(?= ?(?:\d|est|int|max))"), r"\1imensioni"),
    ("dim.", re.compile(r"(?<!\w)dim\.(?= (?:in buone|dal|il|a dom|in data))"), "dimesso"),
    ("dom", re.compile(r"(?<!\w)dom(?= (?:matt?\.|mattina|sera|pom|h \d|alle \d|ore \d))"), "domenica"),
    ("cont. Cont.", re.compile(r"(?<!\w)([Cc])ont\.(?= \d[\d.,]* ?€| € ?\d)"), r"\1ontanti"),
    ("cad. cad", re.compile(r"(?<!\w)cad(?:\.|(?=[,;)]))"), "cadauno"),
    ("K", re.compile(r"(?<=\d )K(?![\w€$])(?=.{0,60}(?:°C|kelvin))"), "kelvin"),
    ("K", re.compile(r"(?<=[.,]\d )K(?![\w€$])|(?<=[.,]\d\d )K(?![\w€$])"), "kelvin"),
    ("k", re.compile(r"(?<![\w.,])(\d{1,3}) ?k(?= (?:req|like|view|follower|[a-zà-ÿ]{3,24}i)(?!\w))"), r"\g<1>000"),
    ("k", re.compile(
        r"(?<![\w.,])(\d{1,3}),(\d) ?k(?= (?:req|like|view|follower|[a-zà-ÿ]{3,24}i)(?!\w))"
    ), r"\1\g<2>00"),
    ("kb", re.compile(r"(?<!\w)([Gg]ene|DNA|RNA|[Gg]enoma)([^.;]{1,40}\d) kb(?!\w)"), r"\1\2 chilobasi"),
    ("b. B.", re.compile(r"(?<=[a-zà-ÿ] )b\.(?= [A-Z][a-zà-ÿ]+ \d)"), "batte"),
    ("tratt. Tratt.", re.compile(r"(?<!\w)([Tt])ratt\. ris\.(?!\w)"), r"\1rattativa riservata"),
    ("ris. Ris.", re.compile(r"(?<=[Tt]ratt\. )[Rr]is\.(?!\w)"), "riservata"),
    ("cl.", re.compile(r"(?<!\w)cl\. en\.(?= [A-G])"), "classe energetica"),
    ("mov. Mov.", re.compile(r"(?<!\w)([Mm])ov\.(?= [IVX\d])"), r"\1ovimento"),
    ("a/ A/", re.compile(r"(?<!\w)[aA]/[rR](?!\w)"), "andata e ritorno"),
    ("p/", re.compile(r"(?<![\w/])p/v(?![\w/])"), "peso su volume"),
    ("sott.", re.compile(r"(?<!\w)sott\.(?= \d)"), "sottosezione"),
)  # fmt: skip
_RANKED: Final = r"(?:arriva|chiude|finisce|giunge|termina|classificat[oa]|resta|sale|parte|è|era)"
BY_SIGN: Final = (
    ("°", re.compile(r"(?<=, )(\d{1,2})°(?= (?:in griglia|in class|al trag|assoluto|nel|su \d|a \d))"), r"\1º"),
    *dotted_days("[Ii]l|[Dd]al|[Aa]l|[Dd]el|[Ee]ntro il|[Nn]el"),
    (")/", re.compile(r"(?<=[\w²³])\)/(?=[\da-z(])"), ") fratto "),
    ("gg/7", re.compile(r"(?<=\d) ?gg/7(?!\d)"), " giorni su 7"),
    *charges("più", "meno"),
    *exchange_rates("dollaro", "sterlina", "franco svizzero"),
    ("†", re.compile(r"† ?(?=\d{3,4}(?!\d))"), "morto nel "),
    ("/sem", re.compile(r"(?<=[€\d])/sem\.?(?!\w)"), "/semestre"),
    (">", re.compile(r"(?<=[a-zà0-9”»\"])(?<![\d ]\d) ?> ?(?=[“«\"] ?[A-Za-z0-9]|[A-Z][a-zà]{2})"), ", "),
    ("/", re.compile(r"(?<= in )(\d)/(\d)(?=[.;,)]|$)"), r"\1 o \2"),
    ("/km", re.compile(r"(?<=CO2)/km(?!\w)"), " al chilometro"),
    ("/kWh", re.compile(r"(?<=CO2)/kWh(?!\w)"), " al chilowattora"),
    *(
        (
            f",{tens}",
            re.compile(
                r"(?<!\w)([Aa]lle|[Dd]alle|[Oo]re|[Tt]ra le|[Dd]opo le|[Ee]ntro le|[Vv]erso le|[Dd]elle) (\d{1,2})"
                rf",({tens}\d)(?!\d| ?(?:%|€|kg|m|km|euro)(?!\w))"
            ),
            r"\1 \2:\3",
        )
        for tens in "012345"
    ),
    ("/", re.compile(
        r"(?<![\w/.,])([1-9])/([2-9])(?= (?:rate|volte|persone|compresse|gocce|foglie|fette|spicchi|pezzi"
        r"|posti|notti|incontri|lezioni|sedute|anni|mesi|settimane|bicchieri|cicli)(?!\w))"
    ), r"\1 o \2"),
    ("- ", re.compile(
        r"(?:(?<=\()|(?<=[^\W\d_] del )|(?<= di ))[-–] (?=\d+(?:[.,]\d+)? ?(?:%|punti|pt|°|€|mln|mld)(?!\w))"
    ), "-"),
    *((held, re.compile(rf"(?<![\w.,:/]){held}(?![\w.,:/])"), "16 noni") for held in ("16:9", "16/9")),
    ("21:9", re.compile(r"(?<![\w.,:/])21:9(?![\w.,:/])"), "21 noni"),
    ("4:3", re.compile(r"(?<=formato )4:3(?![\w.,:/])"), "4 terzi"),
    ("'-", re.compile(r"(?<![\w.,])(\d{1,3})'-(\d{1,3})'(?![\w'\"])"), r"\1-\2 min"),
    ("anni '", re.compile(r"(?<=anni )['’](\d0) ?[-–] ?['’](\d0)(?!\d)"), r"\1 e \2"),
    ("/m", re.compile(r"kWh/(?:m²|mq|m2)[ .]?(?:anno|a)(?!\w)"), "kWh/m²/anno"),
    ("p.", re.compile(r"(?<!\w)(\d{1,2})[°º]p\.(?!\w)"), r"\1º piano"),
    ("/i", re.compile(r"(?<=\d )([a-zà-ÿ]+)o/i(?!\w)"), r"\1i"),
    ("/e", re.compile(r"(?<=\d )([a-zà-ÿ]+)a/e(?!\w)"), r"\1e"),
    ("/100", re.compile(r"(?<= a )(\d{1,2})/100(?=[,.;)]|$)"), r"\1 centesimi"),
    *options("trattino", "asterisco"),
    *units_of_powers({"J": "joule", "N": "newton", "C": "coulomb", "F": "farad", "T": "tesla"}),
    ("/", re.compile(r"/(?:(?<=[.,]\d/)|(?<=[.,]\d\d/))(?=\d+(?:[.,]\d+)? ?(?:[GMT]B|kg|km|[lL]|h)(?!\w))"), " su "),
    ('"', re.compile(
        r"(?<![\w'’′])(\d{1,2})[\"″](?= (?:di (?:vantaggio|ritardo|distacco)|su(?:l|lla)? [A-Z]|davanti"
        r"|dietro))"
    ), r"\1 s"),
    ("- in", re.compile(r"(?<= \d)-(?= in [a-z])"), " meno"),
    ("°", re.compile(rf"(?<!\w)({_RANKED} )(\d{{1,2}})°(?! ?[CF](?!\w))(?= |[,.;)])"), r"\1\2º"),
    ("°", re.compile(
        r"(?<=[A-Z][a-zà-ÿ]{2} )(\d{1,2})°(?= (?:a|con|in|su|nel|nella|al|davanti|e|dietro|all)(?!\w)|[,;)])"
    ), r"\1º"),
    ("°", re.compile(r"(?<=[a-zà-ÿ][A-Za-zà-ÿ]{2} )([1-9])°(?= (?:a|con) \d+ (?:pt|punti|pti|secondi|\d?'))"), r"\1º"),
    ("°", re.compile(
        r"(?<!\w)((?:[Ll]ivello|[Ll]iv\.|[Gg]rado|[Gg]ruppo|[Pp]osto|[Pp]iano|[Tt]urno|[Gg]irone|[Ss]tep"
        r"|[Pp]osizione) )(\d{1,2})°(?! ?C)"
    ), r"\1\2º"),
    ("ª", re.compile(r"(?<![\w.,])(\d{1,2})([ªº°])(?=[A-Z](?!\w))(?!°[CF](?!\w))"), r"\1\2 "),
    (".C.", re.compile(r"(?<!\w)([IVX]+)(?= [ad]\. ?C\.)"), r"\1°"),
    ("e ½", re.compile(r"(?<=[\dah] )e ½"), "e mezza"),
    ("e 1/2", re.compile(r"(?<=[\dah] )e 1/2(?![\w/])"), "e mezza"),
    ("(m.", re.compile(r"\(m\. (?=\d{3,4}(?!\d))"), "(morto nel "),
    ("(n.", re.compile(r"\(n\. (?=(?:1[5-9]|20)\d\d(?!\d))"), "(nato nel "),
    ("/100", re.compile(r"(kWh|litri|l|kg)/100(?= cicli| lavaggi| ore)"), r"\1 per 100"),
    ("+", re.compile(r"(?<!\w)km (?=\d{1,3}\+\d{3})"), "chilometro "),
    ("0", re.compile(r"0(?<![\w.,/].)([1-9]\d{0,2})[.](\d{5,8})(?![\w.,])"), r"0\1 \2"),
    *INVERSE_POWERS,
    *(
        (
            f"{day}-",
            re.compile(rf"(?<!\w){day}-(mar|mer|gio|ven|sab)-(gio|ven|sab|dom)(?![\w-])"),
            rf"{day}., \1., \2.",
        )
        for day in ("lun", "mar", "mer", "gio")
    ),
    ("/+", re.compile(r"(?<=\d)/\+(?=\d)"), ", +"),
    ("Ø", re.compile(r"Ø ?(?=\d)"), "diametro "),
    (
        "mila",
        re.compile(r"(?<![\w.,])(\d{1,3})mila(?!\w)"),
        r"\1.000",
    ),
)  # fmt: skip
