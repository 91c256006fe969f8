"""Measures: a number and the symbol of a unit."""

import re
from typing import Final

from polyvox.text.normalize.english.context import NOT_NOUNS, is_adjective, is_plural, word_after, word_before
from polyvox.text.normalize.english.letters import any_of
from polyvox.text.normalize.english.measures.unit_names import AS_TYPED, PLURALS, RATES, RATES_AS_TYPED, UNITS
from polyvox.text.normalize.english.numbers import (
    AMOUNT,
    DASH,
    ITEM_END,
    NUMBER,
    NUMBER_END,
    NUMBER_START,
    amount,
    cardinal,
    code,
    is_one,
    number,
    ordinal,
)
from polyvox.text.tracked import TrackedText

# What other things are dosed, taken or measured by in figures: "400 mg/5 mL", "90 km/2 h".
_PER_SEVERAL: Final = frozenset(
    "mL ml dL L l cc µL d h hr hrs min s sec wk mo kg km m gal cm ft mi yr oz g kg lb".split()
)
# What figures may be counted by without a unit of their own: "60/min", "10⁹/L", "1.5%/mo."
_PER_ALONE: Final = frozenset("ha d s sec min h hr hrs wk mo yr kg L mL dL µL Mpc".split())
_OF_DATA: Final = re.compile(
    r"\b(?:audio|baud|bitrate|bits?|channel|codec|connection|data|line|link|modem|network|port|rs-?232|serial|stream|uart)\b",
    re.IGNORECASE,
)
_BASIS_POINTS: Final = 1000
"""The figure from which on "bps" are bits."""


