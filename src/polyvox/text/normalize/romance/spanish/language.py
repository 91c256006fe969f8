"""Spanish: its numbers, and the words that the shared rules need."""

import re
from typing import Final

from polyvox.text.normalize.romance.agreement.adjectives import Agreement, nouns
from polyvox.text.normalize.romance.agreement.counted_before import CountedBefore
from polyvox.text.normalize.romance.agreement.genders import is_spanish_feminine
from polyvox.text.normalize.romance.calendar.day_spans import DaySpans
from polyvox.text.normalize.romance.language import Gender, Noun, RomanceCurrency, RomanceLanguage, Scale
from polyvox.text.normalize.romance.measures.amperes import Amperes
from polyvox.text.normalize.romance.measures.units import units
from polyvox.text.normalize.romance.spanish.abbreviations import ABBREVIATIONS
from polyvox.text.normalize.romance.spanish.figures import in_words
from polyvox.text.normalize.romance.spanish.pesos import as_pesos, with_stops
from polyvox.text.normalize.romance.spanish.technical import TECHNICAL
from polyvox.text.normalize.romance.spanish.truncated import AGREEING
from polyvox.text.normalize.romance.spanish.words import (
    ACRONYMS,
    FUNCTION_WORDS,
    LABELS,
    OTHER_UNITS,
    PLAIN_UNITS,
    PREFIXES,
)
from polyvox.text.normalize.romance.weather import Weather

_ONES: Final = (
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
    "dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete "
    "veintiocho veintinueve"
).split()
_TENS: Final = ("", "", "", "treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa")
_HUNDREDS: Final = (
    "", "ciento", "doscientos", "trescientos", "cuatrocientos", "quinientos", "seiscientos", "setecientos",
    "ochocientos", "novecientos",
)  # fmt: skip
_MILLIONS: Final = (("un millón", "millones"), ("un billón", "billones"))
_ORDINALS: Final = (
    "", "primero", "segundo", "tercero", "cuarto", "quinto", "sexto", "séptimo", "octavo", "noveno", "décimo",
    "undécimo", "duodécimo", "decimotercero", "decimocuarto", "decimoquinto", "decimosexto", "decimoséptimo",
    "decimoctavo", "decimonoveno",
)  # fmt: skip
_TENTHS: Final = {10: "décimo", 20: "vigésimo", 30: "trigésimo", 40: "cuadragésimo", 50: "quincuagésimo"}
_MONTHS: Final = (
    "", "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre",
    "diciembre",
)  # fmt: skip


def cardinal(value: int, gender: Gender) -> str:
    """A cardinal: "veintiuno", "veintiún" before a noun, "veintiuna" and "doscientas" before a feminine one."""
    if value < 1_000_000:
        return _below_million(value, gender)
    words: list[str] = []
    for power, (one, many) in ((2, _MILLIONS[1]), (1, _MILLIONS[0])):
        count = value // 10 ** (6 * power) % 1_000_000
        if count:
            words.append(one if count == 1 else f"{_below_million(count, Gender.MASCULINE)} {many}")
    rest = value % 1_000_000
    return " ".join([*words, _below_million(rest, gender)] if rest else words)


def _below_million(value: int, gender: Gender) -> str:
    thousands, rest = divmod(value, 1000)
    words = (
        [] if not thousands else ["mil"] if thousands == 1 else [f"{_below_thousand(thousands, _apocope(gender))} mil"]
    )
    if rest or not thousands:
        words.append(_below_thousand(rest, gender))
    return " ".join(words)


def _apocope(gender: Gender) -> Gender:
    return Gender.FEMININE if gender is Gender.FEMININE else Gender.MASCULINE


def _below_thousand(value: int, gender: Gender) -> str:
    if value == 100:
        return "cien"
    hundreds, rest = divmod(value, 100)
    name = _HUNDREDS[hundreds]
    if gender is Gender.FEMININE and hundreds > 1:
        name = name[:-2] + "as"
    return f"{name} {_below_hundred(rest, gender)}".strip() if rest or not hundreds else name


