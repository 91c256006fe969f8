"""Italian: its numbers, and the words that the shared rules need."""

import re
from typing import Final

from polyvox.text.normalize.romance.agreement.genders import is_italian_feminine
from polyvox.text.normalize.romance.calendar.month_years import MonthYears
from polyvox.text.normalize.romance.italian.abbreviations import ABBREVIATIONS
from polyvox.text.normalize.romance.italian.ages import Ages
from polyvox.text.normalize.romance.italian.agreements import AGREEMENTS, PLURALS
from polyvox.text.normalize.romance.italian.school_classes import read_classes
from polyvox.text.normalize.romance.italian.shares import read_shares
from polyvox.text.normalize.romance.italian.short_numbers import SHORT_NUMBERS
from polyvox.text.normalize.romance.italian.units import SPECIAL_UNITS
from polyvox.text.normalize.romance.italian.words import (
    ACRONYMS,
    FUNCTION_WORDS,
    LABELS,
    OTHER_UNITS,
    PLAIN_UNITS,
    PREFIXES,
)
from polyvox.text.normalize.romance.language import Gender, Noun, RomanceCurrency, RomanceLanguage, Scale
from polyvox.text.normalize.romance.measures.units import units

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
    if second:
        words.append(f"e {cardinal(second, Gender.MASCULINE)} second{'o' if second == 1 else 'i'}")
    if half:
        words.append("di mattina" if half == "am" else "di sera" if 6 <= hour < 12 else "di pomeriggio")
    return " ".join(words)


def _with_article(preposition: str, word: str) -> str:
    if word[0] in "aeiou":
        return f"{preposition}ll'{word}"
    if word[0] == "z":
        return f"{preposition}llo {word}"
    return f"{preposition}{'lla' if word == 'domenica' else 'l'} {word}"


def _from_upto(first: str, last: str, definite: bool) -> str:
    """ "da dieci a venti"; years, days and shares have an article: "dal 1990 al 1995"."""
    if not definite:
        return f"da {first} a{'d' if last[0] == 'a' else ''} {last}"
    return f"{_with_article('da', first)} {_with_article('a', last)}"


_FEMININE_RATES: Final = frozenset("persona notte settimana tonnellata chilocaloria testa famiglia".split())


def _per(name: str) -> str:
    if name.startswith(("cento ", "mole")):
        return f"per {name}"
    if name[0] in "aeiou":
        return f"all'{name}"
    if name[0] == "s" and name[1] not in "aeiou":
        return f"allo {name}"
    return f"a {name}" if name in _FEMININE_RATES else f"al {name}"


def _half(noun: str, gender: Gender) -> str:
    if noun[0] in "aeiou":
        return f"mezz'{noun}"
    return f"{'mezza' if gender is Gender.FEMININE else 'mezzo'} {noun}"


_CENT: Final = Noun("centesimo", "centesimi")
_EURO: Final = RomanceCurrency(Noun("euro", "euro"), _CENT)
_DOLLAR: Final = RomanceCurrency(Noun("dollaro", "dollari"), _CENT)

_DATED: Final = (
    "lunedì martedì mercoledì giovedì venerdì sabato domenica giorno giorni data date scadenza scadenze "
    "scade termine appello consegna riunione assemblea seduta udienza incontro visita "
    "verbale prevista ritiro chiusura inizio limite"
)
_MONTH_YEARS: Final = MonthYears.of(
    _MONTHS,
    r"[Rr]ev(?:isione|isionata|\.)|[Ss]cad(?:enza|e|\.)|[Ii]mm(?:atricolata|atr\.|\.)|[Vv]alid[aoie]|[Bb]ollo"
    r"|[Gg]aranzia|[Tt]agliando|[Cc]onsumarsi entro",
    {
        "fino al": "fino a ",
        "fino a": "fino a ",
        "al": "a ",
        "il": "",
        "nel": "a ",
        "del": "di ",
        "dal": "da ",
        "a": "a ",
    },
)