def _cue(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


_GAME: Final = _cue(
    "armou?r|boss|cooldown|crits?|damage|dmg|enemy|gold|heals?|level|lvl|mana|mp|player|potion|quest|raid|xp"
)
_GRAVITY: Final = _cue("g-?forces?|gravity|jupiter|mars|moon|saturn|venus")
_WEATHER: Final = _cue(
    "barometer|barometric|cyclone|depression|eyewall|gale|hpa|hurricanes?|kn|knots|kts?|low|mph|storms?|pressure|tropical|typhoon|winds?"
)
_BINARY: Final = frozenset(("Ki", "Mi", "Gi", "Ti"))
_CPU: Final = re.compile(r"\b(?:cpu|CPU)s?[:=]? \Z")
_GENE: Final = _cue("dna|rna|genes?|genomes?|genomic|primers?|pcr|fragments?|sequences?|amplicons?|plasmid")
_GEOLOGY: Final = _cue(
    "ago|aged?|cretaceous|dinosaurs?|extinction|rex|permian|triassic|crust|dated|dating|epoch|era|erupted|extinct\\w*|formed|fossils?|granite|jurassic|minerals?|old|rocks?|strata|zircons?"
)
_TYPED_PLURALS: Final = frozenset("hrs kgs kms mins mos secs wks yds yrs".split())
_USUAL_PARTS: Final = frozenset((12, 15, 16, 20, 25, 30, 32, 40, 50, 60, 64, 100, 128, 1000))
_PAIRED: Final = frozenset(("mmHg", "mpg"))
# Symbols that are letters, names or points of the compass elsewhere, with what shows the unit.
_SHOWN: Final = {
    "A": (
        "amp",
        _cue(
            r"amps?|AFCI|GFCI|AWG|EMT|NEC|NEMA|bkrs?|panel|breaker|charger|charging|circuit|current|draws?|fuse|outlet|plug|rated|socket|"
            r"\d+ ?V"
        ),
    ),
    "K": (
        "kelvin",
        _cue(
            r"[kM]J/mol|(?:at|below|above) (?:27|29|30)\d K|absolute|boils?|cooled|cools|cryo\w*|degrees|heated|kelvin|"
            r"melts?|superconduct\w*|magnets?|temperatures?|zero"
        ),
    ),
    "Ga": ("billion year", _GEOLOGY),
    "Ma": ("million year", _GEOLOGY),
    "N": ("newton", _cue(r"force|newtons?|pull(?:s|ed)?|push(?:es|ed)?|thrust|weighs|weight|tension")),
    "T": ("tesla", _cue(r"MRI|magnet\w*|scanner")),
}
_ENGINE: Final = re.compile(r" (?:[VIWH]\d|inline|straight|flat|turbo\w*|diesel|petrol|hybrid|engine|[A-Z][a-z]+[A-Z])")
_SEATS: Final = frozenset(
    "apartment apt bay block bus exit flat gate grid hall lane lot pier platform road room route row runway seat "
    "section stall stand suite door deck floor cell terminal track unit".split()
)
_POWERS: Final = {"²": "square", "2": "square", "^2": "square", "³": "cubic", "3": "cubic", "^3": "cubic"}
_PREFIXES: Final = {"sq": "square", "cu": "cubic", "fl": "fluid", "lin": "linear"}
# What "3m" of can only be millions.
_MULTITUDES: Final = frozenset(
    "people users customers followers views viewers subscribers visitors homes jobs copies downloads votes".split()
)
_OF_CROWDS: Final = frozenset("are died face fled had have lack live lost need remain voted watched were".split())
_STOP: Final = re.compile(r"\.(?:\s+[A-Z\d]|\s*\Z)")
_IN_METERS: Final = frozenset("waves walls ceilings hurdles sprints strides boards ropes poles".split())
_SCORING: Final = frozenset("bonus deduction each extra for if lead off per question rise".split())
_PAPERS: Final = frozenset("book booklet brief doc document essay paper pdf report".split())
_LOOKALIKES: Final = str.maketrans("\u03bc\u2126", "\u00b5\u03a9")
# The same measure in two systems, with a slash between: "23 kg/50 lb".
_SAME: Final = (
    frozenset(("kg", "g", "lb", "lbs", "oz")),
    frozenset(("m", "cm", "mm", "km", "ft", "in", "mi", "yd")),
    frozenset(("ml", "mL", "l", "L", "gal", "oz", "qt", "pt")),
    frozenset(("kg", "lb", "lbs", "cm", "in", "ft")),
)
_POWERED: Final = frozenset(("mm", "cm", "dm", "m", "km", "in", "ft", "yd", "mi"))

_SYMBOL: Final = r"(?P<{0}>[A-Za-z\u00b5\u03bc\u03a9\u2126]{{1,6}}+)(?P<{0}_power>[²³]|\^?[23](?!\d))?"
_MINUS: Final = r"(?P<minus>(?<!\w)[-–])?"
_RANGE: Final = rf"{_MINUS}(?P<amount>{AMOUNT})(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END}"
_MEASURE: Final = re.compile(
    rf"{NUMBER_START}{_RANGE}(?P<more>\+)?(?P<scale> (?:hundred|thousand|million|billion|trillion)(?= ))?(?P<gap>[ -]?)"
    rf"(?:(?P<prefix>sq|cu|fl|lin)(?:\.[ -]?|[ -]))?{_SYMBOL.format('unit')}"
    rf"(?:\.?/(?:(?P<each>\d{{1,4}}(?:\.\d{{1,2}})?) ?)?{_SYMBOL.format('per')})?"
    r"(?:[·⋅*]?(?P<kelvin>K)(?!\w))?"
    r"(?P<dot>\.(?:(?= [a-z(=+@&]| [A-Z]{2,4} [a-z]|-[a-z]|[,;)]|[-–]\d| [NESW]{1,3} of\b"
    r"| \d+(?:[./]\d+)? ?(?:in|oz|mins?|secs?|cm)\b)|(?<=-[a-z]{2}\.)(?= )))?+(?!\w|'\w)"
)
_RATE: Final = re.compile(
    r"(?P<left>\d[x×]?|[⁰¹²³⁴⁵⁶⁷⁸⁹]|\b[A-Za-z]{3,}|(?<=[a-z]s )[A-Z][a-z]?)/"
    r"(?:(?P<each>\d{1,4}(?:\.\d{1,2})?) ?)?(?P<per>[A-Za-z\u00b5\u03bc]{1,3}+)"
    r"(?!\w|['/]\w)(?:\.(?=[),;]| [a-z(]))?"
)
_NAMES: Final = frozenset(UNITS.values())
_DISSOLVED: Final = re.compile(r"(?:grams?|liters?|(?:tea|table)spoons?|ounces?|pounds?) (?:of )?\Z")
_POWERED_UNIT: Final = re.compile(rf"(?<=[⁰¹²³⁴⁵⁶⁷⁸⁹]) {_SYMBOL.format('unit')}(?:/{_SYMBOL.format('per')})?(?!\w|'\w)")
_SIDES_OF_BOX: Final = re.compile(r"(?<=\d) ?[\"″] ?(?P<side>[WDHL])(?!\w)")
_SIDE_NAMES: Final = {"W": "wide", "D": "deep", "H": "high", "L": "long"}
_BY: Final = re.compile(r"(?<=wide|deep|high|long) ?[x×] ?(?=\d)")
_WIND: Final = re.compile(r"(?:(?<=\b[Ww]ind )|(?<=\b[Ww]inds ))(?P<from>[NSEW]{1,3})(?= (?:\d|at\b))")
_WINDS: Final = {"N": "north", "S": "south", "E": "east", "W": "west"}
_INVERSE: Final = re.compile(
    r"(?<=[A-Za-z\d⁰¹²³⁴⁵⁶⁷⁸⁹])[ ·⋅](?P<unit>s|m|min|h|yr|mol|kg|g|L|mL|K|M)⁻(?P<power>[¹²])(?![\w⁰¹²³⁴⁵⁶⁷⁸⁹])"
)
_UNIT_PRODUCT: Final = re.compile(r"(?<=[\d⁰¹²³⁴⁵⁶⁷⁸⁹])(?P<gap> ?)(?P<first>[NJWV]|kg)[·⋅∙*-](?P<last>[smhA])(?!\w)")
_PRODUCT_SIGN: Final = re.compile("[·⋅∙]|N[*-]m")
_TORQUE: Final = re.compile(r"(?<=\d) ?(?P<first>lb|ft|in)[-–·⋅ ]?(?P<last>ft|lb)[fs]?\b(?:\.(?= [a-z(]|[,;)]))?(?!\w)")
_HOURS_MINUTES: Final = re.compile(
    r"(?<![\w.,:])(?P<hours>\d{1,3}) ?(?:h|hrs?\.?) ?(?P<minutes>[0-5]?\d)"
    rf"(?: ?(?:m|mins?)(?:\.(?= [a-z]|[,;)]))?)?{ITEM_END}"
)
_TALL: Final = re.compile(r"(?<![\w.,])(?P<feet>[4-7]) ?ft\.? (?P<inches>\d|1[01])(?=[,;.)]|$| [a-z])(?! ?(?:in|x)\b)")
_DAYS_HOURS: Final = re.compile(r"(?<![\w.,:])(?P<days>\d{1,4}) ?d,? ?(?=\d{1,2} ?h)")
_DAYS: Final = re.compile(r"\d ?d(?![a-z])")
_WEEKS_DAYS: Final = re.compile(r"(?<![\w.,:])(?P<weeks>\d{1,2}) ?w(?:k|ks)? ?\+? ?(?P<days>[0-6]) ?d(?!\w)")
_LED_DEGREES: Final = re.compile(r"(?<![\w.])(?P<side>[NSEW]) ?(?=\d{1,3}(?:\.\d{1,6})?°)")
_MINUTES_SECONDS: Final = re.compile(
    r"(?<![\w.,:])(?P<minutes>\d{1,3}) ?m(?:ins?)? ?(?P<seconds>[0-5]?\d(?:\.\d{1,3})?) ?s(?:ecs?)?(?![\w])"
)
_AGED: Final = re.compile(r"(?<![\w.,])(?P<amount>\d{1,3})[ -]?(?:y/o|yo|y\.o\.?)(?P<many>s)?(?![\w])")
_OWNERS_OF_CHILDREN: Final = frozenset("a an another any each every her his my our that the their this your".split())
_PATIENTS: Final = frozenset("F M male female man woman boy girl patient pt gentleman lady infant child".split())
_DEGREES: Final = re.compile(
    rf"{NUMBER_START}{_MINUS}(?P<amount>(?:\d{{1,3}} )?[1-7]/[248](?!\d)|{NUMBER})(?: ?°[CF]?)?(?:{DASH}"
    rf"(?P<upto>-?{NUMBER}))?{NUMBER_END}"
    r" ?(?:°(?: ?(?P<letter>[CFKcf](?![A-Za-z]))| ?(?P<side>[NESW](?![A-Za-z])))?|(?P<sign>[℃℉]))"
)
# Without the degree sign: a decimal that thermometers show, or any figure where a temperature is told of.
_LONE_DEGREES: Final = re.compile(r"(?<![\d ])°(?P<letter>[CF])(?!\w)|(?<=[a-z(] )°(?P<other>[CF])(?!\w)")
_BARE_DEGREES: Final = re.compile(
    rf"{NUMBER_START}{_MINUS}(?P<amount>\d{{1,3}}(?P<decimals>\.\d)?)(?:[-–](?P<upto>\d{{1,3}}))?(?P<sign>) ?"
    rf"(?P<letter>[CFcf])"
    r"(?!\w|['’.-]\w)"
)
_THERMAL: Final = re.compile(
    r"\b(?:temp|temps|temperatures?|fever|weather|highs?|lows?|oven|bake[ds]?|preheat|heat(?:ed)?|boil(?:s|ed)?"
    r"|freez\w+|rain|showers?|sun(?:ny|shine)?|pollen|UV|winds?|"
    r"degrees|cool(?:ed)?|warm(?:ed)?|hot|cold|outside|feels like)\b",
    re.IGNORECASE,
)
_NEAR: Final = 40
_SCALES: Final = {"C": "Celsius", "F": "Fahrenheit", "K": "Kelvin", "℃": "Celsius", "℉": "Fahrenheit"}
_PERCENT: Final = re.compile(
    rf"{NUMBER_START}{_MINUS}(?P<amount>{AMOUNT})(?: ?%)?(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END} ?(?P<sign>[%‰])"
)
_PRESSURE: Final = re.compile(r"(?<![\w./-])(?P<top>\d{2,3})/(?P<bottom>\d{2,3})(?P<unit> ?mmHg)?(?![\w/]|[.,]\d)")
_PRESSURE_CUE: Final = re.compile(r"\b(?:BP|bp|blood pressure|pressure)\b")
_HEIGHT: Final = re.compile(
    r"(?<![\w.,])(?P<feet>\d{1,2}) ?(?:['’′]|ft\.?) ?(?P<inches>\d{1,2}(?: [1-7]/[248]|\.\d{1,2})?)"
    r" ?(?:[\"”″]|''|’’|in\b(?:\.(?=[,;)]| [a-z]))?)"
)
_FEET: Final = re.compile(
    rf"{NUMBER_START}(?P<amount>{NUMBER})"
    r"(?:′|['’](?= (?:tall|high|wide|long|deep|by|x|"
    r"beams?|boards?|cable|ceilings?|cord|hose|rope|rug|tree|walls?|of|above|below|elevation|drop|"
    r"gain|climb|summit|peak|cliff|ladder|boat|fence|wall|pool|tree)\b)|(?<=,\d\d\d)['’](?!\w))"
)
_DEEP: Final = re.compile(rf"{NUMBER_START}(?P<amount>{NUMBER})(?:{DASH}(?P<upto>{NUMBER}))?['’](?=[\s,;).]|$)(?! ?\d)")
_WATER: Final = _cue("crest(?:s|ed|ing)?|draft|flood|river|seas|snow|stage|surf|swells?|tides?|visibility|waves?")
_SIDE: Final = re.compile(rf"(?<=by )(?P<amount>{NUMBER})['’′](?!\w| ?\d)")
_INCHES: Final = re.compile(
    rf"{NUMBER_START}(?P<amount>{AMOUNT})(?:{DASH}(?P<upto>{NUMBER}))?(?:″|\"(?= [A-Za-z\d±]|[.,;)/-]|$))"
)
_QUOTE: Final = re.compile(r"(?P<digit>(?<=\d))?\"")
_ARC: Final = re.compile(
    r"(?<![\w.,])(?P<degrees>\d{1,3})° ?(?P<minutes>\d{1,2})['’′](?: ?(?P<seconds>\d{1,2}(?:\.\d++)?)(?:[\"”″]|''))?"
    r"(?: ?(?P<side>[NSEW])(?![A-Za-z]))?"
)
_SPOONS: Final = re.compile(
    rf"{NUMBER_START}(?P<amount>{AMOUNT})(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END} ?(?P<unit>[Tt])\.?"
    r"(?= (?:[a-z]{3}|at a time))"
)
_COOKING: Final = re.compile(
    r"\b(?:cups?|tsp|tbsp|[Aa]dd|[Mm]ix|[Ss]tir|[Bb]utter|[Ss]ugar|[Ff]lour|[Ss]alt|oil|[Ww]hisk|[Bb]ake|[Bb]lend"
    r"|vanilla|nutmeg|"
    r"sauce|ginger|garlic|pepper|vinegar|cinnamon|honey|noodles|eggs?|yeast)\b"
)
_BEHIND_LENGTH: Final = NOT_NOUNS | frozenset(
    "across ahead clear deep diameter farther further high larger longer no o per plus proud square shorter "
    "smaller thick total wider x".split()
)
_SIZE: Final = re.compile(r"\b[Aa]n? [\d.]+[\"″]? by (?:[\d.]+[\"″]? by )?$")
_BY_MORE: Final = re.compile(r"(?: by [\d. /-]{1,10}[\"″]){1,2}(?: (?P<noun>[a-z]{2,24}))?")
_SHOE: Final = re.compile(r"\b(?:[Ss]ize|[Ss]z|[Ww]idth)\b\.? \Z")
_PER_UNIT: Final = re.compile(
    rf"(?<=\b[Pp]er )(?:(?P<prefix>sq|cu)\.? ?)?(?P<unit>{any_of(symbol for symbol in UNITS if len(symbol) > 1)})"
    r"(?!\w|['.]\w)(?:\.(?= [a-z(]|[,;)]))?"
)
_FRACTION_SPAN: Final = re.compile(
    r"(?:(?<=\d/\d)|(?<=\d/\d\d)) ?[-–] ?(?=\d{1,2}(?: \d{1,2})?/\d)"
    r"|(?<![\d.,/$€£-]\d)(?<=(?<![\w.,/$€£-])\d) ?[-–] ?(?=\d{1,2} [1-7]/[2-8](?![\d/]))"
)
_BODY: Final = re.compile(r"/1\.73 ?m[²2](?!\w)")
_SIDES: Final = {"N": "north", "S": "south", "E": "east", "W": "west"}


def read(text: TrackedText) -> TrackedText:
    """Coordinates, heights, temperatures, percentages and measures with a unit symbol."""
    text = _measures(_degrees_and_sides(_parts(text)))
    return text.sub(_RATE, _rate) if "/" in text.text else text


def read_prices(text: TrackedText) -> TrackedText:
    """The thing that a price is for, which needs no figure beside it: "per kWh"."""
    return text.sub(_PER_UNIT, _per_unit) if "per " in text.text else text


def _parts(text: TrackedText) -> TrackedText:
    """Units with powers, and times of several units."""
    if "⁻" in text.text:
        text = text.sub(_INVERSE, lambda match: f"/{match['unit']}{'²' if match['power'] == '²' else ''}")
    if _PRODUCT_SIGN.search(text.text):
        text = text.sub(_UNIT_PRODUCT, r"\g<gap>\g<first>\g<last>")
    if _DAYS.search(text.text):
        text = text.sub(_DAYS_HOURS, lambda match: f"{_counted_days(match['days'])} ").sub(_WEEKS_DAYS, _weeks_days)
    if "/" in text.text:
        text = text.sub(_BODY, " per one point seven three square meters").sub(_FRACTION_SPAN, " to ")
    return (
        text.sub(_AGED, _aged)
        .sub(_HOURS_MINUTES, _hours_minutes)
        .sub(_MINUTES_SECONDS, _minutes_seconds)
        .sub(_POWERED_UNIT, _powered_unit)
    )


def _degrees_and_sides(text: TrackedText) -> TrackedText:
    if "ind" in text.text:
        text = text.sub(_WIND, lambda match: " ".join(_WINDS[letter] for letter in match["from"]))
    if '"' in text.text or "″" in text.text:
        text = text.sub(_SIDES_OF_BOX, lambda match: f" inches {_SIDE_NAMES[match['side']]}").sub(_BY, " by ")
    if "°" in text.text:
        text = text.sub(_LED_DEGREES, lambda match: f"{_SIDES[match['side']]} ")
        text = text.sub(_LONE_DEGREES, lambda match: f"degrees {_SCALES[match['letter'] or match['other']]}")
    if _COOKING.search(text.text):
        text = text.sub(_SPOONS, _spoons)
    text = (
        text.sub(_ARC, _arc).sub(_HEIGHT, _height).sub(_TALL, _height).sub(_DEGREES, _degrees).sub(_PERCENT, _percent)
    )
    return text.sub(_BARE_DEGREES, _bare_degrees)


def _measures(text: TrackedText) -> TrackedText:
    if "/" in text.text:
        text = text.sub(_PRESSURE, _pressure)
    if "'" in text.text or "’" in text.text or "′" in text.text:
        text = text.sub(_SIDE, _side)
        text = text.sub(_DEEP, _deep) if _WATER.search(text.text) else text
    text = text.sub(_FEET, _feet).sub(_INCHES, _inches)
    if "lb" in text.text:
        text = text.sub(_TORQUE, _torque)
    return text.sub(_MEASURE, _measure)


def _per_unit(match: re.Match[str]) -> str | None:
    """ "per kWh", "per sq ft"."""
    if match["unit"] in ("in", "cap", "tab", "min", "mo"):
        return {"min": "minute", "mo": "month"}.get(match["unit"])
    return f"{_PREFIXES.get(match['prefix'] or '', '')} {_unit(match['unit'])}".strip()


def _aged(match: re.Match[str]) -> str:
    """ "58 y/o F": before whom it describes, the year stays singular."""
    if word_after(match).rstrip(".") in _PATIENTS or word_before(match).lower() in _OWNERS_OF_CHILDREN:
        return f"{cardinal(match['amount'])} year old"
    if match["many"]:
        return f"{cardinal(match['amount'])} year olds"
    return _counted(match, "year", "old")


def _feet(match: re.Match[str]) -> str:
    return f"{number(match['amount'])} foot" if is_plural(word_after(match)) else _counted(match, "foot")


def _deep(match: re.Match[str]) -> str | None:
    return _counted(match, "foot") if _WATER.search(_around(match)) else None


def _side(match: re.Match[str]) -> str:
    """The second side in feet: "5' by 8'"."""
    attribute = word_after(match).islower() and word_after(match) not in NOT_NOUNS
    return f"{number(match['amount'])} {'foot' if attribute else 'feet'}"


def _torque(match: re.Match[str]) -> str | None:
    words = {"lb": "pound", "ft": "foot", "in": "inch"}
    if (match["last"] == "lb") == (match["first"] == "lb"):
        return None
    return f" {words[match['first']]} {_plural(words[match['last']])}"


def _spoons(match: re.Match[str]) -> str:
    """A recipe's "2 T sugar" and "1/4 t salt"."""
    return _counted(match, "tablespoon" if match["unit"] == "T" else "teaspoon")


def _unit(symbol: str) -> str | None:
    """The name of a unit, written as it should be or with other capitals."""
    symbol = symbol.translate(_LOOKALIKES)
    return UNITS.get(symbol) or AS_TYPED.get(symbol.lower())


def _measure(match: re.Match[str]) -> str | None:
    symbol = match["unit"].translate(_LOOKALIKES)
    if match["per"] == "p" or _is_letter(match, symbol):
        return None
    rate = _rate_name(match, symbol)
    if rate and not match["per"]:
        return _two_readings(match, *rate) if "/" in match["amount"] and symbol in _PAIRED else _counted(match, *rate)
    if symbol == "m" and _is_million(match):
        return f"{number(match['amount'])} million"
    unit = _unit_name(match, symbol)
    if unit == "hertz" and "/" in match["amount"]:
        return _two_readings(match, unit, "")
    if unit is None or _is_preposition(match) or (symbol in ("cap", "tab") and not match["dot"]):
        return None
    qualifier = _PREFIXES.get(match["prefix"] or "") or _power(match, "unit")
    if qualifier is None:
        return None
    return _counted(match, f"{qualifier} {unit}".strip(), _per(match))


def _around(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - _NEAR) : match.end() + _NEAR]


