"""Spanish: its numbers, and the words that the shared rules need."""

from typing import Final

from polyvox.text.normalize.romance.language import Gender, Noun, RomanceCurrency, RomanceLanguage, Scale

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
    "undécimo", "duodécimo",
)  # fmt: skip
_TENTHS: Final = {10: "décimo", 20: "vigésimo", 30: "trigésimo", 40: "cuadragésimo", 50: "quincuagésimo"}
_MONTHS: Final = (
    "", "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre",
    "diciembre",
)  # fmt: skip
_MASCULINE_IN_A: Final = frozenset(
    "día días problema problemas programa programas sistema sistemas tema temas mapa mapas planeta planetas idioma "
    "idiomas poema poemas clima drama dramas fantasma fantasmas".split()
)
_FEMININE: Final = frozenset("veces mujeres calles noches tardes flores partes clases redes llaves señales".split())
_NOT_NOUNS: Final = frozenset("a la las para hasta contra era había hora ya toda todas una cada nada".split())


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
        words.append("de la mañana" if half == "am" else "de la noche" if 8 <= hour < 12 else "de la tarde")
    return " ".join(words)


def _ruler(value: int, suffixed: bool) -> str:
    """Kings and popes: ordinals up to ten, cardinals beyond."""
    return ordinal(value, Gender.ALONE) if value <= 10 else cardinal(value, Gender.ALONE)


def _is_feminine(word: str) -> bool:
    if word in _MASCULINE_IN_A or word in _NOT_NOUNS:
        return False
    return word in _FEMININE or word.endswith(("a", "as", "ción", "ciones", "dad", "dades"))


_CENT: Final = Noun("céntimo", "céntimos")
_CENTAVO: Final = Noun("centavo", "centavos")
_DOLLAR: Final = RomanceCurrency(Noun("dólar", "dólares"), _CENTAVO)
_PESO: Final = RomanceCurrency(Noun("peso", "pesos"), _CENTAVO)
_EURO: Final = RomanceCurrency(Noun("euro", "euros"), _CENT)