ITALIAN: Final = RomanceLanguage(
    cardinal=cardinal,
    ordinal=ordinal,
    ordinal_suffixes=r"°(?! ?[CF])|º|(?P<feminine>ª)",
    point="virgola",
    stop="punto",
    slash="barra",
    minus="meno",
    percent="per cento",
    per=_per,
    every="ogni",
    less_than="meno di",
    more_than="più di",
    function_of="di",
    rates=frozenset(
        (
            "die giorno giorni settimana mese trimestre semestre anno ora notte persona chilo litro minuto secondo "
            "pezzo barile gg min h"
        ).split()
    ),
    upto="a",
    either=lambda _: "o",
    by="per",
    times=Noun("volta", "volte", feminine=True),
    scored_by_x=False,
    over="su",
    out_of="su",
    of=lambda name: f"di {name}",
    phone_groups={},
    digits_in_phones=1,
    months=_MONTHS,
    month_forms={name: index for index, name in enumerate(_MONTHS) if name}
    | {name[:3]: index for index, name in enumerate(_MONTHS) if name},
    date=_date,
    month_of=lambda month, year: f"{month} {year}",
    before_date=frozenset(f"il dal al del entro l dell all dall nell sull {_DATED}".split()),
    before_marked_date=frozenset(_DATED.split()),
    before_time=frozenset("alle dalle delle ore h le arrivo partenza".split()),
    time=_time,
    and_minutes="e ",
    hours_from="dalle",
    hours_upto="alle",
    before_minute=frozenset("al dal del il nel all dall l".split()),
    minute_of=lambda minute: ordinal(minute, Gender.ALONE),
    time_marks=r" ?h(?=[0-5]\d)",
    currencies={
        "€": _EURO,
        "EUR": _EURO,
        "$": _DOLLAR,
        "USD": _DOLLAR,
        "£": RomanceCurrency(Noun("sterlina", "sterline", feminine=True), Noun("penny", "pence")),
        "¥": RomanceCurrency(Noun("yen", "yen")),
    },
    and_cents="e",
    one_below_two=False,
    scales={
        "mila": Scale("mila", "mila", counted_of=False),
        "milione": Scale("milione", "milioni", counted_of=True),
        "milioni": Scale("milione", "milioni", counted_of=True),
        "mln": Scale("milione", "milioni", counted_of=True),
        "miliardo": Scale("miliardo", "miliardi", counted_of=True),
        "miliardi": Scale("miliardo", "miliardi", counted_of=True),
        "mld": Scale("miliardo", "miliardi", counted_of=True),
        "M": Scale("milione", "milioni", counted_of=True),
        "k": Scale("mila", "mila", counted_of=False),
    },
    units=units(PREFIXES, PLAIN_UNITS, SPECIAL_UNITS | OTHER_UNITS),
    powers={"²": ("quadrato", "quadrati"), "³": ("cubo", "cubi")},
    exponents={"2": "al quadrato", "3": "al cubo", "^": "alla"},
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
        "≠": "diverso da",
        "√": "radice di",
        "‰": "per mille",
        "π": "pi greco",
        "∞": "infinito",
        "Δ": "delta",
        "α": "alfa",
        "β": "beta",
        "γ": "gamma",
        "λ": "lambda",
        "σ": "sigma",
        "θ": "teta",
        "ω": "omega",
        "Ω": "omega",
        "©": "copyright",
        "§": "paragrafo",
    },
    keys={"#": "cancelletto", "*": "asterisco"},
    web={
        ".": "punto",
        "/": "barra",
        "-": "trattino",
        "_": "trattino basso",
        "@": "chiocciola",
        ":": "due punti",
        "=": "uguale",
        "?": "punto interrogativo",
        "&": "e commerciale",
        "~": "tilde",
        "+": "più",
    },
    abbreviations=ABBREVIATIONS,
    acronyms=ACRONYMS,
    labels=LABELS,
    roman_labels=frozenset(
        (
            "capitolo tomo volume atto scena parte libro titolo fase livello tipo gruppo allegato articolo sezione "
            "tabella figura classe comma lettera guerra mondiale "
            "capitoli articoli volumi libri tomi canti canto "
            "grado stadio categoria modulo piano movimento"
        ).split()
    ),
    rulers=frozenset(
        (
            "Vaticano Vittorio Emanuele Umberto Carlo Giovanni Paolo Pio Benedetto Leone Gregorio Luigi Enrico Filippo "
            "Francesco Federico Ferdinando Napoleone Elisabetta Giorgio Edoardo Alessandro Clemente Nicola Ramses "
            "Innocenzo Urbano Bonifacio Sisto Giulio Costantino Ottone Rodolfo Guglielmo Amedeo Leopoldo Alberto "
            "Alfonso Pietro Ludovico Cosimo Lorenzo Ranieri Gustavo Adriano Celestino Martino Eugenio"
        ).split()
    ),
    queens=frozenset(("Elisabetta Caterina Maria Cristina Vittoria Margherita Giovanna Isabella Anna").split()),
    ruler_number=ordinal,
    century=lambda value: ordinal(value, Gender.ALONE),
    euphony=(
        ("un ", re.compile(r"\bun (?=s[bcdfgklmnpqrtvz]|z|gn|ps|x)"), "uno "),
        ("lle una", re.compile(r"\b([Dd]?[Aa]ll)e una(?!\w)"), r"\1'una"),
        ("una ", re.compile(r"\buna (?!(?:e|ed|o|a|in) )(?=[aeiouàèéìòù])"), "un'"),
    ),
    is_feminine=is_italian_feminine,
    articles=frozenset("il la lo le i gli del della al alla dal dalla nel nella".split()),
    function_words=FUNCTION_WORDS,
    half=_half,
    and_half=lambda gender: "e mezza" if gender is Gender.FEMININE else "e mezzo",
    degrees=Noun("grado", "gradi"),
    temperature_scales={"C": "Celsius", "F": "Fahrenheit", "K": "Kelvin"},
    from_upto=_from_upto,
    days_upto=lambda first, last: " ".join((_with_article("da", first), _with_article("a", last))),
    ordered_labels=frozenset("sezione parte libro titolo capo classe atto scena tomo volume grado categoria".split()),
    decimal_comma=True,
    feminine_plurals=("e", "uova", "paia"),
    before_guesses=frozenset(
        "per ogni circa in entro dopo di a del dei delle dai ai al alla su sui oltre con almeno quasi il i le gli nel "
        "nei nelle tra fra ha hanno aveva avrà un una prossimi ultimi primi".split()
    ),
    before_hours=frozenset(
        "lunedì martedì mercoledì giovedì venerdì sabato domenica dalle ore orario orari apre aperto aperta aperti "
        "aperte turno turni feriali festivi prefestivi".split()
    ),
    own_rules=(
        Ages(lambda years: cardinal(years, Gender.ALONE)).read,
        SHORT_NUMBERS.read,
        _MONTH_YEARS.read,
        read_classes,
        read_shares,
        AGREEMENTS.read,
        PLURALS.read,
    ),
)