def _is_letter(match: re.Match[str], symbol: str) -> bool:
    """Return whether a symbol is a letter of a name: of a seat, or of nothing that its unit measures."""
    if symbol in _SHOWN and match["per"] not in UNITS and _SHOWN[symbol][1].search(_around(match)) is None:
        return True
    if symbol in "ABDEMW" and _SHOE.search(match.string, max(0, match.start() - 8), match.start()):
        return True
    if len(symbol) == 1 and symbol.isupper() and word_after(match) in ("St", "Ave", "Street", "Avenue"):
        return True
    if symbol == "L" and _is_lost_or_level(match):
        return True
    if symbol == "g" and match["gap"]:
        return _GRAVITY.search(_around(match)) is not None
    if (
        symbol == "BPs"
        or (symbol in _BINARY and match["gap"])
        or (symbol == "m" and _CPU.search(match.string, max(0, match.start() - 8), match.start()))
    ):
        return True
    if symbol == "HP":
        return _GAME.search(_around(match)) is not None
    if len(symbol) > 1 or symbol.islower() or match["gap"]:
        return False
    before = word_before(match)
    return before.lower().rstrip(".") in _SEATS or (before.isupper() and len(before) > 1 and symbol == "L")


def _is_lost_or_level(match: re.Match[str]) -> bool:
    """Return whether "L" stands for a loss behind its score, or for how hard a text is: "41-33 L", "lexile 820L"."""
    lost = match["upto"] is not None and float(match["upto"].replace(",", "")) < float(match["amount"].replace(",", ""))
    return lost or word_before(match).lower().rstrip(":") in ("lexile", "lexiles", "ar")


