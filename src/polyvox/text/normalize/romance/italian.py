"""Italian: its numbers, and the words that the shared rules need."""

from typing import Final

from polyvox.text.normalize.romance.language import Gender, Noun, RomanceCurrency, RomanceLanguage, Scale

_ONES: Final = (
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici "
    "diciassette diciotto diciannove"
).split()
_TENS: Final = ("", "", "venti", "trenta", "quaranta", "cinquanta", "sessanta", "settanta", "ottanta", "novanta")
_ORDINALS: Final = ("", *"primo secondo terzo quarto quinto sesto settimo ottavo nono decimo".split())
_MONTHS: Final = (
    "",
    *("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre").split(),
)
_SCALES: Final = ((10**12, "bilione", "bilioni"), (10**9, "miliardo", "miliardi"), (10**6, "milione", "milioni"))


def cardinal(value: int, gender: Gender) -> str:
    """A cardinal: "ventuno", "un" and "una" before a noun, "duecentotrenta"."""
    if value == 1 and gender is not Gender.ALONE:
        return "una" if gender is Gender.FEMININE else "un"
    for scale, one, many in _SCALES:
        if value >= scale:
            count, rest = divmod(value, scale)
            words = f"un {one}" if count == 1 else f"{cardinal(count, Gender.ALONE)} {many}"
            return f"{words} {cardinal(rest, Gender.ALONE)}" if rest else words
    words = _below_million(value)
    return words[:-3] + "tré" if value > 3 and words.endswith("tre") else words


def _below_million(value: int) -> str:
    thousands, rest = divmod(value, 1000)
    if not thousands:
        return _below_thousand(rest)
    words = "mille" if thousands == 1 else f"{_below_thousand(thousands)}mila"
    return words + _below_thousand(rest) if rest else words


