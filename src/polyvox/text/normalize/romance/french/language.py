"""French: its numbers, and the words that the shared rules need."""

import re
from typing import Final

from polyvox.text.normalize.romance.agreement.genders import is_french_feminine
from polyvox.text.normalize.romance.calendar.month_years import MonthYears
from polyvox.text.normalize.romance.french.abbreviations import ABBREVIATIONS
from polyvox.text.normalize.romance.french.agreements import AGREEMENTS, PLURALS
from polyvox.text.normalize.romance.french.short_numbers import SHORT_NUMBERS
from polyvox.text.normalize.romance.french.units import SPECIAL_UNITS
from polyvox.text.normalize.romance.french.words import (
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
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit "
    "dix-neuf"
).split()
_TENS: Final = (
    "",
    "",
    "vingt",
    "trente",
    "quarante",
    "cinquante",
    "soixante",
    "soixante",
    "quatre-vingt",
    "quatre-vingt",
)
_MONTHS: Final = (
    "", "janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre",
    "décembre",
)  # fmt: skip


def cardinal(value: int, gender: Gender) -> str:
    """A cardinal: "vingt et un", "quatre-vingt-un", "deux cents"; a feminine noun wants "une"."""
    words = _cardinal(value)
    feminine = gender is Gender.FEMININE and value % 10 == 1 and value % 100 not in (11, 71, 91)
    return words + "e" if feminine else words


def _cardinal(value: int) -> str:
    for scale, one, many in (
        (10**12, "billion", "billions"),
        (10**9, "milliard", "milliards"),
        (10**6, "million", "millions"),
    ):
        if value >= scale:
            count, rest = divmod(value, scale)
            words = f"{_cardinal(count)} {one if count == 1 else many}"
            return f"{words} {_cardinal(rest)}" if rest else words
    thousands, rest = divmod(value, 1000)
    if not thousands:
        return _below_thousand(rest, final=True)
    words = "mille" if thousands == 1 else f"{_below_thousand(thousands, final=False)} mille"
    return f"{words} {_below_thousand(rest, final=True)}" if rest else words


def _below_thousand(value: int, *, final: bool) -> str:
    hundreds, rest = divmod(value, 100)
    if not hundreds:
        return _below_hundred(rest, final=final)
    words = "cent" if hundreds == 1 else f"{_ONES[hundreds]} cent"
    if rest:
        return f"{words} {_below_hundred(rest, final=final)}"
    return words + ("s" if hundreds > 1 and final else "")


def _below_hundred(value: int, *, final: bool) -> str:
    if value < 20:
        return _ONES[value]
    tens, ones = divmod(value, 10)
    if tens in (7, 9):
        ones += 10
    if ones == 0:
        return _TENS[tens] + ("s" if tens == 8 and final else "")
    joint = " et " if ones in (1, 11) and tens < 8 else "-"
    return f"{_TENS[tens]}{joint}{_ONES[ones]}"


def ordinal(value: int, gender: Gender) -> str:
    """An ordinal: "premier", "première", "vingt et unième"."""
    if value == 1:
        return "première" if gender is Gender.FEMININE else "premier"
    words = _cardinal(value)
    if words.endswith("cinq"):
        return words + "uième"
    if words.endswith("neuf"):
        return words[:-1] + "vième"
    words = words[:-1] if words.endswith(("e", "vingts", "cents")) else words
    return words + "ième"


def _date(day: int, month: int, year: int | None) -> str:
    words = f"{'premier' if day == 1 else _cardinal(day)} {_MONTHS[month]}"
    return words if year is None else f"{words} {_cardinal(year)}"


def _time(hour: int, minute: int, second: int, half: str) -> str:
    words = [f"{cardinal(hour, Gender.FEMININE)} heure{'' if hour < 2 else 's'}"]
    if minute:
        words.append(cardinal(minute, Gender.FEMININE))
    if second:
        words.append(f"et {cardinal(second, Gender.FEMININE)} seconde{'' if second == 1 else 's'}")
    if half:
        words.append("du matin" if half == "am" else "du soir" if 6 <= hour < 12 else "de l'après-midi")
    return " ".join(words)


def _ruler(value: int, gender: Gender) -> str:
    return ordinal(value, gender) if value == 1 else _cardinal(value)


def _half(noun: str, gender: Gender) -> str:
    return f"{'une' if gender is Gender.FEMININE else 'un'} demi-{noun}"


def _of(name: str) -> str:
    return f"d'{name}" if name[0] in "aeiouéêh" else f"de {name}"