def _rate_name(match: re.Match[str], symbol: str) -> tuple[str, str] | None:
    if symbol in ("bp", "bps") and _is_basis_points(match):
        return ("base pair" if symbol == "bp" and _GENE.search(_around(match)) else "basis point", "")
    return RATES.get(symbol) or RATES_AS_TYPED.get(symbol.lower())


def _unit_name(match: re.Match[str], symbol: str) -> str | None:
    """The name of the unit, where its neighbours decide between two."""
    abbreviated = match["gap"] == " " and match["dot"]
    if symbol == "mb" and _WEATHER.search(_around(match)):
        return "millibar"
    if symbol in _SHOWN:
        return _SHOWN[symbol][0]
    if symbol == "cd" and match["per"]:
        return "candela"
    if symbol == "d" and match["per"] in ("yr", "wk", "mo"):
        return "day"
    if symbol == "c" and abbreviated:
        return "cup"
    if symbol == "pt" and abbreviated and word_after(match) not in _SCORING:
        return "pint"
    return "page" if symbol == "pg" and _counts_pages(match) else _unit(symbol)


def _two_readings(match: re.Match[str], unit: str, rest: str) -> str:
    """Blood pressure, or what a car needs in town and on the road."""
    first, _, last = match["amount"].partition("/")
    return f"{number(first)}{' over' if unit == 'millimeter' else ','} {number(last)} {_plural(unit)} {rest}".rstrip()


