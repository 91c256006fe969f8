"""Short forms of French by the field that their neighbours show: trade, medicine, law, music, chats."""

import re
from typing import Final

from polyvox.text.normalize.romance.short_forms.common_rules import dotted_days
from polyvox.text.normalize.romance.technical.sign_rules import (
    INVERSE_POWERS,
    charges,
    exchange_rates,
    options,
    units_of_powers,
)

_PART_OF_BODY: Final = (
    r"(?<!\w)(genou|main|pied|épaule|hanche|cheville|bras|jambe|œil|oreille|poignet|coude|sein|rein|poumon|cuisse|joue"
    r"|fesse|pouce|talon|mollet|côté|narine|paupière|clavicule|avant-bras|membre inférieur|membre supérieur)"
)
_MONTHS: Final = ("janvier février mars avril mai juin juillet août septembre octobre novembre décembre").split()
BY_FIELD: Final = (
    ("s.", re.compile(r"(?<!\w)s\.c\.(?=/)"), "sous-cutanées"),
    ("A", re.compile(r"(?<=\(\d )A(?=[),])|(?<=\(\d\d )A(?=[),])|(?<=\(\d)A(?=[),])|(?<=\(\d\d)A(?=[),])"), " ampères"),
    ("ch.", re.compile(r"(?<!\w)ch\.(?= (?:réunies|mixtes|civiles))"), "chambres"),
    ("S/", re.compile(r"(?<!\w)S/P(?!\w)"), "sel, poivre"),
    ("mens.", re.compile(r"(?<!\w)mens\.(?= (?:de )?\d[\d  ]*(?:,\d\d)? ?€)"), "mensualité"),
    ("stat. Stat.", re.compile(r"(?<=la )stat\.(?= [A-ZÉ])"), "station"),
    ("lun mar ven sam dim", re.compile(r"(?<![\w-])lun(?= \d{1,2}(?![\d/]))"), "lundi"),
    ("mar", re.compile(r"(?<![\w-])mar(?= \d{1,2}(?![\d/]))"), "mardi"),
    ("ven", re.compile(r"(?<![\w-])ven(?= \d{1,2}(?![\d/]))"), "vendredi"),
    ("sam", re.compile(r"(?<![\w-])sam(?= \d{1,2}(?![\d/]))"), "samedi"),
    ("dim", re.compile(r"(?<![\w-])dim(?= \d{1,2}(?![\d/]))"), "dimanche"),
    ("éco éco-", re.compile(r"(?<!\w)éco-part\.(?!\w)"), "éco-participation"),
    ("p.", re.compile(r"(?<= )([35]) p\.(?=, (?:clim|diesel|essence|GPS|ABS|CT|ct|GPL))"), r"\1 portes"),
    ("dem dem.", re.compile(
        r"(?<!\w)(?<!la )dem\.?(?= (?:il|elle|on|je|tu|nous|vous|y|rdv|\d{1,2} ?h)(?!\w))"
    ), "demain"),
    ("ke Ke", re.compile(r"(?<!\w)[Kk]e(?= [a-zà-ÿ]{2})"), "que"),
    ("ki Ki", re.compile(r"(?<!\w)[Kk]i(?= [a-zà-ÿ]{2})"), "qui"),
    ("kel Kel kelle Kelle", re.compile(r"(?<!\w)[Kk]el(le)?(?= [a-zà-ÿ]{2})"), r"quel\1"),
    ("Part. part.", re.compile(
        r"(?<!\w)([Pp])art\.(?= (?:vend|cherche|loue|achète|donne|échange|recherche|cède))"
    ), r"\1articulier"),
    ("sect.", re.compile(r"(?:(?<=\de )|(?<=\dre ))sect\.(?!\w)"), "section"),
    ("dr. dr", re.compile(r"(?:(?<=\de )|(?<=\der ))dr\.?(?=$|[,;.)])"), "droite"),
    ("nos Nos", re.compile(r"(?<!\w)([Ll]es|[Dd]es|[Aa]ux) nos(?= \d)"), r"\1 numéros"),
    ("sc. Sc.", re.compile(r"(?<!\w)([Ss])c\.(?= (?:\d{1,2}(?!\d)|[IVX]+(?!\w)))"), r"\1cène"),
    ("hab hab.", re.compile(r"(?<=[A-Za-zé])/hab(?:\.|(?![\w.]))"), " par habitant"),
    ("Cons. cons.", re.compile(r"(?<!\w)([Cc])ons\. des min\.(?!\w)"), r"\1onseil des ministres"),
    ("Cons. cons.", re.compile(r"(?<!\w)([Cc])ons\.(?= (?:d'État|const|mun|gén|dép|rég|d'adm|de prud))"), r"\1onseil"),
    ("pmt pmts pmt.", re.compile(r"(?<!\w)pmt(s?)\.?(?!\w)"), r"paiement\1"),
    ("prlvt prélvt prlvts", re.compile(r"(?<!\w)pr(?:él|l)vt(s?)\.?(?!\w)"), r"prélèvement\1"),
    ("fdm FDM", re.compile(
        r"(?<=\dj )(?:fdm|FDM)(?!\w)|(?<=\d j )(?:fdm|FDM)(?!\w)|(?<=jours )(?:fdm|FDM)(?!\w)"
    ), "fin de mois"),
    ("V/ v/", re.compile(r"(?<!\w)V/ ?[Rr]éf(?:\.|(?!\w))"), "Votre référence"),
    ("N/ n/", re.compile(r"(?<!\w)N/ ?[Rr]éf(?:\.|(?!\w))"), "Notre référence"),
    ("hres hre", re.compile(r"(?<!\w)hre(s?)(?!\w)"), r"heure\1"),
    ("abst.", re.compile(r"(?<=s')abst\.(?!\w)"), "abstenir"),
    ("sér.", re.compile(r"(?<=[Pp]as )sér\.(?!\w)"), "sérieux"),
    ("part. Part.", re.compile(r"(?<!\w)([Pp])art\. à part\.(?!\w)"), r"\1articulier à particulier"),
    ("adj Adj adj- Adj-", re.compile(r"(?<!\w)([Aa])dj-chef(?!\w)"), r"\1djudant-chef"),
    ("ch.", re.compile(
        r"(?<!\w)ch\.(?= (?:dès|à partir|tt|tout|climat|familiale|d'hôtes?|avec|climatis))"
    ), "chambres"),
    ("pén.", re.compile(r"(?<=sur )pén\.(?!\w)|(?<=\()pén\.(?=\))|(?<=' )pén\.(?!\w)"), "penalty"),
    ("nds", re.compile(r"(?<=\d )nds(?!\w)"), "nœuds"),
    ("pds", re.compile(r"(?<!\w)(?<!\d )pds\.?(?= (?:\d|de|du|net|brut|tot|max))"), "poids"),
    ("S.", re.compile(r"(?<!\w)S\. ?M\.(?= (?:le roi|la reine|l'emp))"), "Sa Majesté"),
    ("SA S.", re.compile(r"(?<!\w)S\.? ?A\.?(?= (?:le prince|la princesse|le duc))"), "Son Altesse"),
    ("S.", re.compile(r"(?<!\w)S\. ?E(?:xc)?\.(?= (?:M|Mgr|le |la |l'))"), "Son Excellence"),
    ("av. ap.", re.compile(r"(?<!\w)av\. ?J-?C(?![\w.])"), "avant Jésus-Christ"),
    ("av. ap.", re.compile(r"(?<!\w)ap\. ?J-?C(?![\w.])"), "après Jésus-Christ"),
    ("x", re.compile(r"(?<=[a-zéœ] )x(?=\d{1,3}(?!\w|[.,]\d))"), "par "),
    ("éts Éts", re.compile(r"(?<!\w)[Éé]ts\.?(?!\w)"), "établissements"),
    ("ind.", re.compile(
        r"(?<=[Cc]hauf\. )ind\.(?!\w)|(?<=[Cc]hauff\. )ind\.(?!\w)|(?<=[Cc]hauffage )ind\.(?!\w)"
    ), "individuel"),
    ("Ch.", re.compile(r"(?:\A|(?<=\n))Ch\.(?= \d [a-z]{3})"), "Cherche"),
    ("cc CC cc. CC.", re.compile(r"(?:(?<=mois )|(?<=\d€ )|(?<=\d € ))(?:cc|CC)(?!\w)"), "charges comprises"),
    ("s.", re.compile(r"(?<=Ier )s\.(?!\w)"), "siècle"),
    ("Appt appt Appt. appt.", re.compile(r"(?<!\w)([Aa])pp?t(?:\.|(?!\w))(?! ?\d)"), r"\1ppartement"),
    ("M.", re.compile(r"(?<=\dre )M\.(?= [A-Z])"), "M"),
    ("M.", re.compile(r"(?:(?<=\()|(?<=[a-zé] )|(?<=, ))([A-ZÉ][a-zéèï]{2,}) M\.(?= [A-ZÉ][a-z])"), r"\1 M"),
    ("fé", re.compile(r"(?<!\w)([Tt]u|[Jj]e|[Jj]) fé(?!\w)"), r"\1 fais"),
    ("lun Lun", re.compile(r"(?<![\w-])([Ll])un(?= (?:matin|soir|aprem|midi|\d{1,2} ?h))"), r"\1undi"),
    ("mar Mar", re.compile(r"(?<![\w-])([Mm])ar(?= (?:matin|soir|aprem|midi|\d{1,2} ?h))"), r"\1ardi"),
    ("mer Mer", re.compile(
        r"(?<![\w-])(?<!la )(?<!en )([Mm])er(?= (?:matin|soir|aprem|midi|\d{1,2} ?h))"
    ), r"\1ercredi"),
    ("jeu Jeu", re.compile(r"(?<![\w-])(?<!le )([Jj])eu(?= (?:matin|soir|aprem|midi|\d{1,2} ?h))"), r"\1eudi"),
    ("ven Ven", re.compile(r"(?<![\w-])([Vv])en(?= (?:matin|soir|aprem|midi|\d{1,2} ?h))"), r"\1endredi"),
    ("sam Sam", re.compile(r"(?<![\w-])sam(?= (?:matin|soir|aprem|midi|\d{1,2} ?h))"), "samedi"),
    ("dim Dim", re.compile(r"(?<![\w-])([Dd])im(?= (?:matin|soir|aprem|midi|\d{1,2} ?h))"), r"\1imanche"),
    ("nle", re.compile(r"(?<!\w)nle(?!\w)"), "normale"),
    ("Rx rx", re.compile(r"(?<!\w)[Rr]x(?= [a-zé])"), "radio"),
    ("ap. ap", re.compile(r"(?<!\w)ap\.?(?= (?:\d{1,2} ?h|le |la |les |midi|minuit|repas|dîner))"), "après"),
    ("ch.", re.compile(r"(?<!\w)([Pp]ôle \d{1,2}, )ch\.(?= \d)"), r"\1chambre"),
    ("éch.", re.compile(r"(?<!\w)éch\.(?= (?:cis|hach|émin))"), "échalote"),
    ("Prés. prés.", re.compile(r"(?<!\w)([Pp])rés\.(?= ?:)"), r"\1résents"),
    ("Abs. abs.", re.compile(r"(?<!\w)([Aa])bs\. exc\.(?!\w)"), r"\1bsents excusés"),
    ("Abs. abs.", re.compile(r"(?<!\w)([Aa])bs\.(?= ?:)"), r"\1bsents"),
    ("km", re.compile(r"(?<!\d )(?<!\w)km (?=\d{1,4}[-–]\d)"), "kilomètres "),
    ("prov.", re.compile(r"(?<!\w)prov\.(?= (?:sur |pour |de )?ch)"), "provision"),
    ("av.", re.compile(r"(?<=[Mm]erci d')av\.(?!\w)|(?<=d')av\.(?=,|$)"), "avance"),
    ("ché Ché", re.compile(
        r"(?<!\w)([Cc])hé(?= (?:toi|moi|oim|lui|elle|nous|vous|eux|mes|tes|ses|mon|ton|ma|ta|les|le)(?!\w))"
    ), r"\1hez"),
    ("dem", re.compile(r"(?<!\w)dem(?= \d{1,2} ?h)"), "demain"),
    ("batt", re.compile(r"(?<!\w)(plus de|la|ma|de la|2|niveau de) batt(?![\w.])"), r"\1 batterie"),
    ("a/ A/", re.compile(r"(?<!\w)[aA]/[rR](?!\w)"), "aller-retour"),
    ("a/ A/", re.compile(r"(?<!\w)A/S(?!\w)"), "aller simple"),
    ("pkg pkg. pking", re.compile(r"(?<!\w)p(?:kg|king)(?:\.|(?![\w.]))"), "parking"),
    ("ch.", re.compile(r"(?:(?<=€ de )|(?<=€ )|(?<=euros de )|(?<=\+ ))ch\.(?!\w| \d)"), "charges"),
    ("dir. Dir.", re.compile(r"(?<!\w)([Dd])ir\.(?= (?:n° ?|UE |CE |\(UE\) )?(?:19|20)?\d\d/\d)"), r"\1irective"),
    ("resp. Resp.", re.compile(
        r"(?<!\w)(l[ea]|une?|au|du|de|[Nn]otre|[Mm]on|[Vv]otre) resp\.(?!\w)"
    ), r"\1 responsable"),
    ("resp. Resp.", re.compile(r"(?<!\w)([Rr])esp\.(?= (?:[a-zé]{5,}|RH|IT|QSE|d'|de (?:l|s|p|c)))"), r"\1esponsable"),
    ("mdrr mdrrr mdrrrr mdrrrrr ptdrr ptdrrr", re.compile(r"(?<!\w)mdr{2,6}(?!\w)"), "mort de rire"),
    ("ptdrr ptdrrr", re.compile(r"(?<!\w)ptdr{2,6}(?!\w)"), "pété de rire"),
    ("req", re.compile(r"(?<=\d )req(?=/)"), "requêtes"),
    ("Lt Lt-", re.compile(r"(?<!\w)Lt-C(?:e|o)l\.?(?= [A-ZÉ]| d[eu] )"), "lieutenant-colonel"),
    ("Col", re.compile(
        r"((?:Gal|Gén\.|Cdt|Cne|Lt|[Gg]énéral|[Cc]apitaine|[Rr]égiment|[Aa]rmée) [^.;]{0,60})"
        r"(?<!\w)Col(?= [A-ZÉ][a-zà-ÿ])"
    ), r"\1colonel"),
    ("vs Vs", re.compile(r"(?<!\w)([Jj]e|[Nn]ous|[Oo]n|qui|[Nn]s|ne|à|de) vs(?= [a-zà-ÿ]|[,.!?]|$)"), r"\1 vous"),
    ("c C", re.compile(
        r"(?:(?:\A|(?<=[,;.!?:\n] )|(?<=[(\n]))[cC]|(?<=[a-zà-ÿ] )c)(?= (?:koi|ki|ke|pa|kan|tt|tro|jms"
        r"|ptet)(?!\w))"
    ), "c'est"),
    ("G", re.compile(_PART_OF_BODY + r" G(?![\w.'’-])"), r"\1 gauche"),
    ("D", re.compile(
        r"(?<!\w)(genou|pied|bras|œil|poignet|coude|sein|rein|poumon|pouce|talon|mollet) D(?![\w.'’-])"
    ), r"\1 droit"),
    ("D", re.compile(_PART_OF_BODY + r" D(?![\w.'’-])"), r"\1 droite"),
    ("a.", re.compile(r"(?<!\w)(depuis|pdt|pendant|durant|âgée? de) (\d{1,2}) a\.(?!\w)"), r"\1 \2 ans"),
    ("Dép. dép.", re.compile(r"(?<!\w)([Dd])ép\.(?= [A-ZÉ][^.;,]{2,30} (?:à )?\d{1,2} ?[h:])"), r"\1épart"),
    ("Arr. arr.", re.compile(r"(?<!\w)([Aa])rr\.(?= [A-ZÉ][^.;,]{2,30} (?:à )?\d{1,2} ?[h:])"), r"\1rrivée"),
    ("ss", re.compile(
        r"(?<!\w)(?<!\d )ss(?= (?:asc|gar|frais|eng|comm|vis|caution|meubl|permis|lactose|gluten|sucre|sel"
        r"|os)[a-zé]*(?![\w]))"
    ), "sans"),
    ("fr.", re.compile(r"(?<![\w.])(?<!\d )(?<!point )fr\.(?! ?\d)(?!\w)"), "français"),
    ("s.", re.compile(r"(?<=de )s\.(?= (?:glace|roux|vanillé|semoule|en poudre|de canne))"), "sucre"),
    ("prob. Prob.", re.compile(r"(?<!\w)([Pp])rob\.(?= (?:de |d'))"), r"\1robabilité"),
    ("ét.", re.compile(r"(?<=1er )ét\.(?!\w)"), "étage"),
    ("dte dte. drte", re.compile(r"(?<!\w)dr?te(?:\.|(?![\w.]))(?=[ ,;)]|$)"), "droite"),
    ("gche gche. gch", re.compile(r"(?<!\w)gche?(?:\.|(?![\w.]))"), "gauche"),
    ("t T", re.compile(
        r"(?<![^\s(«])(?<!\d )[tT](?= (?:où|pas|là|prête?|sûre?|malade|dispo|chez|qui|trop|vraiment|libre|rentrée?"
        r"|partie?|arrivée?|fatiguée?|fâchée?|con|bête|belle|beau|sérieu\w+|occupée?|encore|toujours|tjrs?|déjà|un|une"
        r"|le meilleur|la meilleure|mignonne?|ouf|relou|au courant|en retard|en route|en train"
        r"|chaude?|ok|partante?|motivée?|seule?|rdy)(?![\w'’]))"
    ), "t'es"),
    ("jé Jé", re.compile(r"(?<!\w)[Jj]é(?!\w)"), "j'ai"),
    ("pa", re.compile(r"(?<=[éits] )pa(?= [a-zà-ÿ]|[,.!?]|$)"), "pas"),
    ("mm", re.compile(r"(?<!\d )(?<!\d)(?<!\w)mm(?= [a-zà-ÿ]|[,.!?]|$)"), "même"),
    ("ts Ts", re.compile(r"(?<![\w.])(?<!point )[Tt]s(?= (?:les|mes|ces|nos|vos|tes|ses|en)(?!\w))"), "tous"),
    ("sf", re.compile(r"(?<!\w)sf\.?(?= (?:le|la|les|si|en|vac|lun|mar|mer|jeu|ven|sam|dim|jours|fériés))"), "sauf"),
    ("tx Tx", re.compile(r"(?<!\w)([Tt])x(?= (?:fonc|d'hab|de séj|locale|résid))"), r"\1axe"),
    ("tx Tx", re.compile(r"(?<!\w)([Tt])x(?= (?:d'int|de |moy|fixe|var|dir|annuel|horaire|nominal|\d))"), r"\1aux"),
    ("exp.", re.compile(
        r"((?:[Cc]ommande|[Cc]de|[Ll]ettre|[Ff]acture) [^.;]{0,24}, )exp\.(?= (?:le|ce|hier|sous|par)(?!\w))"
    ), r"\1expédiée"),
    ("exp. Exp.", re.compile(r"(?<!\w)([Ee])xp\.(?= (?:le|ce|hier|sous|par|en \d|dès)(?!\w))"), r"\1xpédié"),
    ("Pat. pat.", re.compile(r"(?<!\w)([Pp])at\.(?=,? (?:de )?\d\d? ?(?:a\.|ans))"), r"\1atient"),
    ("cp cpr cps", re.compile(r"(?<=[mµ]g )c(?:p|pr|ps)\.?(?!\w)"), "comprimés"),
    ("cp cp.", re.compile(r"(?<!\d )(?<!\w)cp\.?(?= (?:eff|séc|pell|disp|orodisp|à croq|enr|LP))"), "comprimés"),
    ("eff.", re.compile(r"(?<=[a-z]és )eff\.(?!\w)"), "effervescents"),
    ("eff.", re.compile(r"(?<!\w)cp\.? eff\.(?!\w)"), "comprimés effervescents"),
    ("séc.", re.compile(r"(?<=[cm][ap][ .és]{1}[é ]{1})séc\.(?!\w)"), "sécables"),
    ("b/ bt/ bte/ bte bt boîte/ boîte boite B/ B", re.compile(
        r"(?<!\w)[Bb](?:(?:oî|oi)?te?\.?)? ?/ ?(?=\d{1,3}(?![\d/]))"
    ), "boîte de "),
    ("h.", re.compile(r"(?<=en )h\.s\.(?!\w)"), "haute saison"),
    ("b.", re.compile(r"(?<=en )b\.s\.(?!\w)"), "basse saison"),
    ("mi-", re.compile(r"(?<!\w)mi-t\.(?!\w)"), "mi-temps"),
    ("Ch Ch.", re.compile(
        r"(?:\A|(?<=\n))Ch\.? (?!double|simple|indiv|dble|dbl|twin|fam|meubl)(?=[a-zà-ÿ]{2})"
    ), "Cherche "),
    ("coloc.", re.compile(r"(?<!\w)coloc\.(?!\w)"), "colocation"),
    ("disc.", re.compile(r"(?<=à )disc\.(?!\w)"), "discuter"),
    ("disp.", re.compile(r"(?<=EPS )disp\.(?!\w)"), "dispensé"),
    ("mag. Mag.", re.compile(r"(?<!\w)[Mm]ag\.(?= ?-?\d)"), "magnitude"),
    ("Cass.", re.compile(r"(?<!\w)Cass\.(?= (?:\d|ass|plén|QPC|req|ch|,))"), "Cassation"),
    ("civ.", re.compile(r"(?:(?<=\dre )|(?<=\de )|(?<=ère )|(?<=ème ))civ\.(?!\w)"), "civile"),
    ("s. ss.", re.compile(
        r"(?:(?<=\d-\d )|(?<=\d-\d\d )|(?<=\d{3} ))ss?\.(?= (?:du|de la|C\.|CPC|CPP|Code|code))"
    ), "et suivants"),
    ("s. ss.", re.compile(r"(?:(?<=\d-\d )|(?<=\d-\d\d )|(?<=p\. \d\d )|(?<=p\. \d{3} ))ss?\.(?!\w)"), "et suivants"),
    ("Préch. préch.", re.compile(r"(?<!\w)([Pp])réch\.(?!\w)"), r"\1réchauffez"),
    ("div. Div.", re.compile(r"(?<!\w)([Dd])iv\.(?= (?:de |net |brut )?\d+(?:,\d+)? ?[€$])"), r"\1ividende"),
    ("prév.", re.compile(r"(?<=[Bb]udget )prév\.(?!\w)"), "prévisionnel"),
    ("min.", re.compile(
        r"(?<!\w)((?:[Dd]o|[Rr]é|[Mm]i|[Ff]a|[Ss]ol|[Ll]a|[Ss]i|[Uu]t)(?: (?:dièse|bémol))?) min\.(?!\w)"
    ), r"\1 mineur"),
    ("maj.", re.compile(
        r"(?<!\w)((?:[Dd]o|[Rr]é|[Mm]i|[Ff]a|[Ss]ol|[Ll]a|[Ss]i|[Uu]t)(?: (?:dièse|bémol))?) maj\.(?!\w)"
    ), r"\1 majeur"),
    ("Rép.", re.compile(r"(?:(?<=I[eE] )|(?<=[VI]e )|(?<=\de ))Rép\.(?!\w)"), "République"),
    ("circ. circo", re.compile(r"(?:(?<=\de )|(?<=\dre )|(?<=ème )|(?<=ère ))circo?\.?(?!\w)"), "circonscription"),
    ("gym. Gym.", re.compile(r"(?<!\w)([Gg])ym\.(?= (?:[A-ZÉ]\. ?)?[A-ZÉ])"), r"\1ymnase"),
    ("k", re.compile(r"(?<![\w.,])(\d{1,3}) ?k(?= (?:req|[a-zà-ÿ]{3,24}s)(?!\w))"), r"\g<1>000"),
    ("k", re.compile(r"(?<![\w.,])(\d{1,3}),(\d) ?k(?= (?:req|[a-zà-ÿ]{3,24}s)(?!\w))"), r"\1\g<2>00"),
    ("K", re.compile(r"(?<=\d )K(?![\w€$])(?=.{0,60}(?:°C|kelvin))"), "kelvins"),
    ("K", re.compile(r"(?<=[.,]\d )K(?![\w€$])|(?<=[.,]\d\d )K(?![\w€$])"), "kelvins"),
    ("pc", re.compile(r"(?<=\d )pc(?=\)| d[eu] (?:la Terre|nous|Soleil))"), "parsecs"),
    ("abt abts", re.compile(r"(?<!\w)abt(s?)\.?(?!\w)"), r"abonnement\1"),
)  # fmt: skip
BY_SIGN: Final = (
    ("+", re.compile(r"(?<![\w'’])[aAàÀ] ?\+(?= ?(?:[!,.;)]|$|\n|tard|bisous?|[A-Z]))"), "à plus"),
    ("e/", re.compile(r"(?<=\de)/(?=\d{1,2}e(?!\w))"), " et "),
    *dotted_days("[Ll]e|[Dd]u|[Aa]u|[Aa]vant le|[Aa]vt le|jusqu'au"),
    (")/", re.compile(r"(?<=[\w²³])\)/(?=[\da-z(])"), ") sur "),
    *charges("plus", "moins"),
    *exchange_rates("dollar", "livre", "franc suisse"),
    ("†", re.compile(r"† ?(?=(?:en )?\d{3,4}(?!\d))"), "mort en "),
    (">", re.compile(r"(?<=[a-zé0-9”»\"])(?<![\d ]\d) ?> ?(?=[“«\"] ?[A-ZÉa-zé0-9]|[A-ZÉ][a-zé]{2})"), ", "),
    ("H-", re.compile(r"(?<!\w)H-(?=\d{1,2}(?![\w-]))"), "H moins "),
    ("x8", re.compile(r"(?<!\w)(en|les|aux|équipes?|postes?) ([2-5])[x×]8(?!\w)"), r"\1 \2 8"),
    ("°", re.compile(r"(?<=, )(\d{1,2})°(?=[,;.)]|$)(?=.{0,3}$|.{0,3}[A-Zdl])"), r"\1"),
    ("/km", re.compile(r"(?<=CO2)/km(?!\w)|(?<=CO₂)/km(?!\w)"), " par kilomètre"),
    ("/kWh", re.compile(r"(?<=CO2)/kWh(?!\w)"), " par kilowattheure"),
    ("- ", re.compile(r"(?<=enf\. )- (?=\d{1,2} ans)|(?<=enfants )- (?=\d{1,2} ans)"), "moins de "),
    *(
        (
            f"/{month:02}",
            re.compile(rf"(?<!\w)([Ll]es \d{{1,2}}(?:, \d{{1,2}})* (?:et|&) )(\d{{1,2}})/{month:02}(?![\d/])"),
            rf"\1\2 {name}",
        )
        for month, name in enumerate(_MONTHS, start=1)
    ),
    ("&", re.compile(r" & (?<=\d & )(?=\d)"), " et "),
    ("0", re.compile(
        r"0(?<![\w.,/+-].)(?<!\d .)([1-79])(\d\d)(\d\d)(\d\d)(\d\d)(?![\w.,/-]\d|\w)"
    ), r"0\1 \2 \3 \4 \5"),
    ("/", re.compile(
        r"(?<![\w/.,])([1-9])/([2-9])(?= (?:fois|personnes|jours|semaines|mois|ans|gouttes|comprimés|feuilles"
        r"|tranches|séances|cours|nuits|pièces)(?!\w))"
    ), r"\1 ou \2"),
    ("- ", re.compile(
        r"(?:(?<=\()|(?<=[^\W\d_] de )|(?<= à )|(?<= soit ))[-–] (?=\d+(?:[.,]\d+)? ?(?:%|points?|pts?|pt|°"
        r"|[MkK]?€|Md)(?!\w))"
    ), "-"),
    ("ME", re.compile(r"(?<=\d) ?ME(?!\w)"), " M€"),
    *((held, re.compile(rf"(?<![\w.,:/]){held}(?![\w.,:/])"), "16 neuvièmes") for held in ("16:9", "16/9")),
    ("4:3", re.compile(r"(?<=\d )4:3(?![\w.,:/])|(?<=format )4:3(?![\w.,:/])"), "4 tiers"),
    ("21:9", re.compile(r"(?<![\w.,:/])21:9(?![\w.,:/])"), "21 neuvièmes"),
    ("'-", re.compile(r"(?<![\w.,])(\d{1,3})'-(\d{1,3})'(?![\w'\"])"), r"\1-\2 min"),
    ("/10", re.compile(r"(?<=\de à )([1-9])/10(?!\d)"), r"\1 dixièmes"),
    *options("tiret", "étoile"),
    *units_of_powers({"J": "joules", "N": "newtons", "C": "coulombs", "F": "farads", "T": "teslas"}),
    ("/", re.compile(r"/(?:(?<=[.,]\d/)|(?<=[.,]\d\d/))(?=\d+(?:[.,]\d+)? ?(?:[GMT]o|kg|km|[lL]|h)(?!\w))"), " sur "),
    ('"', re.compile(
        r"(?<![\w'’′])(\d{1,2})[\"″](?= (?:d'avance|de retard|d'écart|de mieux|devant|derrière|sur [A-Z]))"
    ), r"\1 s"),
    ("jt", re.compile(r"(?<!\w)jt'?(?=(?:ai|em|ap|at|en|éc|ex|in|of|ou|ad|ac|in)[a-zé]{2})"), "je t'"),
    ("* *", re.compile(r"(?<=[\d*] )\*(?= [\d*])"), "étoile"),
    *(
        (
            f" T{number}",
            re.compile(
                rf"(?<!\w)([Aa]u|[Dd]u|fin|en|[Cc]e|sur) T{number}(?!\w)"
                r"(?=.{0,90}(?:%|€|PIB|croissance|résultat|ventes))"
            ),
            rf"\1 {number}{ending} trimestre",
        )
        for number, ending in ((1, "er"), (2, "e"), (3, "e"), (4, "e"))
    ),
    ("(r.", re.compile(r"\(r\. (?=\d{3,4}(?!\d))"), "(règne de "),
    ("(m.", re.compile(r"\(m\. (?=(?:en |v\. )?\d{3,4}(?!\d))"), "(mort en "),
    ("(n.", re.compile(r"\(n\. (?=(?:en )?\d{3,4}(?!\d))"), "(né en "),
    ("PTS", re.compile(r"(?<=\d )PTS(?!\w)"), "points"),
    ("e", re.compile(r"e(?:(?<=\de)|(?<=\dre)|(?<=\dde)|(?<=\dème))(?=[A-Z](?!\w))"), "e "),
    ("e", re.compile(
        r"e(?<=[3-6]e)(?:(?<=de .e)|(?<=en .e)|(?<=et .e)|(?<=es .e)|(?<=la .e)|(?<=, .e))"
        r"(?=\d{1,2}(?![\w.,]\d|\w))"
    ), "e "),
    *INVERSE_POWERS,
    ("-S.", re.compile(r"(?<=[a-zé])-S\.(?= (?:et|ou|à|vers)|[,;)])"), " Sud"),
    ("-N.", re.compile(r"(?<=[a-zé])-N\.(?= (?:et|ou|à|vers)|[,;)])"), " Nord"),
    ("+1e", re.compile(r"(?<=\d)\+1e(?!\w)"), "+1"),
    ("Ø", re.compile(r"Ø ?(?=\d)"), "diamètre "),
)  # fmt: skip
