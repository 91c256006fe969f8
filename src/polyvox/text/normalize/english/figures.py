"""Plain figures: decades, ordinals, fractions, ranges, years, and how many."""

import re
from typing import Final

from polyvox.text.normalize.english.calendar.month_days import COUNTED_PARTS
from polyvox.text.normalize.english.context import ends_sentence, is_plural, word_after, word_before
from polyvox.text.normalize.english.numbers import (
    DASH,
    NUMBER,
    NUMBER_END,
    NUMBER_START,
    TENS,
    amount,
    cardinal,
    code,
    fraction,
    number,
    ordinal,
    spelled,
    two_digits,
    year,
)
from polyvox.text.tracked import TrackedText

_DECADE: Final = re.compile(r"(?:(?<=[a-z])-|(?<![\w.,$-]))(?P<century>1\d|20)(?P<tens>\d)0['’]?s\b")
_DECADES: Final = re.compile(r"(?<=\d0s)(?: ?[-–—] ?)(?=['’]?\d0s\b)|(?<=\d0s)(?: (?:and|or|to) )(?=\d0s\b)")
_SHORT_DECADE: Final = re.compile(r"(?:(?<=\bmid)-|(?<![\w.,$'’-])(?P<mark>['’])?)(?P<tens>[2-9])0['’]?s\b")
# What a bond of ten years yields above one of two: "2s10s".
_BONDS: Final = re.compile(
    r"(?<![\w.$€£-])(?P<years>2|3|5|7|10|20|30)s(?=,? (?:at |to |yield(?:ing|ed)? )?\d\.\d{1,3}%)"
)
_AGES: Final = re.compile(
    r"(?P<lead>\b(?:for|aged|ages|among|of|the|by) )(?P<first>\d{1,2})[-–](?P<last>\d{1,2})s(?!\w)"
)
_WINNERS: Final = re.compile(r"(?<![\w.-])1[-–]2(?P<third>[-–]3)?(?= (?:came|combo|finish|punch|result|sweep)\b)")
_YEARS_OF_SCHOOL: Final = re.compile(r"(?P<lead>\b(?:Years?|year|Form|Grade|Group) )(?P<year>\d{1,2})s(?!\w)")
_SPREAD: Final = re.compile(r"(?<![\w.])(?P<short>[2357])s/?(?P<long>5|7|10|20|30)s(?!\w)")
_FIGURES_PLURAL: Final = re.compile(r"\ds\b")
_PRESSURES: Final = re.compile(r"(?<![\w.])(?P<top>1\d|2[0-2]|[89])0s/(?P<bottom>1[0-3]|[4-9])0s(?!\w)")
_TENS_BESIDE: Final = re.compile(
    r"(?P<lead>\b(?:the|low|mid|high|upper|lower|HR|FHR|BP|SBP|DBP|[Ss]ystolics?)[ -])"
    r"(?P<hundreds>[1-9])(?P<tens>\d)0s(?!\w)"
)
# Those whom guests bring along.
_GUESTS: Final = re.compile(
    r"(?:(?<=\b(?:any|our|all|the|and|two) )|(?<=\b(?:your|with|four|five) )|(?<=\bno )|(?<=[,&] ))\+1s(?!\w)"
)
_SHORT_YEAR: Final = re.compile(r"(?<![\w.,])['’](\d\d)(?![\w'’]|\.\d)")
_ERA_TO_ERA: Final = re.compile(
    r"(?:(?<=\d BC)|(?<=\d AD)|(?<=\d CE)|(?<=\d BCE)|(?<=\dBC)|(?<=\dAD))(?: ?[-–—] ?)(?=(?:AD|CE)? ?\d)"
)
_ERA: Final = re.compile(
    rf"{NUMBER_START}(\d{{1,4}})(?:{DASH}(\d{{1,4}}))? ?(BCE?|CE|AD|B\.C\.(?:E\.)?|C\.E\.|A\.D\.)(?!\w)"
)
_FIXED: Final = re.compile(r"(?<![\w/.,])(?:24/7|9/11|50/50|20/20|401(?:\(k\)|[kK])|403(?:\(b\)|b))(?![\w/]|[.,]\d)")
_ORDINALS: Final = re.compile(r"(?<=\d(?:st|nd|rd|th)) ?[-–—] ?(?=\d{1,3}(?:st|nd|rd|th)(?!\w))", re.IGNORECASE)
_ORDINAL_PARTS: Final = re.compile(
    r"(?<![\w./])(?<!\d,)(?P<top>\d{1,2})/(?P<bottom>\d{1,3})(?:st|nd|rd|th)(?P<many>s)?(?!\w)"
)
_ORDINAL: Final = re.compile(r"(?<![\w.])(?<!\d,)(\d{1,3}(?:,\d{3})++|\d{1,18})(?:st|nd|rd|th)\b", re.IGNORECASE)
_DECIMAL_ORDINAL: Final = re.compile(r"(?<![\w.,])(?P<whole>\d{1,3}\.\d{0,3})(?P<last>\d)(?:st|nd|rd|th)(?!\w)")
_FRACTION: Final = re.compile(
    r"(?<![\w./])(?<!\d,)(?P<minus>(?<![\w)\]%-])[-–])?(?:(?P<whole>\d{1,4}+)[ -])?"
    r"(?P<top>\d{1,3}+)/(?P<bottom>\d{1,4}+)(?![\w/]|\.\d)"
)
_FRACTIONS: Final = re.compile(r"(?:(?<=\d/\d)|(?<=\d/\d\d)) ?[-–] ?(?=\d)")
_YEARS: Final = re.compile(rf"(?<![\w.,/-])(1[1-9]\d\d|20\d\d){DASH}(\d{{4}}|\d\d)(?![\w/-]|[.,]\d)")
_QUARTERS: Final = re.compile(r"(?P<first>\b[QH][1-4](?:['’]\d\d| \d{4})) ?[-–—] ?(?=[QH][1-4]\b)")
_QUARTER_YEAR: Final = re.compile(r"(?<=\b[QH][1-4])['’](?=\d\d(?!\w))")
_YEAR: Final = re.compile(r"(?<![\w.])(?<!\d,)(1\d{3}|20\d\d)(?!\w|[.,/]\d)")
_SLASHED_YEARS: Final = re.compile(r"(?<![\w.,/-])(1[1-9]\d\d|20\d\d)/(\d\d)(?![\w/]|[.,]\d)")
_RANGE: Final = re.compile(rf"{NUMBER_START}(?<!\^)({NUMBER}){DASH}({NUMBER}){NUMBER_END}(?!\w)")
_SET: Final = r"[0-7][-–][0-7](?: ?\(\d{1,2}(?:[-–]\d{1,2})?\))?"
_SETS: Final = re.compile(
    rf"(?<![\w.,/-]){_SET}(?:(?:,| and|, and) {_SET})+(?P<deciding>, \[?1\d-\d{{1,2}}\]?)?(?![\w-]|[.,]\d)"
)
_POINTS: Final = re.compile(r"(\d{1,2})[-–](\d{1,2})")
_JOINED: Final = re.compile(r"(?<=[\da-z])-(?P<word>and|by|for|in|of|on|to|up)-(?=\d)")
_RATIOS: Final = re.compile(r"(?<![\w:.,])\d{1,3}(?::\d{1,3}){2,3}(?![\w:]|\.\d)")
_RATIO: Final = re.compile(rf"{NUMBER_START}({NUMBER}):({NUMBER}){NUMBER_END}(?!:)")
_NEGATIVE: Final = re.compile(r"(?<![\w)\]%-])[-–](?=\.?\d)")
_NUMBER: Final = re.compile(NUMBER)