def _is_basis_points(match: re.Match[str]) -> bool:
    """Return whether "25 bps" are hundredths of a percent: small figures are, unless data flow near them."""
    amounts = match["amount"].replace(",", "")
    return "/" not in amounts and float(amounts) < _BASIS_POINTS and _OF_DATA.search(_around(match)) is None


def _counts_pages(match: re.Match[str]) -> bool:
    """Return whether "pg" are pages and not picograms: of a paper, or shortened with a stop or behind a hyphen."""
    return not match["per"] and (match["gap"] == "-" or bool(match["dot"]) or word_after(match) in _PAPERS)


def _counted_days(days: str) -> str:
    return f"{cardinal(str(int(days)))} day{'' if int(days) == 1 else 's'}"


def _weeks_days(match: re.Match[str]) -> str:
    """The weeks and days of a pregnancy: "38w4d"."""
    weeks = f"{cardinal(match['weeks'])} week{'' if match['weeks'] == '1' else 's'}"
    return f"{weeks} {_counted_days(match['days'])}" if match["days"] != "0" else weeks


def _hours_minutes(match: re.Match[str]) -> str:
    hours, minutes = match["hours"], str(int(match["minutes"]))
    first = f"{cardinal(str(int(hours)))} hour{'' if int(hours) == 1 else 's'}"
    return f"{first} {cardinal(minutes)} minute{'' if minutes == '1' else 's'}"


