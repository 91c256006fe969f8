"""Short forms of Spanish that only the words beside them tell apart."""

import re
from typing import Final

from polyvox.text.normalize.romance.short_forms.common_rules import (
    EXTREMES,
    GEARS,
    OPUS,
    THOUSANDS,
    chapters,
    months_until_visit,
    routes,
    stars,
    weekdays,
)

_PATIENT_AGE: Final = r"\d{1,3} ?a(?:\.|ños)"
_KITCHEN: Final = (
    "azúcar|harina|leche|agua|aceite|arroz|avena|maicena|nata|caldo|miel|nueces|café|té|queso|yogur|coco|avellanas"
    "|almendras|lentejas|garbanzos|pasta|azucar|frutas|verduras|maíz|vino"
)
_LASTING: Final = (
    "plazo|pena|lactante|fianza|beca|prórroga|estancia|sanción|inhabilitación|alejamiento|condena|fijo|depósito"
    "|letras?|bonos?|contrato|permanencia|garantía|prisión|multa|préstamo|hipoteca|carencia"
    "|carné|euríbor|Euríbor|bebé|niñ[oa]|suscripción|cuota|plan|vigencia|validez"
)
_SAID_OF_YOU: Final = "(?:va|viene|parece|espero|recojo|paso|llamo|veo|digo|dejo)(?!\\w)"
_TOLD: Final = (
    r"temporadas?|temp\.?|(?:mini|tele)?series?|(?:tele)?novelas?|libros?|manual|tomos?|T\d{1,2}|estren\w+|Netflix|HBO"
)
_DOSED: Final = r" de \d+ ?(?:mg|g|mcg|µg|UI)(?!\w)| al día| por día| cada | diari|/día"
CONTEXT_RULES: Final = (
    ("t", re.compile(rf"(?<=\ba la )1 t(?= {_SAID_OF_YOU})"), "una te"),
    ("t", re.compile(rf"((?<!\w)a las \d{{1,2}}(?:[:.]\d\d)?) t(?= {_SAID_OF_YOU})"), r"\1 te"),
    ("q Q", re.compile(r"(?<!\w)[Qq](?= [a-zà-ÿ]+(?: [a-zà-ÿ]+)?!)"), "qué"),
    ("com.", re.compile(r"(?<=cuota )com\.(?!\w)"), "comunidad"),
    ("u.", re.compile(r"(?<!\d)1 u\.(?!\w)"), "1 unidad"),
    ("u.", re.compile(r"(?<=\d )u\.(?!\w)"), "unidades"),
    ("ref. Ref.", re.compile(r"(?<!\w)[Rr]ef\.(?= (?:de )?(?:lata|33 ?cl|cola|limón|naranja)(?!\w))"), "refresco"),
    ("prop. Prop.", re.compile(r"(?<!\w)([Pp])rop\.(?= (?:opc|incl|no incl|vol|sug))"), r"\1ropina"),
    ("dep.", re.compile(r"(?<=[2-9] )dep\.(?= (?:l[íi]q|diarr|al día|bland))"), "deposiciones"),
    ("alm.", re.compile(r"((?<!\w)desay[^\n]{0,24} )alm\.(?!\w)"), r"\1almuerzo"),
    ("mer.", re.compile(r"((?<!\w)(?:alm|desay|com)[^\n]{0,24} )mer\.(?!\w)"), r"\1merienda"),
    ("pers.", re.compile(r"((?<!\w)(?:marca|cuenta|higiene|área|cuidado|uso|documento) )pers\.(?!\w)"), r"\1personal"),
    ("pers.", re.compile(r"((?<!\w)(?:datos|efectos|objetos|asuntos|motivos) )pers\.(?!\w)"), r"\1personales"),
    ("part.", re.compile(r"((?<!\w)[Cc]lases )part\.(?!\w)"), r"\1particulares"),
    (
        "part.",
        re.compile(r"((?<!\w)(?:[Cc]olegio|[Pp]rofesora?|[Pp]iso|[Cc]lase|[Vv]endedor|[Gg]araje) )part\.(?!\w)"),
        r"\1particular",
    ),
    ("Bach.", re.compile(r"(?<=\w)/Bach\."), " Bachillerato"),
    ("pres.", re.compile(r"((?<!\w)[Oo]nline (?:o|y) )pres\.(?!\w)"), r"\1presencial"),
    ("Rec. rec.", re.compile(r"(?<!\w)[Rr]ec\.(?= de (?:cas|apel|súp|rep|amp|alz|queja|rev|nul|reforma))"), "recurso"),
    ("Sec. sec.", re.compile(r"(?<!\w)[Ss]ec\.(?= \d{1,2}\.?ª)"), "sección"),
    ("pte. Pte.", re.compile(r"(?<!\w)[Pp]te\.(?=:? (?:Sr|Excm|Ilm|Mag))"), "ponente"),
    ("int.", re.compile(r"(?<=\b[ed][nl] el )int\.(?! ?\d)|(?<=\bdel )int\.(?! ?\d)"), "interior"),
    ("prog. Prog.", re.compile(r"(?<!\w)[Pp]rog\.(?= n)"), "programa"),
    ("sat.", re.compile(r"((?<!\w)(?:grasas \(?|cuales,? ))sat\.(?!\w)"), r"\1saturadas"),
    ("aler. Aler.", re.compile(r"(?<!\w)[Aa]ler\.(?=:)"), "alérgenos"),
    ("vta.", re.compile(r"((?:primera|segunda|tercera|[123]\.?ª) )vta\.(?!\w)"), r"\1vuelta"),
    ("pl. Pl.", re.compile(r"(?<!\w)[Pp]l\.(?= \d{1,2} de [A-ZÀ-Ýa-z][a-z]{3,9}(?!\w))"), "plaza"),
    (
        "def. Def.",
        re.compile(r"((?<!\w)(?:[Ll]a|su|una) )def\.(?= (?:ped|recurr|aleg|dic|del |técn|púb|y |neg|afirm))"),
        r"\1defensa",
    ),
    ("cap. Cap.", re.compile(r"(?<!\w)[Cc]ap\.(?= (?:federal|[Ff]ed\.))"), "capital"),
    (
        "s/",
        re.compile(
            r"((?<!\w)(?i:habl|convers|reuni|debat|discut|inform|pregunt|duda|info|acuerdo|opini|noticia|vídeo|libro"
            r"|clase|charla|texto|reportaj|trabajo|película|podcast|seminario|curso|ley|decreto)"
            r"[^.;!?\n]{0,40} )s/ ?(?=(?:el|l[oa]s?|est[ae]|es[ae]|cómo|quién|cuándo) )"
        ),
        r"\1sobre ",
    ),
    ("entr. Entr.", re.compile(r"(?<!\w)[Ee]ntr\.(?= (?:grat|en \d|rápida|hasta|a partir|inmed|a dom))"), "entrega"),
    ("m.", re.compile(r"(?<=\d )m\.(?= (?:después|antes|de (?:edad|vida|garantía|contrato|carencia)))"), "meses"),
    ("d d.", re.compile(r"(?<![\w.,])(\d{1,2}) ?d\.? ?/ ?(\d{1,2}) ?n\.?(?!\w)"), r"\1 días, \2 noches"),
    ("cta. Cta.", re.compile(r"(?<!\w)[Cc]ta\. (?=(?:\*|del? |corr|ahorro|banc|terminada))"), "cuenta "),
    ("DA", re.compile(r"(?<!\w)DA(?= \d{1,2}\.?ª)"), "disposición adicional"),
    ("DT", re.compile(r"(?<!\w)DT(?= \d{1,2}\.?ª)"), "disposición transitoria"),
    ("DF", re.compile(r"(?<!\w)DF(?= \d{1,2}\.?ª)"), "disposición final"),
    (
        "bizum Bizum propina menú",
        re.compile(
            r"((?<!\w)(?:[Bb]izum|propina|menú)"
            r" (?:de|es de|fue de|son|por) )"
            r"(\d{1,4},\d\d)(?:(?![\w,.%€]| ?[a-z%€])|(?= (?:hasta|hoy|para|y|por|del|a) ))"
        ),
        r"\1\2 €",
    ),
    ("dom. Dom.", re.compile(r"(?<!\w)[Dd]om\. banc\.(?!\w)"), "domiciliación bancaria"),
    (
        "dom.",
        re.compile(
            r"((?<!\w)(?:victoria|derrota|triunfo|empate|partido|seguid[ao]|entrega|servicio|reparto|envío|gan[óa]"
            r"|perdió|venció|juega|visita)s? (?:[a-zà-ÿ]+ )?a )dom\.(?!\w)"
        ),
        r"\1domicilio",
    ),
    ("port. Port.", re.compile(r"(?<!\w)[Pp]ort\.(?= (?:\d[\d.,]* ?€|grat|pag|deb|inc))"), "portes"),
    (
        "inc.",
        re.compile(r"((?<!\w)(?:IVA|IGIC|[Dd]esayuno|[Ee]nvío|[Gg]araje|[Tt]odo|[Ss]eguro|[Tt]ransporte) )inc\.(?!\w)"),
        r"\1incluido",
    ),
    ("pl. Pl.", re.compile(r"(?<!\w)[Pp]l\.(?= ?\d{1,2}[A-K](?!\w))"), "plaza"),
    ("ad. ads.", re.compile(r"(?<=[2-9] )ads?\.(?= ?[+,;)/]| y )"), "adultos"),
    (
        "hab.",
        re.compile(r"((?<!\w)(?:[Bb]usco|[Aa]lquilo|[Aa]lq\.|[Aa]lquila|[Cc]omparto|[Oo]frezco) )hab\.(?!\w)"),
        r"\1habitación",
    ),
    ("a.", re.compile(r"((?<!\w)de \d{1,2}) a\.(?=\s*\Z)"), r"\1 años."),
    ("h.", re.compile(r"(?<=ª )h\.(?!\w)"), "hora"),
    ("M.", re.compile(r"(?<=\d )M\. ?a\.(?!\w)"), "millones de años"),
    ("tpo. Tpo.", re.compile(r"(?<!\w)([Tt])po\.(?= (?:de |prep|tot|coc|est|real|libre))"), r"\1iempo"),
    ("prep. Prep.", re.compile(r"(?<!\w)[Pp]rep\.(?=:|,? \d)"), "preparación"),
    ("dif. Dif.", re.compile(r"(?<!\w)[Dd]if\.(?=:? (?:media|baja|alta|fácil|mínima|máxima)(?!\w))"), "dificultad"),
    ("T", re.compile(r"(?<!\w)T(\d{1,2})(?=,? (?:cap|ep)(?:\.|ítulo|isodio))"), r"temporada \1"),
    (
        "com.",
        re.compile(r"((?:€|euros)(?:/mes|/año| al mes| mensuales)? (?:de |\+ )?(?:gastos de |gtos\. )?)com\.(?!\w)"),
        r"\1comunidad",
    ),
    ("cont. Cont.", re.compile(r"(?<!\w)[Cc]ont\.(?= (?:neto|líq|energ))"), "contenido"),
    ("esc.", re.compile(r"(?<=\d )esc\.(?=[,;)]| y | en |$)"), "escaños"),
    ("part. Part.", re.compile(r"(?<!\w)[Pp]art\.(?=:? (?:del? )?\d+(?:,\d+)? ?%)"), "participación"),
    ("veg.", re.compile(r"(?<=[2-9] )veg\.(?!\w)"), "vegetarianos"),
    (
        "s/",
        re.compile(
            r"(?<!\w)s/ (?=[a-zà-ÿ]{3})(?!(?:fact|ped|pres|contr|conv|art|ley|esc|carta|inf|plano|tabla|baremo|ref|doc"
            r"|norma|rec|sent|auto|tarifa|vol|mercado))"
        ),
        "sin ",
    ),
    (
        "ens. Ens.",
        re.compile(r"(?<!\w)[Ee]ns\.(?= (?:mixta|[Cc]ésar|verde|campera|rusa|griega|de |templada|capr))"),
        "ensalada",
    ),
    ("SatO sat. Sat.", re.compile(r"(?<!\w)(?:SatO|[Ss]at\. ?(?:de )?O)[2₂](?!\w)"), "saturación de oxígeno"),
    (
        "rec.",
        re.compile(r"((?:estim|inadmi|interp|present|resolv|admi|formul)\w+ (?:el|su|un|al) )rec\.(?!\w)"),
        r"\1recurso",
    ),
    (
        "máx. Máx. máx Máx",
        re.compile(r"(?:(?<=\A)|(?<=[.:;,/(] )|(?<=\by ))[Mm]áx\.?(?= -?[1-4]?\d ?[º°])"),
        "máxima",
    ),
    (
        "mín. Mín. mín Mín",
        re.compile(r"(?:(?<=\A)|(?<=[.:;,/(] )|(?<=\by ))[Mm]ín\.?(?= -?[1-4]?\d ?[º°])"),
        "mínima",
    ),
    ("MM", re.compile(r"((?:[$€]|USD|EUR|MXN|COP) ?\d[\d.,]* ?)MM(?!\w)"), r"\1M"),
    ("MM MMUSD", re.compile(r"(?<=\d)( ?)MM ?(?=USD|US\$|EUR|€|\$|de (?:d[óo]|p|e)[a-z]+s)"), r"\1M "),
    ("sdo.", re.compile(r"(?<=\b[Uu]n )sdo\.(?!\w)"), "saludo"),
    ("sdos. Sdos.", re.compile(r"(?<!\w)[Ss]dos\.(?!\w)"), "saludos"),
    (
        "conf. Conf.",
        re.compile(r"(?<!\w)[Cc]onf\.(?= (?:asist|recep|hora|fecha|cita|por |tu |su |si |lect|entr|reserv))"),
        "confirmar",
    ),
    (
        "Rep.",
        re.compile(
            r"(?<=[IV] )Rep\."
            r"|(?<!\w)Rep\.(?= (?:Dominicana|Checa|Argentina|Bolivariana|Oriental|Popular|Fed|del? [A-Z]))"
        ),
        "República",
    ),
    ("cons. Cons.", re.compile(r"(?<!\w)[Cc]ons\. pref\.(?!\w)"), "consumir preferentemente"),
    (
        "cons. Cons.",
        re.compile(r"(?<!\w)[Cc]ons\.(?= (?:en (?:fr|lug|sit|nev|amb)|refrig|entre -?\d|a -?\d+ ?[º°]))"),
        "conservar",
    ),
    ("T S", re.compile(r"(?<!\w)[TS]0?(\d{1,2}):? ?[Ee][Pp]?0?(\d{1,2})(?!\w)"), r"temporada \1, episodio \2"),
    *chapters(_TOLD, _DOSED),
    OPUS,
    ("plz plz.", re.compile(r"(?<=[2-9] )plz\.?(?!\w)"), "plazas"),
    ("plz plz. Plz Plz.", re.compile(r"(?<!\w)[Pp]lz\.?(?= ?\d)"), "plaza"),
    ("a.", re.compile(r"(?<=\d )a\.(?= (?!m\.|c\.|l\.)[a-zà-ÿ(])"), "años"),
    ("Pte. pte.", re.compile(rf"(?<!\w)[Pp]te\.(?=,? (?:de )?{_PATIENT_AGE})"), "paciente"),
    ("s/", re.compile(r"(?<=\d )s/ ?(?=\d)"), "sobre "),
    ("red. Red.", re.compile(r"(?<!\w)[Rr]ed\.(?= (?:del? )?\d+(?:[.,]\d+)? ?%)"), "reducción"),
    ("t.", re.compile(rf"((?:[½¼¾⅓⅔]|\d/\d) )t\.(?= (?:de )?(?:{_KITCHEN}))"), r"\1de taza"),
    ("t.", re.compile(rf"(?<!\d)1 t\.(?= (?:de )?(?:{_KITCHEN}))"), "1 taza"),
    ("t.", re.compile(rf"(?<=\d )t\.(?= (?:de )?(?:{_KITCHEN}))"), "tazas"),
    ("dte. dtes. d.", re.compile(r"(?<!\d)1 d(?:te)?\.(?= (?:de )?ajo)"), "1 diente"),
    ("dte. dtes. d.", re.compile(r"(?<=\d )d(?:tes?)?\.(?= (?:de )?ajo)"), "dientes"),
    ("pta.", re.compile(r"(?<!\w)pta\.(?= (?:al gusto|negra|blanca|molida|recién))"), "pimienta"),
    ("pta.", re.compile(r"(?<=[ªº] )pta\.(?!\w)"), "puerta"),
    ("v.", re.compile(r"(?<!\w)v\.(?= (?:blanco|tinto|rosado|dulce))"), "vino"),
    ("fza. Fza.", re.compile(r"(?<!\w)[Ff]za\.(?= ?\d)"), "fuerza"),
    ("Eur Eur.", re.compile(r"(?<!\w)Eur\.? ?\+ ?(?=\d)"), "euríbor más "),
    ("Ma.", re.compile(r"(?<!\w)Ma\.(?= [A-ZÁ-Ú][a-zà-ÿ])"), "María"),
    ("aprob.", re.compile(r"((?<!\w)(?:su|la|de|tu|para|sin|previa|nuestra) )aprob\.(?!\w)"), r"\1aprobación"),
    (
        "m.",
        re.compile(rf"((?<!\w)(?:{_LASTING})(?!\w)[^.;:\d]{{0,20}} \d{{1,3}}) m\.(?!\w)", re.IGNORECASE),
        r"\1 meses",
    ),
    (
        "c/",
        re.compile(
            r"((?<!\w)(?:\d+ (?:[a-zà-ÿ]+(?:as|iones|dades)|uds?\.?|unds?\.?|cjs?\.?|pzas?\.?|bots?\.?)"
            r"|unidades|uds\.?)"
            r"[^.;:\d]{0,24}(?: \d[\d.,]* ?(?:€|kg|g|l|ml|cl))?,? )c/u(?!\w)"
        ),
        r"\1cada una",
    ),
    ("dir.", re.compile(r"((?:[\d)]|sentido|carril|salida|tren|bus),? )dir\.(?= [A-ZÁ-Ú])"), r"\1dirección"),
    ("ex. Ex.", re.compile(r"(?<!\w)[Ee]x\.(?= (?:final|parcial|oral|escrito|tipo|de) )"), "examen"),
    (
        "hasta cad. caducidad validez vence vto.",
        re.compile(
            r"((?:hasta|[Cc]ad\.?|[Cc]aducidad|[Vv]alidez|[Vv]ence|[Vv]to\.?):? (?:el )?)([1-9])/(2[4-9]"
            r"|3\d)(?![\w/]|[.,]\d)"
        ),
        r"\g<1>0\2/20\3",
    ),
    (
        "hasta cad. caducidad validez vence vto.",
        re.compile(
            r"((?:hasta|[Cc]ad\.?|[Cc]aducidad|[Vv]alidez|[Vv]ence|[Vv]to\.?):? (?:el )?)(0?[1-9]"
            r"|1[0-2])/(2[4-9]|3\d)(?![\w/]|[.,]\d)"
        ),
        r"\1\2/20\3",
    ),
    ("b bbl", re.compile(r"(?<=[$€]/)b(?:bl)?(?!\w)"), "barril"),
    ("cdo. Cdo.", re.compile(r"(?<!\w)[Cc]do\.(?= saludo)"), "cordial"),
    ("cdos. Cdos.", re.compile(r"(?<!\w)[Cc]dos\.(?= saludos)"), "cordiales"),
    ("K", re.compile(r"(?<!\w)K(?=\d{1,2}(?!\w))"), "K "),
    ("T", re.compile(r"(?<=[12]º)T(?!\w)"), " tiempo"),
    ("x", re.compile(r"(?<=\d)x ?['’′](?!\w)"), " por minuto"),
    ("x", re.compile(r"((?<!\w)(?:[Mm]ultipli|[Dd]ivi)[a-zà-ÿ]+ )x(?=\d{1,4}(?![\w/]|[.,]\d))"), r"\1por "),
    ("h h.", re.compile(r"(?<=\d de )h(?=[,;.)]|$| )"), "hora"),
    *routes("subcutánea", "vía oral"),
    ("p p.", re.compile(r"(?<=[ ,][2-5])p\.?(?=[,;])"), " puertas"),
    ("dist. Dist.", re.compile(r"(?<!\w)[Dd]ist\.(?= (?:reciente|nueva|cambiada|hecha|recién|a \d))"), "distribución"),
    ("g.", re.compile(r"(?<!\w)g\. (?:de )?(?=envío)"), "gastos de "),
    *weekdays(
        {
            "lun": "lunes",
            "mié": "miércoles",
            "mie": "miércoles",
            "jue": "jueves",
            "vie": "viernes",
            "sáb": "sábado",
            "sab": "sábado",
            "dom": "domingo",
        },
        "a las|por la",
    ),
    ("d", re.compile(r"(?<=[a-zà-ÿ]{2} )(?<!vitamina )d(?= [A-ZÀ-Ý][a-zà-ÿ])"), "de"),
    ("m.", re.compile(r"(?<=años y \d )m\.(?!\w)|(?<=años y \d\d )m\.(?!\w)"), "meses"),
    ("a.", re.compile(r"(?<=\d)a\.(?=,| (?:al?|y|de|con|en) )(?<=[ (]\da\.|\d\da\.)"), " años"),
    (
        "G V",
        re.compile(r"(?<!\w)(\d{1,2}) ?[GV][ ,/-]{1,2}(\d{1,2}) ?E[ ,/-]{1,2}(\d{1,2}) ?[PD](?!\w)"),
        r"\1 victorias, \2 empates, \3 derrotas",
    ),
    ("COP COP-", re.compile(r"(?<!\w)COP-?(?=\d\d(?!\d|[.,]\d))"), "cop "),
    ("s/", re.compile(r"(?<!\w)s/ ?(?=IVA|IGIC|IRPF|TAE)"), "sin "),
    ("c/", re.compile(r"(?<!\w)c/ ?(?=IVA|IGIC|IRPF|TAE)"), "con "),
    ("alt.", re.compile(r"((?<!\w)sin )alt\.(?!\w)"), r"\1alteraciones"),
    ("ent.", re.compile(r"((?<!\w)[Pp]lazo )(?:de )?ent(?:r|reg)?\.(?!\w)"), r"\1de entrega"),
    ("cada", re.compile(r"((?<!\w)cada )(\d{1,2}) ?h ?(\d\d)(?!\w| ?min|['’′])"), r"\1\2 h \3 min"),
    ("x", re.compile(r"(?<=\d[.,]\d)x(?=[ ,.;)]|$)"), " veces"),
    ("D", re.compile(r"(?<![\w.,])(\d{1,2}) ?D ?[/-] ?(\d{1,2}) ?N(?!\w)"), r"\1 días, \2 noches"),
    THOUSANDS,
    (
        "alq. Alq.",
        re.compile(
            r"(?<!\w)[Aa]lq\.(?= (?:ene|feb|mar|abr|may|jun|jul|ago|sep|oct|nov|dic|mens|a partir|\d)|:)"
            r"|(?<=[:,+] )[Aa]lq\.(?! (?:piso|hab|local|casa|apto|est))"
        ),
        "alquiler",
    ),
    ("prop. Prop.", re.compile(r"(?<!\w)[Pp]rop\.(?= ?\d+ ?%)"), "propina"),
    ("p/", re.compile(r"(?<=[\w)] )p/ ?(?=[A-ZÁ-Ú])"), "para "),
    ("p.", re.compile(r"((?:€|\$ ?[\d.,]+) )p\. ?p\.(?!\w)"), r"\1por persona"),
    ("univ.", re.compile(r"((?<!\w)(?:[Ll]it\.|[Hh]ist\.|[Ll]iteratura|[Hh]istoria) )univ\.(?!\w)"), r"\1universal"),
    (
        "univ.",
        re.compile(
            r"((?<!\w)(?:[Tt]ít\.|[Tt]ítulo|[Tt]itulado|[Mm]áster|[Hh]osp\.|[Hh]ospital|[Aa]cceso) )univ\.(?!\w)"
        ),
        r"\1universitario",
    ),
    (
        "v. V.",
        re.compile(
            r"(?<!\w)[Vv]\.(?= (?:tb|también|art|nota|secc|cap|p|pág|págs|anexo|fig|tabla|supra|infra"
            r"|epígrafe|STC|STS)\.?(?!\w))"
        ),
        "véase",
    ),
    ("S", re.compile(r"([12](?<![\w.,].))S ?(?:de )?(?:20)?(\d\d)(?!\w)"), r"\1er semestre de 20\2"),
    ("m.", re.compile(r"(?<=\d )m\.(?= (?:y \d{1,2} d|a \d{1,2} a(?:\.|ños)))"), "meses"),
    GEARS,
    ("h", re.compile(r"\(([1-5]) ?h ?([0-5]\d)\)"), r"(\1 h \2 min)"),
    ("perm. Perm.", re.compile(r"(?<!\w)[Pp]erm\.(?= (?:mín\. )?(?:de )?\d+ ?m)"), "permanencia"),
    ("J.", re.compile(r"(?<![\w.])J\. ?(?=\d{1,2}(?!\d|[.,/]\d))"), "jornada "),
    (
        "temp. Temp.",
        re.compile(r"((?<!\w)(?:[Aa]lta|[Bb]aja|[Mm]edia|[Pp]róx\.|[Pp]róxima) )temp\.(?!\w)"),
        r"\1temporada",
    ),
    ("act.", re.compile(r"(?<=[,;(] )act\.(?= \d)"), "actual"),
    ("ped. Ped.", re.compile(r"(?<!\w)[Pp]ed\.(?= (?:mín|máx))"), "pedido"),
    ("dev. Dev.", re.compile(r"(?<!\w)[Dd]ev\.(?= (?:en |grat|\d+ d))"), "devolución"),
    ("asist. Asist.", re.compile(r"(?<!\w)[Aa]sist\.(?= (?:del? |mín|a clase|\d+ ?%))"), "asistencia"),
    ("int.", re.compile(r"(?<=\+ )int\.(?! ?\d)"), "intereses"),
    ("fza.", re.compile(r"(?<=[Hh]arina de )fza\.(?!\w)"), "fuerza"),
    ("c/", re.compile(r"(?<!\d)1 c/c(?!\w)"), "1 cucharadita"),
    ("c/", re.compile(r"(?<=\d )c/c(?!\w)"), "cucharaditas"),
    ("c/", re.compile(r"(?<!\d)1 c/s(?!\w)"), "1 cucharada"),
    ("c/", re.compile(r"(?<=\d )c/s(?!\w)"), "cucharadas"),
    ("an.", re.compile(r"(?<!\w)an\. ?(?:x|por) ?al\. ?(?:x|por) ?(?:f|prof)\.(?!\w)"), "ancho por alto por fondo"),
    ("c/", re.compile(r"(?<!\w)c/s(?!\w)"), "cantidad suficiente"),
    months_until_visit("en"),
    ("gob. Gob.", re.compile(r"(?<!\w)[Gg]ob\.(?= (?:del?|[Ff]ederal|[Vv]asco|[Ff]ed\.) )"), "gobierno"),
    (
        "próx. Próx.",
        re.compile(
            r"(?<!\w)([Pp])róx\.(?= (?:rev|reun|sem|temp|cons|ses|conv|asamb|eval|ed)\.|(?: [a-z]*(?:clase"
            r"|vez|noche|parte|fase|sede)(?!\w)))"
        ),
        r"\1róxima",
    ),
    ("val.", re.compile(r"(?<=\d de )val\.(?!\w)"), "valoración"),
    (
        "art. Art. arts. Arts. artículo apdo. apartado",
        re.compile(r"((?<!\w)(?:[Aa]rts?\.|[Aa]rtículo|[Aa]pdo\.|[Aa]partado) ?\d[\d.]*) ([a-z])\)"),
        r"\1, \2)",
    ),
    ("preg.", re.compile(r"(?<=\bde )preg\.(?! ?\d)"), "preguntas"),
)
IN_CONTEXT: Final = (
    ("***", re.compile(r"\*{3,}[ -]?(\d)(\d)(\d)(\d)(?![\d*])"), r"terminada en \1 \2 \3 \4"),
    ('"', re.compile(r"(?<=\ba )(\d{1,2})\"(?=[;,.)]|$)"), r"\1 segundos"),
    *EXTREMES,
    ("/m", re.compile(r"(?<=\w\.)/(?=m(?:ín|áx)\.)"), " y "),
    ("º", re.compile(r"((?<!\w)(?:[Mm]áxima|[Mm]ínima|[Hh]ace) [-+−]?\d{1,2})º(?=[,.;:)!?/]|$| [yade] )"), r"\1°"),
    ("º", re.compile(r"((?<![\w\d])[+−-]\d{1,2})º(?!\w)"), r"\1°"),
    stars("estrellas"),
    ("½", re.compile(r"(?<!\d)(?<!\b[Ee]l )(?<!\b[Uu]n )½(?= (?:del|de l[ao]s?)(?!\w))"), "la mitad"),
    ("1/2", re.compile(r"(?<![\w.,/])(?<!\d )(?<!\b[Ee]l )(?<!\b[Uu]n )1/2(?= (?:del|de l[ao]s?)(?!\w))"), "la mitad"),
    ("/", re.compile(r"(\d(?<![\w.,/].)\d?)/([-−]?\d{1,2}) ?[º°]C(?!\w)"), r"\1, \2 °C"),
    ("las 2", re.compile(r"(?<=\b[Ll]as )21(?![\d:]|[.,]\d| ?h| mil)"), "veintiuna"),
    ("º", re.compile(r"(?<=\d)(\.?[ºª])(?=[A-Z](?!\w))"), r"\1 "),
    ("24/7", re.compile(r"(?<!\w)24/7(?!\w)"), "veinticuatro siete"),
    ("/d", re.compile(r"(?:(?<=\d)|(?<=\dx)|(?<=[a-zà-ÿ]{3}))/(?:d|día)(?![\w/])"), " al día"),
    ("/s", re.compile(r"(?<=\d)/sem\.?(?![\w/])"), " por semana"),
    ("'(", re.compile(r"(?<!\w)([fgh])['’′]\((x|\d{1,3})\)"), r"\1 prima de \2"),
    ("./", re.compile(r"(?<=(?:un|ar|ié|ie|ue|áb|om)\.)/(?=(?:lun|mar|mié|mie|jue|vie|sáb|dom)\.)"), ", "),
    (".ª", re.compile(r"(?<![\w.,])(\d+)\.(\d{1,2})\.?ª"), r"\1 punto \2ª"),
    ("la 1", re.compile(r"(?<=\b[Ll]a )1(?= (?:de la|del|y |menos|en punto)|[,;!?)]|\.?$)"), "una"),
    ("º)", re.compile(r"\((\d{3})º\)"), r"(\1)"),
    (", de ", re.compile(r"(/\d{2,4}, de \d{1,2}-)([1-9])(?!\d)"), r"\g<1>0\2"),
    ("1 mil", re.compile(r"(?<![\w.,])(?<![$€£] )(?<![$€£])1 mil(?= [a-zà-ÿ]{3})"), "mil"),
    ("s/s", re.compile(r"(?<=s)/s(?!\w)"), " por segundo"),
)