_CENTIME: Final = Noun("centime", "centimes")
_CENT: Final = Noun("cent", "cents")
_EURO: Final = RomanceCurrency(Noun("euro", "euros"), _CENTIME)
_DOLLAR: Final = RomanceCurrency(Noun("dollar", "dollars"), _CENT)

_DATED: Final = (
    "lundi mardi mercredi jeudi vendredi samedi dimanche date dates échéance échéances limite livraison délai "
    "retrait fermeture début dispo disponible libre dès réunion "
    "séance audience examen visite consultation AG assemblée"
)
_MONTH_YEARS: Final = MonthYears.of(
    _MONTHS,
    r"CT|[Cc]ontrôle technique|[Vv]al(?:able|ide)s?|[Ee]xp(?:ir(?:e|ation|ant)|\.)|[Éé]ch(?:éance|\.)|DL(?:C|UO)|DDM"
    r"|[Mm]ise en (?:circulation|circ\.|service)|[Jj]usqu'|[Gg]arantie?|[Ii]mmat(?:riculée?|\.)|[Rr]évision",
    {"au": "en ", "jusqu'au": "jusqu'en ", "le": "", "du": "de ", "jusqu'en": "jusqu'en ", "en": "en "},
)

FRENCH: Final = RomanceLanguage(
    cardinal=cardinal,
    ordinal=ordinal,
    ordinal_suffixes=r"ers?|(?P<feminine>res?|ères?)|es?|è|[eè]mes?|nds?|(?P<feminine_second>ndes?)|º|°(?= [a-z])",
    point="virgule",
    stop="point",
    slash="slash",
    minus="moins",
    percent="pour cent",
    per=lambda name: f"aux {name}" if name.startswith("cent ") else f"par {name}",
    every="par",
    less_than="moins de",
    more_than="plus de",
    function_of="de",
    rates=frozenset(
        (
            "jour jours semaine mois trimestre an heure nuit personne j kilo litre minute seconde pers unité "
            "baril min h él élève"
        ).split()
    ),
    upto="à",
    either=lambda _: "ou",
    days_upto=lambda first, last: f"du {first} au {last}",
    by="par",
    times=Noun("fois", "fois", feminine=True),
    scored_by_x=False,
    over="sur",
    out_of="sur",
    of=_of,
    phone_groups={},
    digits_in_phones=2,
    months=_MONTHS,
    month_forms={name: index for index, name in enumerate(_MONTHS) if name}
    | {"janv": 1, "fév": 2, "févr": 2, "avr": 4, "juil": 7, "juill": 7, "sept": 9, "oct": 10, "nov": 11, "déc": 12},
    date=_date,
    month_of=lambda month, year: f"{month} {year}",
    before_date=frozenset(f"le du au l {_DATED}".split()),
    before_marked_date=frozenset(f"jour {_DATED}".split()),
    before_time=frozenset(),
    time=_time,
    and_minutes="",
    hours_from="de",
    hours_upto="à",
    before_minute=frozenset(("la",)),
    minute_of=lambda minute: ordinal(minute, Gender.FEMININE),
    time_marks=r" ?[hH] ?| ?heures? ?",
    currencies={
        "€": _EURO,
        "EUR": _EURO,
        "$": _DOLLAR,
        "US$": _DOLLAR,
        "$US": _DOLLAR,
        "USD": _DOLLAR,
        "CHF": RomanceCurrency(Noun("franc suisse", "francs suisses"), _CENTIME),
        "£": RomanceCurrency(Noun("livre", "livres", feminine=True), Noun("penny", "pence")),
        "¥": RomanceCurrency(Noun("yen", "yens")),
    },
    and_cents="et",
    one_below_two=True,
    scales={
        "mille": Scale("mille", "mille", counted_of=False),
        "k": Scale("mille", "mille", counted_of=False),
        "million": Scale("million", "millions", counted_of=True),
        "millions": Scale("million", "millions", counted_of=True),
        "M": Scale("million", "millions", counted_of=True),
        "milliard": Scale("milliard", "milliards", counted_of=True),
        "milliards": Scale("milliard", "milliards", counted_of=True),
        "Md": Scale("milliard", "milliards", counted_of=True),
        "Mds": Scale("milliard", "milliards", counted_of=True),
    },
    units=units(PREFIXES, PLAIN_UNITS, SPECIAL_UNITS | OTHER_UNITS),
    powers={"²": ("carré", "carrés"), "³": ("cube", "cubes")},
    exponents={"2": "au carré", "3": "au cube", "^": "puissance"},
    fractions={
        2: Noun("demi", "demis"),
        3: Noun("tiers", "tiers"),
        4: Noun("quart", "quarts"),
        5: Noun("cinquième", "cinquièmes"),
        6: Noun("sixième", "sixièmes"),
        8: Noun("huitième", "huitièmes"),
        10: Noun("dixième", "dixièmes"),
    },
    signs={
        "&": "et",
        "+": "plus",
        "=": "égale",
        "×": "fois",
        "÷": "divisé par",
        "±": "plus ou moins",
        "<": "inférieur à",
        ">": "supérieur à",
        "≤": "inférieur ou égal à",
        "≥": "supérieur ou égal à",
        "≈": "environ",
        "%": "pour cent",
        "@": "arobase",
        "#": "dièse",
        "€": "euros",
        "$": "dollars",
        "°": "degrés",
        "≠": "différent de",
        "√": "racine de",
        "‰": "pour mille",
        "π": "pi",
        "∞": "infini",
        "Δ": "delta",
        "α": "alpha",
        "β": "bêta",
        "γ": "gamma",
        "λ": "lambda",
        "σ": "sigma",
        "θ": "thêta",
        "ω": "oméga",
        "Ω": "oméga",
        "©": "copyright",
        "§": "paragraphe",
    },
    keys={"#": "dièse", "*": "étoile"},
    web={
        ".": "point",
        "/": "slash",
        "-": "tiret",
        "_": "tiret bas",
        "@": "arobase",
        ":": "deux points",
        "=": "égale",
        "?": "point d'interrogation",
        "&": "et commercial",
        "~": "tilde",
        "+": "plus",
    },
    abbreviations=ABBREVIATIONS,
    acronyms=ACRONYMS,
    labels=LABELS,
    roman_labels=frozenset(
        (
            "chapitre chapitres tome volume livre acte scène partie article titre phase niveau type groupe annexe "
            "section siècle guerre alinéa tableau figure congrès classe grade stade "
            "catégorie bloc module mouvement"
        ).split()
    ),
    rulers=frozenset(
        (
            "Louis François Henri Charles Napoléon Philippe Jean Paul Pie Benoît Élisabeth Elisabeth Georges Édouard "
            "Edouard Guillaume Nicolas Pierre Catherine Albert Léopold Grégoire Léon Frédéric Richard Jacques Clément "
            "Baudouin Ramsès Alexandre Alphonse Ferdinand Amédée Victor-Emmanuel Emmanuel Mohammed Hassan Innocent "
            "Urbain Boniface Sixte Jules Constantin Othon Rodolphe Sigismond Gustave Christian Olaf Hussein Ptolémée "
            "Thoutmôsis Guillaume-Alexandre"
        ).split()
    ),
    queens=frozenset(("Élisabeth Elisabeth Catherine Marie Isabelle Victoria Christine Anne Margrethe").split()),
    ruler_number=_ruler,
    century=lambda value: ordinal(value, Gender.ALONE),
    euphony=(
        (
            "une ",
            re.compile(
                r"(?<!\w)((?:vingt|trente|quarante|cinquante|soixante) et un|(?:quatre-vingt-|cent |mille )un)e"
                r" (?=(?:rue|avenue|place|allée|impasse|route|ruelle|promenade|chaussée|esplanade|traverse)(?!\w))"
            ),
            r"\1 ",
        ),
        ("e un", re.compile(r"\b([Dd]|[Qq]u|usqu)e (?=une? (?!à |et |virgule |point |pour )[a-zà-ÿ])"), r"\1'"),
    ),
    is_feminine=is_french_feminine,
    articles=frozenset("le la les du au l".split()),
    function_words=FUNCTION_WORDS,
    half=_half,
    and_half=lambda gender: "et demie" if gender is Gender.FEMININE else "et demi",
    degrees=Noun("degré", "degrés"),
    temperature_scales={"C": "Celsius", "F": "Fahrenheit", "K": "Kelvin"},
    decimal_comma=True,
    measures_one_below_two=True,
    before_hours=frozenset(
        (
            "lundi mardi mercredi jeudi vendredi samedi dimanche "
            "ouvert ouverte ouverts ouvertes ouverture horaire horaires accueil permanence"
        ).split()
    ),
    own_rules=(SHORT_NUMBERS.read, _MONTH_YEARS.read, AGREEMENTS.read, PLURALS.read),
)