def _minutes_seconds(match: re.Match[str]) -> str:
    minutes, seconds = match["minutes"], match["seconds"]
    first = f"{cardinal(str(int(minutes)))} minute{'' if int(minutes) == 1 else 's'}"
    return f"{first} {number(seconds)} second{'' if seconds == '1' else 's'}"


def _powered_unit(match: re.Match[str]) -> str | None:
    """The unit behind a power of ten: "3×10⁸ m/s"."""
    unit = _unit(match["unit"])
    qualifier = _power(match, "unit")
    if (
        unit is None
        or qualifier is None
        or match["unit"] == "in"
        or (len(match["unit"]) == 1 and match["per"] is None and match["unit"] == "s")
    ):
        return None
    return " " + f"{f'{qualifier} {_plural(unit)}'.strip()} {_per(match)}".rstrip()


def _is_million(match: re.Match[str]) -> bool:
    """Return whether "3m" counts the words behind it: people, or any plural behind a figure that no length has."""
    following = word_after(match)
    near = match.string[max(0, match.start() - _NEAR) : match.start()]
    if (
        following in _MULTITUDES
        or "opulation" in near
        or "pop." in near
        or (not match["gap"] and (following in _OF_CROWDS or "million" in near))
    ):
        return True
    return not match["gap"] and "." in match["amount"] and is_plural(following) and following not in _IN_METERS


