"""The short forms of Spanish chat."""

import re
from typing import Final

from polyvox.text.normalize.romance.chat_letters import ChatLetters
from polyvox.text.normalize.romance.short_forms.lists import short_forms

LETTERS: Final = ChatLetters.of(
    {"t": "te", "x": "por", "k": "que", "d": "de", "m": "me"},
    after_figures="x",
    names=(
        "el la los las un una del al de en con y o letra variable valor valores tiempo instante parámetro factor "
        "eje ejes "
        "rayos rayo opción apartado inciso respuesta columna vitamina plan grupo punto figura ejercicio "
        "distancia masa pendiente metro metros modelo linfocitos células camiseta talla incógnita función "
        "constante calcula halla despeja "
        "encuentra lado vértice recta cada"
    ),
    verbs=(
        "is was in to of and de del si sin es son era vale valen está están tiene tienen en y o u e es sea significa "
        "representa indica corresponde "
        "aparece debe tal menos más veces kilómetros metros"
    ),
)
CHAT: Final = short_forms(
    """
    cn: con; xq: porque; pq: porque; porq: porque; xk: porque; pk: porque; xke: porque; q: que; qe: que; ke: que;
    kien: quien; qn: quien; kiero: quiero; qro: quiero; aki: aquí; tb: también; tb.: también; tmb: también; tmbn:
    también; tbn: también; tbien: también; bn: bien; bno: bueno; weno: bueno; bnas: buenas; bns: buenas; wenas:
    buenas; mñn: mañana; mñna: mañana; mñana: mañana; nch: noche; nd: nada; nda: nada; tdo: todo; tdos: todos; tdas:
    todas; tds: todos; dnd: donde; cdo: cuando; cndo: cuando; cnd: cuando; qndo: cuando; kndo: cuando; cmo: como; dsd:
    desde; dsp: después; dsps: después; dps: después; desp: después; ntp: no te preocupes; ntc: no te creas; npi: ni
    idea; nse: no sé; tkm: te quiero mucho; tqm: te quiero mucho; tq: te quiero; tk: te quiero; xfa: por favor;
    xfavor: por favor; xfis: porfis; xfi: porfi; pfv: por favor; pls: por favor; plis: por favor; plz: por favor; xa:
    para; xo: pero; tás: estás; stoy: estoy; stas: estás; stamos: estamos; tngo: tengo; tns: tienes; tnes: tienes;
    tng: tengo; grax: gracias; grcs: gracias; grcias: gracias; graxias: gracias; slds: saludos; sldos: saludos; salu2:
    saludos; bs: besos; bss: besos; bsos: besos; bso: beso; abz: abrazo; abzo: abrazo; mxo: mucho; muxo: mucho; mxos:
    muchos; mch: mucho; mcho: mucho; vdd: verdad; vrd: verdad; vd: verdad; msj: mensaje; msjs: mensajes; msje:
    mensaje; wpp: WhatsApp; wsp: WhatsApp; wapp: WhatsApp; wasap: WhatsApp; fds: fin de semana; hno: hermano; hna:
    hermana; qtal: qué tal; ktal: qué tal; dnde: donde; hcr: hacer; hac: hace; sbs: sabes; vmos: vamos; vns: vienes;
    lgo: luego; ahr: ahora; aora: ahora; sbdo: sábado; pko: poco; mjr: mejor; tfno: teléfono; mns: menos; algn:
    alguien; algno: alguno; nunk: nunca; siemp: siempre; spre: siempre; smpre: siempre; bb: bebé; bbs: bebés; nvo:
    nuevo; nva: nueva; tvz: tal vez; k tal: qué tal; q tal: qué tal; x q: porque; qdo: quedo; qda: queda; qdms:
    quedamos; qdamos: quedamos; kedamos: quedamos; hsta: hasta; hta: hasta; tmpoco: tampoco; tmpco: tampoco; entncs:
    entonces; entcs: entonces; entons: entonces
    """
)
_OPENS: Final = (
    r"(?:(?<=[.,;:!?¿¡(\n] )|(?<=[.,;:!?¿¡(\n])|(?<=\A)|(?<= y )|(?<=[Pp]ero )|(?<=\b[Cc]he )|(?<=\b[eyEY] ))"
)
ASKED: Final = re.compile(rf"{_OPENS}(?:[Xx]q|[Pp]q|[Xx]k|[Pp]k|[Pp]orq|[Xx] q)(?= [^.!?\n]{{0,160}}\?|\?|[.!]?\Z)")
_ASKING: Final = r"(?= [^.!?\n]{1,120}[?!])"
CHAT_RULES: Final = (
    ("dnd dnde Dnd Dnde", re.compile(rf"{_OPENS}[Dd]nde?{_ASKING}"), "dónde"),
    ("cdo cnd cndo kndo Cdo Cnd Cndo Kndo", re.compile(rf"{_OPENS}(?:[Cc]n?do?|[Kk]ndo){_ASKING}"), "cuándo"),
    ("cmo Cmo", re.compile(rf"{_OPENS}[Cc]mo{_ASKING}"), "cómo"),
    ("qn kien Qn Kien", re.compile(rf"{_OPENS}(?:[Qq]n|[Kk]ien){_ASKING}"), "quién"),
    ("q qe k Q Qe K", re.compile(rf"{_OPENS}(?:[Qq]e?|[Kk])(?! tal){_ASKING}"), "qué"),
    ("q Q", re.compile(r"(?<!\w)[Qq] \+(?= [a-z])"), "qué más"),
    (
        "ns Ns nse",
        re.compile(
            r"(?<!\d )(?<!\w)[Nn]s(?= (?:si|nd|nada|qué|q|dónde|cómo|cuándo|cuánto|quién|pero|tío"
            r"|tía)(?!\w)|[,!?]|\.?\Z)"
        ),
        "no sé",
    ),
    ("x", re.compile(r"(?<=[a-zà-ÿ] )x(?= (?:[A-Z][a-z]|i[A-Z]))"), "por"),
    ("toy", re.compile(r"(?<!\w)toy(?= [a-zà-ÿ]{2})"), "estoy"),
    ("bn bns Bn Bns", re.compile(r"(?<!\w)[Bb]ns?(?= d[ií]as)"), "buenos"),
    ("bn bns Bn Bns", re.compile(r"(?<!\w)[Bb]ns?(?= (?:noches|tardes))"), "buenas"),
    (
        "d",
        re.compile(
            r"(?<=\d )d(?= (?:la|el|los|las|ene|feb|mar|abr|may|jun|jul|ago|sep|oct|nov|dic|leche"
            r"|carne|pan|agua)[a-z]*(?!\w))"
        ),
        "de",
    ),
    ("sáb sab lun mié mie jue vie dom", re.compile(r"(?<=\b[Ee]l )s[aá]b(?![\w.])"), "sábado"),
    ("lun", re.compile(r"(?<=\b[Ee]l )lun(?![\w.])"), "lunes"),
    ("mié mie", re.compile(r"(?<=\b[Ee]l )mi[ée](?![\w.])"), "miércoles"),
    ("jue", re.compile(r"(?<=\b[Ee]l )jue(?![\w.])"), "jueves"),
    ("vie", re.compile(r"(?<=\b[Ee]l )vie(?![\w.])"), "viernes"),
    ("dom", re.compile(r"(?<=\b[Ee]l )dom(?![\w.])"), "domingo"),
    (
        "xq pq xk pk porq",
        re.compile(
            r"(?<!\w)((?:s[eé]|sabe[ns]?|sabés|saber|dime|decime|entiendo|explica|razón) )(?:xq|pq|xk|pk|porq)(?!\w)"
        ),
        r"\1por qué",
    ),
    ("xq Xq pq Pq xk Xk pk Pk porq Porq x X", ASKED, "por qué"),
    (
        "x X",
        re.compile(r"(?<![\w.])[xX](?= (?:\d{1,3}(?![\d.,]|\w| ?[=×x]) ?(?:días|meses|horas|semanas|años|persona)))"),
        "por",
    ),
    ("q", re.compile(r"(?<=[Aa] )q(?= (?:hora|hr|día|precio)s?(?!\w))"), "qué"),
    ("hr", re.compile(r"((?<!\w)(?:a |qué |q ))hr(?!\w)"), r"\1hora"),
    ("t", re.compile(r"(?<=\bno )t(?= [a-z]{3})"), "te"),
)