_FIXED_READINGS: Final = {
    "24/7": "twenty four seven",
    "9/11": "nine eleven",
    "50/50": "fifty fifty",
    "20/20": "twenty twenty",
    "401k": "four oh one K",
    "403b": "four oh three B",
}
_DECADE_WORDS: Final = frozenset("the early mid late low high lower upper his her their my your our".split())
_DAYS: Final = frozenset("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())
_RATING_WORDS: Final = frozenset(
    "give gave gives rate rated score scored scores rating got get gets it solid apgar energy gcs glasgow grip mood "
    "pain power strength".split()
)
# Clinical scores, which have as many points as behind the stroke, whatever that is.
_SCORES: Final = frozenset("apgar gcs glasgow mmse moca pain power strength".split())
_MEASURES: Final = frozenset(
    "acres cups days degrees feet gallons hours inches meters miles minutes months ounces pints pounds quarts seconds "
    "tablespoons teaspoons turns weeks years".split()
)
_PLAIN_PARTS: Final = frozenset("2 3 4".split())
_SCORED: Final = frozenset("scored scoring scores got gets".split())
_PARTS_OF: Final = frozenset("of cup degree inch mile point second".split())
_LONGEST_END: Final = 4
"""Digits without a comma that a range may end with; a longer one is the second part of a number."""
_COUNTED_PARTS: Final = frozenset(
    (
        "chapter day episode grade lap lesson level page part photo question round sheet slide stage step track week"
    ).split()
)
_DONE: Final = frozenset(
    "ready done complete completed passed passing failed healthy running available correct".split()
)
_BEHIND_RATING: Final = frozenset("for from on in and but or if because at overall would".split())
# Plurals that a year says the time of, where others are counted by it: "2024 sales", but "1900 people".
_OF_YEARS: Final = frozenset(
    "accounts awards budgets championships cohorts deliveries earnings elections estimates expenses figures filings "
    "finals floods forecasts games goals graduates grads guidelines midterms models numbers olympics plans playoffs "
    "primaries profits protests rates resolutions results returns revenues riots sales standings statistics targets "
    "taxes totals trends wildfires".split()
)
_NEAR: Final = 48
_YEAR_WORDS: Final = frozenset("pre post mid in since until till during circa year before after ad".split())


def read_marked(text: TrackedText) -> TrackedText:
    """Figures with a mark of their own: fixed phrases, decades, years with an apostrophe or an era."""
    if "1-2" in text.text or "1–2" in text.text:
        text = text.sub(_WINNERS, lambda match: f"one two{' three' if match['third'] else ''}")
    if "-" in text.text:
        text = text.sub(_JOINED, r" \g<word> ")
    if "/" in text.text:
        text = text.sub(_ORDINAL_PARTS, r"\g<top>/\g<bottom>")
    text = text.sub(_FIXED, lambda match: _FIXED_READINGS[match.group().replace("(", "").replace(")", "").lower()])
    if "+1s" in text.text:
        text = text.sub(_GUESTS, "plus ones")
    if _FIGURES_PLURAL.search(text.text):
        text = text.sub(_SPREAD, _spread).sub(_BONDS, _bonds).sub(_AGES, _ages).sub(_YEARS_OF_SCHOOL, _years_of_school)
    if "0s" in text.text:
        text = text.sub(_PRESSURES, _pressures) if "0s/" in text.text else text
        text = text.sub(_DECADES, _decades)
        text = text.sub(_TENS_BESIDE, _tens_beside)
    text = text.sub(_DECADE, _decade)
    text = (
        text.sub(_SHORT_DECADE, _short_decade)
        .sub(_QUARTERS, r"\g<first> to ")
        .sub(_QUARTER_YEAR, " '")
        .sub(_SHORT_YEAR, lambda match: two_digits(int(match[1])))
    )
    text = text.sub(_ERA_TO_ERA, " to ") if "BC" in text.text or "AD" in text.text or "CE" in text.text else text
    return text.sub(_ERA, _era)


def read_ordinals(text: TrackedText) -> TrackedText:
    if any(dash in text.text for dash in "-–—"):
        text = text.sub(_ORDINALS, " to ")
    if "." in text.text:
        text = text.sub(_DECIMAL_ORDINAL, _decimal_ordinal)
    return text.sub(_ORDINAL, lambda match: ordinal(match[1].replace(",", "")))


def _decimal_ordinal(match: re.Match[str]) -> str:
    """ "99.9th"."""
    *words, _ = number(match["whole"] + match["last"]).split()
    return " ".join((*words, "zeroth" if match["last"] == "0" else ordinal(match["last"])))


def read(text: TrackedText) -> TrackedText:
    """Every figure that is left."""
    if "/" in text.text:
        text = text.sub(_SLASHED_YEARS, lambda match: f"{year(int(match[1]))} {two_digits(int(match[2]))}")
        text = text.sub(_FRACTIONS, " to ").sub(_FRACTION, _fraction)
    text = text.sub(_YEARS, _years).sub(_SETS, _sets).sub(_RANGE, _range).sub(_YEAR, _year)
    text = text.sub(_RATIOS, lambda match: match.group().replace(":", " to ")).sub(_RATIO, _ratio)
    return text.sub(_NEGATIVE, "minus ").sub(_NUMBER, _number)


def _tens_plural(tens: int) -> str:
    return TENS[tens][:-1] + "ies"


def _spread(match: re.Match[str]) -> str:
    long = cardinal(match["long"])
    return f"{cardinal(match['short'])}s {_tens_plural(int(match['long'][0])) if long.endswith('y') else long + 's'}"


def _bonds(match: re.Match[str]) -> str:
    """ "2s at 4.69%": the bonds of so many years."""
    years = int(match["years"])
    return _tens_plural(years // 10) if years > 10 else cardinal(match["years"]) + "s"


def _ages(match: re.Match[str]) -> str | None:
    """ "for 12-25s": everybody of these ages."""
    first, last = int(match["first"]), int(match["last"])
    if first >= last:
        return None
    words = cardinal(match["last"])
    plural = _tens_plural(last // 10) if words.endswith("ty") else f"{words}{'es' if words.endswith('x') else 's'}"
    return f"{match['lead']}{cardinal(match['first'])} to {plural}"


def _years_of_school(match: re.Match[str]) -> str:
    """ "Year 11s": those who are in it."""
    year_name = cardinal(match["year"])
    return f"{match['lead']}{year_name}{'es' if year_name.endswith('x') else 's'}"


def _pressures(match: re.Match[str]) -> str:
    """ "150s/90s": blood pressure by its tens."""
    return f"{_tens_of(match['top'])} over {_tens_of(match['bottom'])}"


def _tens_of(figures: str) -> str:
    hundreds, tens = divmod(int(figures), 10)
    name = ("hundreds", "tens")[tens] if tens < 2 else _tens_plural(tens)
    return f"{cardinal(str(hundreds))} {name}" if hundreds else name


def _tens_beside(match: re.Match[str]) -> str:
    """ "in the 140s": figures of three digits, by their tens."""
    return match["lead"] + _tens_of(match["hundreds"] + match["tens"])


def _decade(match: re.Match[str]) -> str:
    century, tens = int(match["century"]), int(match["tens"])
    space = " " if match.group()[0] == "-" else ""
    if tens:
        return f"{space}{cardinal(str(century))} {'tens' if tens == 1 else _tens_plural(tens)}"
    return f"{space}{year(century * 100)}s"


def _decades(match: re.Match[str]) -> str:
    """The joint of "1920s-30s"; the second decade gets the apostrophe that shows it to be one."""
    mark = "" if match.string[match.end()] in "'’" else "'"
    return f" {match.group().strip(' -–—') or 'to'} {mark}"


def _short_decade(match: re.Match[str]) -> str | None:
    if match.group()[0] == "-":
        return " " + _tens_plural(int(match["tens"]))
    known = match["mark"] or word_before(match).lower() in _DECADE_WORDS
    return _tens_plural(int(match["tens"])) if known else None


def _era(match: re.Match[str]) -> str:
    first, last, era = match.groups()
    words = year(int(first)) + (f" to {year(int(last))}" if last else "")
    return f"{words} {era.replace('.', '')}" + ("." if era.endswith(".") and ends_sentence(match) else "")


def _fraction(match: re.Match[str]) -> str:
    whole, top, bottom = match["whole"], match["top"], match["bottom"]
    if match["minus"]:
        return f"minus {amount(match.group()[1:])}"
    if whole:
        return amount(match.group())
    if word_after(match) in ("ARM", "ARMs"):
        return f"{cardinal(top)} {cardinal(bottom)}"
    if len(top) == len(bottom) == 2 and int(top) + int(bottom) == 100:
        return f"{cardinal(top)} {cardinal(bottom)}"
    part = COUNTED_PARTS.search(match.string, max(0, match.start() - _NEAR), match.start())
    if part and part["of"] in ("Apgars", "apgars"):
        return f"{cardinal(top)} and {cardinal(bottom)}"
    if part and part["of"].lower().rstrip("s") in _COUNTED_PARTS and 0 < int(top) <= int(bottom):
        return f"{cardinal(top)} of {cardinal(bottom)}"
    if _is_rating(match):
        return f"{cardinal(top)} out of {cardinal(bottom)}"
    adjective = match.string[match.end() : match.end() + 1] == "-"
    if adjective and (top, bottom) == ("1", "2"):
        return "half"
    return fraction(top, bottom, singular=adjective)


def _is_rating(match: re.Match[str]) -> bool:
    """Return whether a fraction tells how many of all there are: "a 7/10", "10/10", "3/5 ready"."""
    before, following = word_before(match).lower(), word_after(match)
    if following in _DONE:
        return not (following in ("done", "complete") and match["bottom"] in _PLAIN_PARTS)
    if match["top"] == "0" or before in _SCORES:
        return True
    if int(match["bottom"]) > 4 and is_plural(following) and following not in _MEASURES:
        return int(match["top"]) <= int(match["bottom"])
    if before in _SCORED and int(match["bottom"]) > 4 and following != "of":
        return True
    if match["bottom"] == "10" and match["top"] in "6789" and following not in _PARTS_OF:
        return True
    if match["bottom"] not in ("5", "10", "100"):
        return False
    if match["bottom"] == "100" and len(match["top"]) > 1:
        return True
    whole = match["top"] == match["bottom"]
    article = before in ("a", "an") and match["bottom"] != "5" and (not following or following in _BEHIND_RATING)
    return whole or article or before in _RATING_WORDS


def _years(match: re.Match[str]) -> str | None:
    first, last = int(match[1]), int(match[2])
    if len(match[2]) == 4:
        return f"{year(first)} to {year(last)}" if first < last < 2100 else None
    return f"{year(first)} to {two_digits(last)}" if last > first % 100 else None


def _year(match: re.Match[str]) -> str | None:
    """Four digits are a year unless things are counted; round hundreds sound alike either way."""
    figure = int(match[1])
    dated = word_before(match).lower().rstrip(".") in _YEAR_WORDS
    following = word_after(match)
    counted = is_plural(following) and not (figure >= 1900 and following in _OF_YEARS)
    if figure < 1100:
        return year(figure) if dated and not counted else None
    return year(figure) if dated or not counted or figure % 100 == 0 else None


def _range(match: re.Match[str]) -> str:
    first, last = match.groups()
    if last[0] == "0" and last.isdigit() and len(last) > 1:
        return f"{code(first) if first.isdigit() else number(first)} {spelled(last)}"
    if last.isdigit() and first.isdigit() and len(last) > _LONGEST_END and len(last) - len(first) > 1:
        return f"{spelled(first)}, {spelled(last)}"
    if first == last and word_before(match) not in _DAYS:
        return f"{number(first)} {number(last)}"
    if _is_split(first, last) and " " not in match.group():
        return f"{number(first)} {number(last)}"
    computed = match.group().count(" ") == 2 and "=" in match.string[match.end() : match.end() + 16]
    return f"{number(first)} {'minus' if computed else 'to'} {number(last)}"


def _is_split(first: str, last: str) -> bool:
    """Return whether two round figures share a whole, the greater one first: "70-30"."""
    round_figures = len(first) == len(last) == 2 and first[1] in "05" and last[1] in "05"
    return round_figures and first > last and int(first) + int(last) == 100


def _sets(match: re.Match[str]) -> str | None:
    """The sets of a tennis match, "6-4, 7-6 (7-5)": in each, somebody has won six or seven games."""
    played = match.group().removesuffix(match["deciding"] or "")
    sets = _POINTS.findall(re.sub(r"\(.*?\)", "", played))
    if any(max(games) not in ("6", "7") for games in sets):
        return None
    return _POINTS.sub(lambda games: f"{cardinal(games[1])} {cardinal(games[2])}", match.group())


def _ratio(match: re.Match[str]) -> str:
    """ "3:1"; two digits behind a leading zero, or behind more than the hours of a day, are seconds: "31:04"."""
    first, last = match.groups()
    if len(first) > 3 and first.isdigit() and last.isdigit() and 1 < len(last) < 6:
        return f"{code(first)} colon {code(last)}"
    if len(last) == 2 and last.isdigit() and first.isdigit() and (last[0] == "0" or (int(first) > 24 and last < "60")):
        return f"{number(first)} {two_digits(int(last))}"
    return f"{number(first)} to {number(last)}"


def _number(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    return (" " if before.isalnum() else "") + number(match.group()) + (" " if after.isalnum() else "")