def _is_preposition(match: re.Match[str]) -> bool:
    """Return whether "5 in" is the word "in" and not inches: it is, unless something shows the measure."""
    if match["unit"] == "in" and match.string.startswith("-", match.end()):
        return True
    ends = _STOP.match(match.string, match.end())
    shown = match["gap"] != " " or match["dot"] or match["prefix"] or match["unit_power"] or ends
    return match["unit"] == "in" and not shown and not match.string.startswith((" x ", " × ", " = "), match.end())


def _power(match: re.Match[str], name: str) -> str | None:
    """ "square" or "cubic", empty without a power, None where the unit cannot have one."""
    if match[f"{name}_power"] is None:
        return ""
    return _POWERS[match[f"{name}_power"]] if match[name] in _POWERED else None


def _per(match: re.Match[str]) -> str:
    if match["per"] is None:
        return ""
    symbol = match["per"]
    kelvin = " kelvin" if match.groupdict().get("kelvin") else ""
    if len(symbol) > 1 and symbol.endswith("K") and symbol[:-1] in UNITS:
        symbol, kelvin = symbol[:-1], " kelvin"
    shown = ("day",) if symbol == "d" else _SHOWN.get(symbol)
    name = shown[0] if shown else _unit(symbol) or UNITS.get(symbol.lower(), symbol)
    power = match["per_power"]
    each = match.groupdict().get("each")
    if each and (match["per"] not in _PER_SEVERAL or any({match["unit"], match["per"]} <= pair for pair in _SAME)):
        return f", {number(each)} {name if is_one(each) or is_adjective(match) else _plural(name)}"
    if each:
        return _per_several(each, match["per"])
    if power is None:
        return f"per {name}{kelvin}"
    word = _POWERS[power]
    if match["per"] in _POWERED:
        return f"per {word} {name}{kelvin}"
    return f"per {name} {'squared' if word == 'square' else 'cubed'}"


def _per_several(each: str, symbol: str) -> str:
    """ "per five milliliters", "per hundred kilometers"."""
    name = "day" if symbol == "d" else _unit(symbol) or symbol
    if is_one(each):
        return f"per {name}"
    figure = number(each)
    return f"per {figure.removeprefix('one ') if figure.startswith('one hundred') else figure} {_plural(name)}"


def _counted(match: re.Match[str], unit: str, rest: str = "") -> str:
    """The number, and the unit in the number that agrees with it."""
    groups = match.groupdict()
    words = ["minus"] if groups.get("minus") else []
    first, upto, scale = match["amount"], groups.get("upto"), groups.get("scale")
    if "/" in first and " " not in first and "-" not in first and not upto:
        if _is_pair(first):
            return " ".join((*words, first.replace("/", ", "), _plural(unit), rest)).rstrip()
        before_noun = groups.get("gap") == "-" or is_plural(word_after(match))
        words += [amount(first).removeprefix("one half") or "half", unit] if before_noun else _part_of(first, unit)
    else:
        words.append("fifteen hundred" if first == "1500" and unit == "meter" else amount(first))
        if upto:
            words += ("to", number(upto))
        if groups.get("more"):
            words.append("plus")
        if scale:
            words.append(scale.strip())
        engine = unit == "liter" and _ENGINE.match(match.string, match.end()) is not None
        attribute = not _is_typed_plural(match) and (
            engine
            or groups.get("gap") == "-"
            or is_adjective(match)
            or _is_before_figure(match)
            or _is_size_before_noun(match)
            or (unit in ("amp", "volt", "watt") and word_after(match)[1:2].isupper())
        )
        single = (is_one(first) and not upto and not scale and not groups.get("more")) or attribute
        words.append(unit if single else _plural(unit))
    return " ".join((*words, rest)).rstrip()


def _is_typed_plural(match: re.Match[str]) -> bool:
    """Return whether a unit is written as a plural without an article before it: "5 mins walk"."""
    groups = match.groupdict()
    plural = groups.get("unit") in _TYPED_PLURALS and groups.get("gap") != "-"
    return plural and word_before(match).lower() not in ("a", "an", "the", "each", "every", "per")


def _is_pair(fraction: str) -> bool:
    """Return whether a stroke parts two figures and no fraction's: "500/20 Mbps"."""
    top, _, bottom = fraction.partition("/")
    return len(top) > 1 and (int(top) > int(bottom) or int(bottom) not in _USUAL_PARTS)


def _is_before_figure(match: re.Match[str]) -> bool:
    """Return whether a measure is of what another one names: "a 9.58s 100m dash"."""
    if word_before(match) not in ("a", "A", "an", "An"):
        return False
    following = match.string[match.end() : match.end() + 3].lstrip(" ,")[:1]
    listed = match.string.startswith(", ", match.end())
    return following.isdigit() if listed else following.isdigit() or following in ("(", "±")


def _is_size_before_noun(match: re.Match[str]) -> bool:
    """Return whether a measure is the size of what follows: "a 3.5 by 2 cm mass", "12oz cans"."""
    following = word_after(match)
    if match.groupdict().get("gap") == "" and is_plural(following):
        return True
    return following.islower() and _SIZE.search(match.string[max(0, match.start() - _NEAR) : match.start()]) is not None