SPANISH: Final = RomanceLanguage(
    cardinal=cardinal,
    ordinal=ordinal,
    ordinal_suffixes=r"\.?(?:º|°)|\.?(?P<feminine>ª)|(?P<feminine_letters>\.?a)(?= [a-z])|\.?(?P<short>er)",
    point="coma",
    minus="menos",
    percent="por ciento",
    per="por",
    upto="a",
    over="sobre",
    of=lambda name: f"de {name}",
    digits_in_phones=1,
    months=_MONTHS,
    month_forms={name: index for index, name in enumerate(_MONTHS) if name}
    | {name[:3]: index for index, name in enumerate(_MONTHS) if name}
    | {"sept": 9, "setiembre": 9},
    date=_date,
    before_date=frozenset("el del día hasta desde lunes martes miércoles jueves viernes sábado domingo".split()),
    time=_time,
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
    scales={
        "mil": Scale("mil", "mil", counted_of=False),
        "millón": Scale("millón", "millones", counted_of=True),
        "millones": Scale("millón", "millones", counted_of=True),
        "M": Scale("millón", "millones", counted_of=True),
        "billones": Scale("billón", "billones", counted_of=True),
    },
    units={
        "km/h": Noun("kilómetro por hora", "kilómetros por hora"),
        "mm": Noun("milímetro", "milímetros"),
        "cm": Noun("centímetro", "centímetros"),
        "m": Noun("metro", "metros"),
        "km": Noun("kilómetro", "kilómetros"),
        "mg": Noun("miligramo", "miligramos"),
        "g": Noun("gramo", "gramos"),
        "gr": Noun("gramo", "gramos"),
        "kg": Noun("kilo", "kilos"),
        "t": Noun("tonelada", "toneladas", feminine=True),
        "ml": Noun("mililitro", "mililitros"),
        "cl": Noun("centilitro", "centilitros"),
        "l": Noun("litro", "litros"),
        "L": Noun("litro", "litros"),
        "ha": Noun("hectárea", "hectáreas", feminine=True),
        "s": Noun("segundo", "segundos"),
        "seg": Noun("segundo", "segundos"),
        "min": Noun("minuto", "minutos"),
        "h": Noun("hora", "horas", feminine=True),
        "Hz": Noun("hercio", "hercios"),
        "kHz": Noun("kilohercio", "kilohercios"),
        "MHz": Noun("megahercio", "megahercios"),
        "GHz": Noun("gigahercio", "gigahercios"),
        "KB": Noun("kilobyte", "kilobytes"),
        "kB": Noun("kilobyte", "kilobytes"),
        "MB": Noun("megabyte", "megabytes"),
        "GB": Noun("gigabyte", "gigabytes"),
        "TB": Noun("terabyte", "terabytes"),
        "Mbps": Noun("megabit por segundo", "megabits por segundo"),
        "W": Noun("vatio", "vatios"),
        "kW": Noun("kilovatio", "kilovatios"),
        "kWh": Noun("kilovatio hora", "kilovatios hora"),
        "V": Noun("voltio", "voltios"),
        "mAh": Noun("miliamperio hora", "miliamperios hora"),
        "kcal": Noun("kilocaloría", "kilocalorías", feminine=True),
        "dB": Noun("decibelio", "decibelios"),
        "px": Noun("píxel", "píxeles"),
    },
    powers={"²": ("cuadrado", "cuadrados"), "³": ("cúbico", "cúbicos")},
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
        "©": "copyright",
        "§": "párrafo",
    },
    web={".": "punto", "/": "barra", "-": "guion", "_": "guion bajo", "@": "arroba", ":": "dos puntos", "=": "igual"},
    abbreviations={
        "Sr.": "señor",
        "Sra.": "señora",
        "Srta.": "señorita",
        "Sres.": "señores",
        "Dr.": "doctor",
        "Dra.": "doctora",
        "Prof.": "profesor",
        "Profa.": "profesora",
        "Ing.": "ingeniero",
        "Lic.": "licenciado",
        "D.": "don",
        "Dña.": "doña",
        "Ud.": "usted",
        "Uds.": "ustedes",
        "Vd.": "usted",
        "Vds.": "ustedes",
        "etc.": "etcétera",
        "p. ej.": "por ejemplo",
        "p.ej.": "por ejemplo",
        "núm.": "número",
        "Núm.": "número",
        "n.º": "número",
        "N.º": "número",
        "nº": "número",
        "Nº": "número",
        "pág.": "página",
        "págs.": "páginas",
        "tel.": "teléfono",
        "Tel.": "teléfono",
        "tfno.": "teléfono",
        "avda.": "avenida",
        "Avda.": "avenida",
        "Av.": "avenida",
        "av.": "avenida",
        "c/": "calle",
        "C/": "calle",
        "pza.": "plaza",
        "Pza.": "plaza",
        "EE. UU.": "Estados Unidos",
        "EE.UU.": "Estados Unidos",
        "EEUU": "Estados Unidos",
        "a. C.": "antes de Cristo",
        "a.C.": "antes de Cristo",
        "d. C.": "después de Cristo",
        "d.C.": "después de Cristo",
        "aprox.": "aproximadamente",
        "máx.": "máximo",
        "mín.": "mínimo",
        "dpto.": "departamento",
        "Dpto.": "departamento",
        "vol.": "volumen",
        "cap.": "capítulo",
        "art.": "artículo",
        "fig.": "figura",
        "S.A.": "S A",
        "s.": "siglo",
        "tb.": "también",
        "xq": "porque",
        "St.": "San",
        "Sta.": "Santa",
        "Sto.": "Santo",
        "lun.": "lunes",
        "mar.": "martes",
        "mié.": "miércoles",
        "jue.": "jueves",
        "vie.": "viernes",
        "sáb.": "sábado",
        "dom.": "domingo",
    },
    roman_labels=frozenset(
        "siglo siglos capítulo capítulos tomo volumen título acto escena parte libro fase nivel tipo grupo liga "
        "mundial guerra página anexo artículo sección".split()
    ),
    rulers=frozenset(
        "Felipe Carlos Isabel Fernando Alfonso Juan Pablo Pío Luis Enrique Eduardo Jorge Benedicto Gregorio León "
        "Napoleón Francisco Nicolás Pedro Catalina Guillermo Ricardo Sancho Jaime José".split()
    ),
    ruler_number=_ruler,
    century=None,
    is_feminine=_is_feminine,
    degrees=Noun("grado", "grados"),
    temperature_scales={"C": "Celsius", "F": "Fahrenheit", "K": "Kelvin"},
)