def _below_hundred(value: int, gender: Gender) -> str:
    if value < 30:
        word = _ONES[value]
    else:
        tens, ones = divmod(value, 10)
        word = f"{_TENS[tens]} y {_ONES[ones]}" if ones else _TENS[tens]
    if not word.endswith("uno") or gender is Gender.ALONE:
        return word
    if gender is Gender.FEMININE:
        return word[:-1] + "a"
    return "veintiún" if word == "veintiuno" else word[:-1]


def ordinal(value: int, gender: Gender) -> str:
    """An ordinal up to fifty-nine; cardinals are said beyond. The masculine before a noun is "primer", "tercer"."""
    if 0 < value < len(_ORDINALS):
        word = _ORDINALS[value]
    elif value // 10 * 10 in _TENTHS:
        ones = value % 10
        word = _TENTHS[value // 10 * 10] + (f" {_ORDINALS[ones]}" if ones else "")
    else:
        return cardinal(value, Gender.ALONE)
    if gender is Gender.FEMININE:
        return " ".join(part[:-1] + "a" for part in word.split())
    short = gender is Gender.MASCULINE and word.endswith(("primero", "tercero"))
    return word[:-1] if short else word


def _date(day: int, month: int, year: int | None) -> str:
    words = f"{cardinal(day, Gender.ALONE)} de {_MONTHS[month]}"
    return words if year is None else f"{words} de {cardinal(year, Gender.ALONE)}"


def _time(hour: int, minute: int, second: int, half: str) -> str:
    words = [cardinal(hour, Gender.FEMININE)]
    if minute:
        words.append(f"cero {_ONES[minute]}" if minute < 10 else cardinal(minute, Gender.ALONE))
    elif not half:
        words.append("hora" if hour == 1 else "horas")
    if second:
        words.append(f"y {cardinal(second, Gender.MASCULINE)} {'segundo' if second == 1 else 'segundos'}")
    if half:
        words.append(
            "del mediodía"
            if (hour, half) == (12, "pm")
            else "de la mañana"
            if half == "am"
            else "de la noche"
            if 8 <= hour < 12
            else "de la tarde"
        )
    return " ".join(words)


def _singular(noun: str) -> str:
    """One of a counted noun: "tazas", "meses", "unidades"."""
    if noun.endswith(("as", "os")):
        return noun[:-1]
    return noun[:-2] if noun.endswith(("nes", "les", "ades", "ores", "eses", "meses")) else noun.removesuffix("s")


def _plural(word: str) -> str:
    return word + ("s" if word[-1] in "aeo" else "es")


def _ruler(value: int, gender: Gender) -> str:
    """Kings, queens and popes: ordinals up to ten, cardinals beyond."""
    return (
        ordinal(value, Gender.FEMININE if gender is Gender.FEMININE else Gender.ALONE)
        if value <= 10
        else cardinal(value, Gender.ALONE)
    )


_CENT: Final = Noun("céntimo", "céntimos")
_CENTAVO: Final = Noun("centavo", "centavos")
_DOLLAR: Final = RomanceCurrency(Noun("dólar", "dólares"), _CENTAVO)
_PESO: Final = RomanceCurrency(Noun("peso", "pesos"), _CENTAVO)
_EURO: Final = RomanceCurrency(Noun("euro", "euros"), _CENT)

_AGREEMENT: Final = Agreement(
    AGREEING,
    nouns(
        {**ABBREVIATIONS.anywhere, **ABBREVIATIONS.leading},
        {"hab.": "habitación", "pta.": "puerta", "ped.": "pedido", "pl.": "planta"},
    ),
    ABBREVIATIONS.before_figures,
    FUNCTION_WORDS | frozenset(_MONTHS) | frozenset("alta baja media próxima primera".split()),
    is_spanish_feminine,
    _plural,
)
_DATED: Final = (
    "lunes martes miércoles jueves viernes sábado domingo día días fecha vencimiento vence plazo entrega "
    "recogida cierre inicio límite caducidad examen prueba consulta cita control"
)

SPANISH: Final = RomanceLanguage(
    cardinal=cardinal,
    ordinal=ordinal,
    ordinal_suffixes=r"\.?(?:º|°)|\.?(?P<feminine>ª)|(?P<feminine_letters>\.?a|[rdtmvn]a)(?= [a-z])|\.?(?P<short>er)"
    r"|(?:\.?o|[rdtmvn]o)(?= [a-z])",
    point="coma",
    stop="punto",
    slash="barra",
    minus="menos",
    percent="por ciento",
    per=lambda name: f"por {name}",
    every="cada",
    less_than="menos de",
    more_than="más de",
    function_of="de",
    rates=frozenset(
        (
            "K día días semana mes año hora noche persona kilo litro minuto segundo unidad pax min h dosis kg km "
            "cliente trayecto pieza bolsa botella caja plaza viaje clase sesión partido paquete comprimido toma "
            "niño adulto alumno"
        ).split()
    ),
    upto="a",
    either=lambda last: "u" if last.startswith("o") else "o",
    by="por",
    times=Noun("vez", "veces", feminine=True),
    scored_by_x=False,
    over="sobre",
    out_of="sobre",
    of=lambda name: f"de {name}",
    phone_groups={},
    digits_in_phones=1,
    months=_MONTHS,
    month_forms={name: index for index, name in enumerate(_MONTHS) if name}
    | {name[:3]: index for index, name in enumerate(_MONTHS) if name}
    | {"sept": 9, "setiembre": 9},
    date=_date,
    month_of=lambda month, year: f"{month} de {year}",
    before_date=frozenset(f"el del al hasta desde {_DATED}".split()),
    before_marked_date=frozenset(_DATED.split()),
    before_time=frozenset("la las".split()),
    time=_time,
    and_minutes="y ",
    hours_from="de",
    hours_upto="a",
    before_minute=frozenset("el al del".split()),
    minute_of=lambda minute: f"minuto {minute}",
    time_marks=r" ?h| ?hs| ?hrs",
    currencies={
        "€": _EURO,
        "EUR": _EURO,
        "$": _DOLLAR,
        "US$": _DOLLAR,
        "USD": _DOLLAR,
        "MXN": _PESO,
        "COP": _PESO,
        "ARS": _PESO,
        "MX$": _PESO,
        "£": RomanceCurrency(Noun("libra", "libras", feminine=True), Noun("penique", "peniques")),
        "¥": RomanceCurrency(Noun("yen", "yenes")),
        "S/": RomanceCurrency(Noun("sol", "soles"), _CENT),
    },
    and_cents="con",
    one_below_two=False,
    scales={
        "mil": Scale("mil", "mil", counted_of=False),
        "k": Scale("mil", "mil", counted_of=False),
        "K": Scale("mil", "mil", counted_of=False),
        "millón": Scale("millón", "millones", counted_of=True),
        "millones": Scale("millón", "millones", counted_of=True),
        "M": Scale("millón", "millones", counted_of=True),
        "billones": Scale("billón", "billones", counted_of=True),
    },
    units=units(PREFIXES, PLAIN_UNITS, OTHER_UNITS),
    powers={"²": ("cuadrado", "cuadrados"), "³": ("cúbico", "cúbicos")},
    exponents={"2": "al cuadrado", "3": "al cubo", "^": "elevado a"},
    fractions={
        2: Noun("medio", "medios"),
        3: Noun("tercio", "tercios"),
        4: Noun("cuarto", "cuartos"),
        5: Noun("quinto", "quintos"),
        6: Noun("sexto", "sextos"),
        8: Noun("octavo", "octavos"),
        10: Noun("décimo", "décimos"),
    },
    signs={
        "&": "y",
        "+": "más",
        "=": "igual a",
        "×": "por",
        "÷": "entre",
        "±": "más o menos",
        "<": "menor que",
        ">": "mayor que",
        "≤": "menor o igual que",
        "≥": "mayor o igual que",
        "≈": "aproximadamente",
        "%": "por ciento",
        "@": "arroba",
        "#": "número",
        "€": "euros",
        "$": "dólares",
        "°": "grados",
        "≠": "distinto de",
        "√": "raíz de",
        "‰": "por mil",
        "π": "pi",
        "∞": "infinito",
        "Δ": "delta",
        "α": "alfa",
        "β": "beta",
        "γ": "gamma",
        "λ": "lambda",
        "σ": "sigma",
        "θ": "theta",
        "ω": "omega",
        "Ω": "omega",
        "©": "copyright",
        "§": "párrafo",
    },
    keys={"#": "almohadilla", "*": "asterisco"},
    web={".": "punto", "/": "barra", "-": "guion", "_": "guion bajo", "@": "arroba", ":": "dos puntos", "=": "igual"},
    abbreviations=ABBREVIATIONS,
    acronyms=ACRONYMS,
    labels=LABELS,
    roman_labels=frozenset(
        (
            "incisos artículos títulos anexos libros siglo siglos capítulo capítulos tomo volumen título acto "
            "escena parte libro fase nivel tipo grupo liga "
            "mundial guerra página anexo artículo sección apartado inciso tabla figura clase congreso cumbre edición "
            "grado estadio categoría bloque módulo matemáticas física"
        ).split()
    ),
    rulers=frozenset(
        (
            "Felipe Carlos Isabel Fernando Alfonso Juan Pablo Pío Luis Enrique Eduardo Jorge Benedicto Gregorio León "
            "Napoleón Francisco Nicolás Pedro Catalina Guillermo Ricardo Sancho Jaime José Ramiro Ordoño Bermudo "
            "Amadeo Ramsés Alejandro Clemente Inocencio Urbano Bonifacio Sixto Julio Constantino Otón Rodolfo "
            "Federico Hassan Mohamed Abdalá Humberto Víctor Emanuel Manuel Leopoldo Balduino Alberto Gustavo "
            "Vaticano"
        ).split()
    ),
    queens=frozenset(("Isabel Catalina María Cristina Juana Victoria Margarita Leonor Sofía Ana").split()),
    ruler_number=_ruler,
    century=None,
    euphony=(("o o", re.compile(r"\bo (?=och|once)"), "u "),),
    is_feminine=is_spanish_feminine,
    articles=frozenset("el la los las del al".split()),
    function_words=FUNCTION_WORDS,
    half=lambda noun, gender: f"{'media' if gender is Gender.FEMININE else 'medio'} {noun}",
    and_half=lambda gender: "y media" if gender is Gender.FEMININE else "y medio",
    degrees=Noun("grado", "grados"),
    temperature_scales={"C": "Celsius", "F": "Fahrenheit", "K": "Kelvin"},
    before_hyphened_date=frozenset(f"de el del al hasta desde {_DATED}".split()),
    singular=_singular,
    counted_before=CountedBefore.of(
        "las",
        r"(?:de|entre) (?:ellas|estas|esas|aquellas)|de las (?:cuales|que)|más de ellas",
        r"(?:más|menos)(?= que|[,.;:)]|$| e[nl] | por | durante | de l[ao] | respecto)",
        "son|eran|fueron|serán|serían|están|estaban|siguen|seguían|quedan|quedaron|quedaban|resultaron|han sido"
        "|habían sido|continúan|era|fue|está|estaba|sigue",
        "[ae]n|aron|ieron|ían|arán|erán|irán",
        is_spanish_feminine,
        FUNCTION_WORDS | frozenset("euros dólares pesos libras".split()),
    ),
    own_rules=(
        with_stops,
        as_pesos,
        _AGREEMENT.read,
        TECHNICAL.read,
        Weather().read,
        DaySpans("del", "al").read,
        in_words,
        Amperes("amperio", "amperios").read,
    ),
    before_hours=frozenset(
        (
            "lunes martes miércoles jueves viernes sábado sábados domingo domingos "
            "abierto abierta abiertos abiertas abre horario horarios apertura atención turno"
        ).split()
    ),
)