def _below_thousand(value: int) -> str:
    hundreds, rest = divmod(value, 100)
    if not hundreds:
        return _below_hundred(rest)
    words = ("" if hundreds == 1 else _ONES[hundreds]) + "cento"
    if not rest:
        return words
    return (words[:-1] if rest == 8 or rest // 10 == 8 else words) + _below_hundred(rest)


def _below_hundred(value: int) -> str:
    if value < 20:
        return _ONES[value]
    tens, ones = divmod(value, 10)
    if not ones:
        return _TENS[tens]
    return (_TENS[tens][:-1] if ones in (1, 8) else _TENS[tens]) + _ONES[ones]


def ordinal(value: int, gender: Gender) -> str:
    """An ordinal: "primo", "ventunesimo", "ventitreesima"."""
    if 0 < value < len(_ORDINALS):
        word = _ORDINALS[value]
    else:
        words = cardinal(value, Gender.ALONE).replace("tré", "tree")
        stem = words if words.endswith(("tree", "sei")) else words[:-1]
        word = f"{stem}esimo" if not words.endswith("tree") else f"{words[:-1]}esimo"
    return word[:-1] + "a" if gender is Gender.FEMININE else word


def _date(day: int, month: int, year: int | None) -> str:
    words = f"{'primo' if day == 1 else cardinal(day, Gender.ALONE)} {_MONTHS[month]}"
    return words if year is None else f"{words} {cardinal(year, Gender.ALONE)}"


def _time(hour: int, minute: int, second: int, half: str) -> str:
    words = ["una" if hour == 1 else cardinal(hour, Gender.ALONE)]
    if minute:
        words.append(f"e {cardinal(minute, Gender.ALONE)}")
    elif not half and hour != 1:
        words.append("in punto" if hour <= 12 else "")
    if second:
        words.append(f"e {cardinal(second, Gender.MASCULINE)} second{'o' if second == 1 else 'i'}")
    if half:
        words.append("di mattina" if half == "am" else "di sera" if 6 <= hour < 12 else "di pomeriggio")
    return " ".join(filter(None, words))


_CENT: Final = Noun("centesimo", "centesimi")
_EURO: Final = RomanceCurrency(Noun("euro", "euro"), _CENT)
_DOLLAR: Final = RomanceCurrency(Noun("dollaro", "dollari"), _CENT)

ITALIAN: Final = RomanceLanguage(
    cardinal=cardinal,
    ordinal=ordinal,
    ordinal_suffixes=r"°(?! ?[CF])|º|(?P<feminine>ª)",
    point="virgola",
    minus="meno",
    percent="per cento",
    per="al",
    upto="a",
    over="su",
    of=lambda name: f"di {name}",
    digits_in_phones=1,
    months=_MONTHS,
    month_forms={name: index for index, name in enumerate(_MONTHS) if name}
    | {name[:3]: index for index, name in enumerate(_MONTHS) if name},
    date=_date,
    before_date=frozenset("il dal al del lunedì martedì mercoledì giovedì venerdì sabato domenica".split()),
    time=_time,
    time_marks=r" ?h",
    currencies={
        "€": _EURO,
        "EUR": _EURO,
        "$": _DOLLAR,
        "USD": _DOLLAR,
        "£": RomanceCurrency(Noun("sterlina", "sterline", feminine=True), Noun("penny", "pence")),
        "¥": RomanceCurrency(Noun("yen", "yen")),
    },
    and_cents="e",
    scales={
        "mila": Scale("mila", "mila", counted_of=False),
        "milione": Scale("milione", "milioni", counted_of=True),
        "milioni": Scale("milione", "milioni", counted_of=True),
        "mln": Scale("milione", "milioni", counted_of=True),
        "miliardo": Scale("miliardo", "miliardi", counted_of=True),
        "miliardi": Scale("miliardo", "miliardi", counted_of=True),
        "mld": Scale("miliardo", "miliardi", counted_of=True),
        "M": Scale("milione", "milioni", counted_of=True),
    },
    units={
        "km/h": Noun("chilometro orario", "chilometri orari"),
        "mm": Noun("millimetro", "millimetri"),
        "cm": Noun("centimetro", "centimetri"),
        "m": Noun("metro", "metri"),
        "km": Noun("chilometro", "chilometri"),
        "mg": Noun("milligrammo", "milligrammi"),
        "g": Noun("grammo", "grammi"),
        "gr": Noun("grammo", "grammi"),
        "kg": Noun("chilo", "chili"),
        "t": Noun("tonnellata", "tonnellate", feminine=True),
        "ml": Noun("millilitro", "millilitri"),
        "cl": Noun("centilitro", "centilitri"),
        "l": Noun("litro", "litri"),
        "L": Noun("litro", "litri"),
        "mq": Noun("metro quadro", "metri quadri"),
        "s": Noun("secondo", "secondi"),
        "sec": Noun("secondo", "secondi"),
        "min": Noun("minuto", "minuti"),
        "h": Noun("ora", "ore", feminine=True),
        "Hz": Noun("hertz", "hertz"),
        "MHz": Noun("megahertz", "megahertz"),
        "GHz": Noun("gigahertz", "gigahertz"),
        "MB": Noun("megabyte", "megabyte"),
        "GB": Noun("gigabyte", "gigabyte"),
        "TB": Noun("terabyte", "terabyte"),
        "W": Noun("watt", "watt"),
        "kW": Noun("chilowatt", "chilowatt"),
        "kWh": Noun("chilowattora", "chilowattora"),
        "V": Noun("volt", "volt"),
        "kcal": Noun("chilocaloria", "chilocalorie", feminine=True),
        "dB": Noun("decibel", "decibel"),
    },
    powers={"²": ("quadrato", "quadrati"), "³": ("cubo", "cubi")},
    fractions={
        2: Noun("mezzo", "mezzi"),
        3: Noun("terzo", "terzi"),
        4: Noun("quarto", "quarti"),
        5: Noun("quinto", "quinti"),
        6: Noun("sesto", "sesti"),
        8: Noun("ottavo", "ottavi"),
        10: Noun("decimo", "decimi"),
    },
    signs={
        "&": "e",
        "+": "più",
        "=": "uguale",
        "×": "per",
        "÷": "diviso",
        "±": "più o meno",
        "<": "minore di",
        ">": "maggiore di",
        "≤": "minore o uguale a",
        "≥": "maggiore o uguale a",
        "≈": "circa",
        "%": "per cento",
        "@": "chiocciola",
        "#": "cancelletto",
        "€": "euro",
        "$": "dollari",
        "°": "gradi",
        "©": "copyright",
        "§": "paragrafo",
    },
    web={".": "punto", "/": "barra", "-": "trattino", "_": "trattino basso", "@": "chiocciola", ":": "due punti"},
    abbreviations={
        "sig.": "signor",
        "Sig.": "signor",
        "sig.ra": "signora",
        "Sig.ra": "signora",
        "sig.na": "signorina",
        "Sig.na": "signorina",
        "dott.": "dottor",
        "Dott.": "dottor",
        "dott.ssa": "dottoressa",
        "Dott.ssa": "dottoressa",
        "prof.": "professor",
        "Prof.": "professor",
        "prof.ssa": "professoressa",
        "Prof.ssa": "professoressa",
        "avv.": "avvocato",
        "Avv.": "avvocato",
        "ing.": "ingegner",
        "Ing.": "ingegner",
        "ecc.": "eccetera",
        "etc.": "eccetera",
        "es.": "esempio",
        "p.es.": "per esempio",
        "p. es.": "per esempio",
        "n.": "numero",
        "N.": "numero",
        "nº": "numero",
        "n°": "numero",
        "pag.": "pagina",
        "pagg.": "pagine",
        "tel.": "telefono",
        "Tel.": "telefono",
        "v.le": "viale",
        "p.zza": "piazza",
        "P.zza": "piazza",
        "S.": "San",
        "a.C.": "avanti Cristo",
        "a. C.": "avanti Cristo",
        "d.C.": "dopo Cristo",
        "d. C.": "dopo Cristo",
        "ca.": "circa",
        "cap.": "capitolo",
        "art.": "articolo",
        "vol.": "volume",
        "fig.": "figura",
        "max.": "massimo",
        "cmq": "comunque",
        "nn": "non",
        "xché": "perché",
    },
    roman_labels=frozenset("capitolo tomo volume atto scena parte libro titolo fase livello tipo gruppo".split()),
    rulers=frozenset(
        "Vittorio Emanuele Umberto Carlo Giovanni Paolo Pio Benedetto Leone Gregorio Luigi Enrico Filippo Francesco "
        "Federico Ferdinando Napoleone Elisabetta Giorgio Edoardo Alessandro Clemente Nicola".split()
    ),
    ruler_number=lambda value, suffixed: ordinal(value, Gender.ALONE),
    century=lambda value: ordinal(value, Gender.ALONE),
    is_feminine=lambda word: word.endswith(("a", "zione")) and word not in ("problema", "sistema", "programma", "tema"),
    degrees=Noun("grado", "gradi"),
    temperature_scales={"C": "Celsius", "F": "Fahrenheit", "K": "Kelvin"},
)