def _part_of(fraction: str, unit: str) -> list[str]:
    article = "an" if unit[0] in "aeio" or unit == "hour" else "a"
    bottom = fraction.partition("/")[2]
    if fraction.startswith("1/") and len(bottom) > 2:
        return [f"one {ordinal(bottom).removeprefix('one ')} of", article, unit]
    if fraction.startswith("1/"):
        return ["half", article, unit] if fraction == "1/2" else [amount(fraction), unit]
    return [f"{amount(fraction)} of", article, unit]


def _plural(unit: str) -> str:
    head, space, last = unit.rpartition(" ")
    return head + space + (last if last.endswith("hertz") else PLURALS.get(last, last + "s"))


def _rate(match: re.Match[str]) -> str | None:
    """ "60/min", "10⁹/L", "tokens/s": only units that something is counted by, behind a figure or a longer word."""
    if match["per"].translate(_LOOKALIKES) not in _PER_ALONE:
        return None
    doubtful = match["left"].isalpha() and match["left"] != "percent" and match["per"] in ("L", "h")
    if doubtful and not (match["each"] or match["left"] in _NAMES or _DISSOLVED.search(match.string, 0, match.start())):
        return None
    if match["each"]:
        return None if match["left"].isdigit() else f"{match['left']} {_per_several(match['each'], match['per'])}"
    return f"{match['left']} per {'day' if match['per'] == 'd' else _unit(match['per'])}"


def _bare_degrees(match: re.Match[str]) -> str | None:
    if match["letter"].islower() and not match["decimals"]:
        return None
    near = match.string[max(0, match.start() - _NEAR) : match.end() + (_NEAR if match["upto"] else 0)]
    shown = (match["decimals"] or match["minus"]) and match["letter"] in "cCF"
    if not shown and _THERMAL.search(near) is None:
        return None
    return _degrees(match)


def _pressure(match: re.Match[str]) -> str | None:
    """Blood pressure: the two figures of a reading, where it is told of."""
    top, bottom = int(match["top"]), int(match["bottom"])
    near = match.string[max(0, match.start() - _NEAR) : match.start()]
    if not (60 <= top <= 260 and 30 <= bottom < top) or _PRESSURE_CUE.search(near) is None:
        return None
    unit = " millimeters of mercury" if match["unit"] else ""
    return f"{code(match['top'])} over {cardinal(match['bottom'])}{unit}"


def _degrees(match: re.Match[str]) -> str:
    letter = match["letter"] or match["sign"] or ""
    upto = match["upto"] or ""
    words = ["minus"] if match["minus"] else []
    words.append(amount(match["amount"]))
    if upto:
        words += ("to minus" if upto[0] == "-" else "to", number(upto.lstrip("-")))
    one = is_one(match["amount"]) and not upto and not match.string.endswith(" to ", 0, match.start())
    single = one or is_adjective(match)
    side = _SIDES.get(match.groupdict().get("side") or "", "")
    words += ("degree" if single else "degrees", _SCALES.get(letter.upper(), side))
    return " ".join(words).rstrip()


def _percent(match: re.Match[str]) -> str:
    words = ["minus"] if match["minus"] else []
    words.append(amount(match["amount"]))
    if match["upto"]:
        words += ("to", number(match["upto"]))
    return " ".join((*words, "percent" if match["sign"] == "%" else "per mille"))


def _height(match: re.Match[str]) -> str:
    return f"{cardinal(match['feet'])} foot {amount(match['inches'])}"


def _inches(match: re.Match[str]) -> str | None:
    """Inches, unless the straight quote closes a quotation that began earlier on."""
    before = match.string[max(0, match.start() - 200) : match.start()].rpartition("\n")[2]
    if match.group().endswith('"') and _is_quoting(before):
        return None
    more = _BY_MORE.match(match.string, match.end())
    if more and (
        is_plural(more["noun"] or "") or _SIZE.search(match.string, max(0, match.start() - _NEAR), match.end() + 4)
    ):
        return f"{amount(match['amount'])} inch"
    named = match.string[match.end() + 1 : match.end() + 2].isdigit() or word_after(match)[:1].isupper()
    side = match.string.endswith(" by ", 0, match.start())
    named = named or (("/" in match["amount"] or side) and is_plural(word_after(match)))
    following = word_after(match)
    named = named or (
        following.islower() and following not in _BEHIND_LENGTH and not following.endswith(("er", "ly", "ing", "ed"))
    )
    return f"{amount(match['amount'])} inch" if named and not match["upto"] else _counted(match, "inch")


def _is_quoting(before: str) -> bool:
    """Return whether a straight quote is open; one behind a figure closes it, or else stands for inches."""
    opened = False
    for mark in _QUOTE.finditer(before):
        opened = not opened and mark["digit"] is None
    return opened


def _arc(match: re.Match[str]) -> str:
    degrees, minutes, seconds = match["degrees"], match["minutes"], match["seconds"]
    words = [cardinal(degrees), "degree" if is_one(degrees) else "degrees"]
    words += [cardinal(minutes), "minute" if is_one(minutes) else "minutes"]
    if seconds:
        words += [number(seconds), "second" if is_one(seconds) else "seconds"]
    return " ".join((*words, _SIDES.get(match["side"] or "", ""))).rstrip()
