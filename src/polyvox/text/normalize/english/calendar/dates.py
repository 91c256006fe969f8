"""Dates, months and weekdays."""

import re
from functools import partial
from typing import Final

from polyvox.text.normalize.english.calendar import month_days
from polyvox.text.normalize.english.calendar.month_days import MONTHS, day_words, is_day
from polyvox.text.normalize.english.context import ends_sentence, final_stop, has_word, word_before
from polyvox.text.normalize.english.numbers import ITEM_END, ordinal, year
from polyvox.text.tracked import TrackedText

_DAYS: Final = {name[:3].lower(): name for name in "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()}

_ANY_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_SHORT_MONTH: Final = r"(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
_ANY_DAY: Final = r"(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)"
_SUFFIX: Final = r"(?:st|nd|rd|th)?"

_ISO: Final = re.compile(rf"(?<![\w/.-])(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}})(?:(T)(?=\d\d:)|{ITEM_END})")
_SLASHED: Final = re.compile(rf"(?<![\w/.,-])(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}|\d{{2}}){ITEM_END}")
_IN_FIGURES: Final = re.compile(r"(?<![\w/.,])(\d{1,2})/(\d{1,2})/(?:\d{4}|\d\d)(?!\d)")
_HYPHENED: Final = re.compile(rf"(?<![\w-])(\d{{1,2}})-({_SHORT_MONTH})-(\d{{4}}|\d\d)(?![\w-])", re.IGNORECASE)
_CENTURY: Final = re.compile(r"(?<=\d(?:st|nd|rd|th) )[cC]\.(?= [a-z(]| (?:BCE?|AD|CE|B\.C|A\.D)\b|[,;)]|$)")
# The days on which a class meets; "M/F" and "T/F" are something else.
_CLASS_DAYS: Final = re.compile(
    r"(?<![\w/])(?:M/W(?:/F)?|M/T(?:u|ues?)?/W/Th(?:/F)?|T(?:u|ue|ues)?/Th(?:ur|urs?)?|W/F|M/Th|Tu/F|MWF|TTh|TuTh"
    r"|Sa/Su)(?![\w/])"
)
_CLASS_DAY: Final = re.compile(r"M|Tu?(?!h)(?:es|e)?|W|Th(?:urs|ur)?|F|Sa|Su")
_LETTERS_OF_DAYS: Final = {
    "M": "Monday", "T": "Tuesday", "W": "Wednesday", "Th": "Thursday", "F": "Friday", "Sa": "Saturday", "Su": "Sunday",
}  # fmt: skip
_WEEKDAYS: Final = re.compile(
    rf"\b({_ANY_DAY})\b\.?(?: ?[-–—] ?| to )({_ANY_DAY})\b(?:\.(?!\s+[A-Z]|\s*$))?", re.IGNORECASE
)
_WEEKDAY: Final = re.compile(rf"\b({_ANY_DAY})\b\.?(?=,? (?:{_ANY_MONTH}|\d|@ ?\d|at \d))", re.IGNORECASE)
_LONE_WEEKDAY: Final = re.compile(
    r"(?<![\w.'@#/-])(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)(?![\w'’@-]|\.\w)(?P<dot>\.(?=\s*[a-z,&]))?"
)
_BESIDE_DAY: Final = re.compile(
    rf"\W{{0,3}}(?:and |or |to |through |thru )?{_ANY_DAY}(?:day|sday|nesday|rsday|urday)?\b", re.IGNORECASE
)
_DAY_BESIDE: Final = re.compile(
    rf"\b{_ANY_DAY}(?:day|sday|nesday|rsday|urday)?\.?(?:\W{{0,3}}| (?:and|or|to|through|thru) )$", re.IGNORECASE
)
_LONE_MONTH: Final = re.compile(
    r"(?<![\w.'@#/-])(Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)(?![\w'’@-]|\.\w)(?P<dot>\.(?=\s*[a-z,&]))?"
)
_PART_OF_MONTH: Final = re.compile(
    r"(?P<part>\b(?:[Mm]id|[Ee]arly|[Ll]ate|[Pp]re|[Pp]ost|[Ee]nd)-(?:to-(?:mid|late)-)?)"
    r"(?P<month>Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)(?:\.(?!\w)|(?![\w.]))"
)
_BESIDE_MONTH: Final = re.compile(rf"\W{{0,3}}(?:and |or |to |through |thru )?{_ANY_MONTH}", re.IGNORECASE)
_MONTH_BESIDE: Final = re.compile(rf"\b{_ANY_MONTH}(?:\W{{0,3}}| (?:and|or|to|through|thru) )$", re.IGNORECASE)
_DOTTED_WEEKDAY: Final = re.compile(
    r"\b(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|(?<=[\w,;:] )S(?:at|un)|S(?:at|un)(?=\.:))\.(?!\w)"
)
_MONTH_RANGE: Final = re.compile(rf"\b({_SHORT_MONTH})\b\.? ?[-–—] ?({_ANY_MONTH})(?! ?\d)", re.IGNORECASE)
_DATE_TO_DATE: Final = re.compile(
    rf"(?<=\d)(?P<suffix>{_SUFFIX}) ?[-–—] ?(?=(?:{_ANY_MONTH}) \d)"
    rf"|(?<=\d)(?P<year>,? \d{{4}}) ?[-–—] ?(?=(?:{_ANY_MONTH}) \d)"
    rf"|(?P<month>\b{_ANY_MONTH}(?: \d{{4}})?) ?[-–—] ?"
    rf"(?=(?:{_ANY_DAY}[a-z]*\.?,? )?\d{{1,2}}{_SUFFIX} (?:{_ANY_MONTH}))",
    re.IGNORECASE,
)
_SLASHED_TO: Final = re.compile(r"(?<=\d/\d\d)(?:\d\d)? ?[-–—] ?(?=\d{1,2}/\d{1,2}/\d\d)")
_MONTH_DAY: Final = re.compile(
    rf"\b({_ANY_MONTH}) (\d{{1,2}}){_SUFFIX}(?: ?[-–—] ?(\d{{1,2}}){_SUFFIX})?(?:,? (\d{{4}}))?{ITEM_END}",
    re.IGNORECASE,
)
_DAY_MONTH: Final = re.compile(
    rf"(?<![\w.,:/-])(\d{{1,2}}){_SUFFIX}(?: ?[-–—] ?(\d{{1,2}}){_SUFFIX})? (?:of )?({_ANY_MONTH})"
    rf"(?:,? (\d{{4}}){ITEM_END})?",
    re.IGNORECASE,
)
_WEEK: Final = re.compile(
    rf"(?<![\w/])[Ww]/(?P<of>[bce]) ?"
    rf"(?=(?:{_ANY_DAY}[a-z]*\.?,? )?(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th|/|[ .-])|{_ANY_MONTH} \d))",
    re.IGNORECASE,
)
_WEEKS: Final = {"b": "beginning", "c": "commencing", "e": "ending"}
_TWO_DAYS: Final = re.compile(
    rf"(?<![\w.,:/-])(?P<first>\d{{1,2}}){_SUFFIX} ?(?P<joint>/|&|and) ?"
    rf"(?P<last>\d{{1,2}}){_SUFFIX} (?P<month>{_ANY_MONTH})(?![\w-])",
    re.IGNORECASE,
)
_MONTH_YEAR: Final = re.compile(rf"\b({_ANY_MONTH}),? ([12]\d{{3}}){ITEM_END}", re.IGNORECASE)
_DOTTED_MONTH: Final = re.compile(r"\b(Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.(?!\w)")
_SHORT_NAMES: Final = frozenset((*MONTHS, *_DAYS, "sept", "tues", "thur", "thurs"))
_BEFORE_DAY: Final = frozenset("on by next last this every each until till since from to".split())
_TABLED: Final = re.compile(r": ?(?:\d|closed|open|sunny|rain|cloudy|off|rest)")
_HOUR_BEFORE: Final = re.compile(
    r"(?:\d|\d ?[ap]\.?m\.?|[AP]\.M\.?|o'clock|een|eleven|twelve|(?:one|two|three|four|five|six|seven|eight|nine"
    r"|ten)) \Z"
)
_BEFORE_STOPPED: Final = _BEFORE_DAY | month_days.BEFORE_DATE | frozenset("born died ended ending of fye ye".split())
_BEFORE_FREE_DAY: Final = frozenset("for til till before after of late early free all is are it's thru through".split())
_PART_OF_DAY: Final = re.compile(
    r" (?:mornings?|nights?|afternoons?|evenings?|eves?|noon|brunch|lunch|dinner|matin[eé]e|works?|only|"
    r"was|is|sounds|looks|at \d|@ ?\d)\b"
)
_SCORED: Final = re.compile(r"\d \Z")
_SCORE: Final = re.compile(r" 1?\d{3}(?!\d)")
_BEFORE_TEST: Final = frozenset("the an her his my their your our SAT PSAT ACT".split())
_TYPED_SATURDAY: Final = re.compile(
    r"(?<=\b(?:free|this|next) )sat(?=[?!,]| (?:\d|at\b|night\b|morning\b|afternoon\b|evening\b)|$)"
    r"|(?<=\bon )sat(?=[?!,]| (?:\d|at \d)|$)|(?:(?<=\babt )|(?<=\bfor )|(?<=\btil ))sat(?=[?!,;]|$)"
)
_ALSO_NAMES: Final = frozenset(("Jan", "Mar", "Jun", "Mon", "Sat", "Sun"))
_BEFORE_MONTH: Final = frozenset(
    "in since by until till of late early mid last next this from to through and during each every".split()
)


def read(text: TrackedText, *, day_first: bool = False) -> TrackedText:
    """Dates in figures, and dates with a month's name; `day_first` as all but Americans write."""
    if "/" in text.text:
        text = text.sub(_WEEK, lambda match: f"week {_WEEKS[match['of'].lower()]} ")
    text = text.sub(_CENTURY, "century").sub(_ISO, _iso)
    day_first = day_first or ("/" in text.text and _is_day_first(text.text))
    text = text.sub(_SLASHED_TO, lambda match: match.group().rstrip(" -–—") + " to ") if "/" in text.text else text
    if "/" in text.text:
        text = month_days.read_openings(text, day_first=day_first)
    text = text.sub(_SLASHED, partial(_slashed, day_first=day_first)).sub(_WEEKDAYS, _weekdays).sub(_WEEKDAY, _weekday)
    if "-" in text.text:
        text = text.sub(_HYPHENED, _hyphened)
    if "/" in text.text or "&" in text.text or " and " in text.text:
        text = text.sub(_TWO_DAYS, _two_days)
    text = month_days.read(text, day_first=day_first)
    if any(dash in text.text for dash in "-–—"):
        text = text.sub(_DATE_TO_DATE, lambda match: f"{match['suffix'] or match['year'] or match['month'] or ''} to ")
    return text.sub(_MONTH_DAY, _month_day).sub(_DAY_MONTH, _day_month).sub(_MONTH_YEAR, _month_year)


def read_names(text: TrackedText) -> TrackedText:
    """Abbreviated months and weekdays that stand alone or mark the two ends of a time."""
    if "/" in text.text or "MWF" in text.text or "Th" in text.text:
        text = text.sub(_CLASS_DAYS, _class_days)
    if " sat" in text.text:
        text = text.sub(_TYPED_SATURDAY, "Saturday")
    if not has_word(text.text, _SHORT_NAMES):
        return text
    if "-" in text.text:
        text = text.sub(_PART_OF_MONTH, _part_of_month)
    if any(joint in text.text for joint in ("-", "–", "—", " to ")):
        text = text.sub(_WEEKDAYS, _weekdays).sub(_MONTH_RANGE, _months)
    if "." in text.text:
        text = text.sub(_DOTTED_WEEKDAY, _dotted_weekday).sub(_DOTTED_MONTH, _dotted_month)
    return text.sub(_LONE_WEEKDAY, _lone_weekday).sub(_LONE_MONTH, _lone_month)


def _iso(match: re.Match[str]) -> str | None:
    full_year, month, day = int(match[1]), int(match[3]), int(match[4])
    if not is_day(month, day) or full_year < 1000:
        return None
    return day_words(month, day, full_year) + (" at " if match[5] else "")


def _is_day_first(text: str) -> bool:
    """Return whether one date in figures has its day in front, and none its month."""
    dates = [(int(match[1]), int(match[2])) for match in _IN_FIGURES.finditer(text)]
    return any(first > 12 for first, _ in dates) and all(second <= 12 for _, second in dates)


def _slashed(match: re.Match[str], *, day_first: bool) -> str | None:
    """Month first as Americans write, unless only the other order makes a date; with dots the day comes first."""
    first, mark, second, figures = int(match[1]), match[2], int(match[3]), match[4]
    if len(figures) == 2 and mark != "/" and not (mark == "." and _is_stopped_date(match)):
        return None
    full_year = int(figures) if len(figures) == 4 else int(figures) + (2000 if int(figures) < 40 else 1900)
    orders = [(first, second), (second, first)]
    if mark == "." or day_first:
        orders.reverse()
    return next((day_words(month, day, full_year) for month, day in orders if is_day(month, day)), None)


def _is_stopped_date(match: re.Match[str]) -> bool:
    """Return whether "31.12.22" is a date and no version: all its parts have two digits, and a word asks for a day."""
    padded = all(len(match[group]) == 2 for group in (1, 3, 4))
    return padded and (word_before(match).lower() in _BEFORE_STOPPED or int(match[1]) > 12 >= int(match[3]))


def _hyphened(match: re.Match[str]) -> str | None:
    """ "02-Mar-24", written as a date that the readers behind know."""
    day, month, figures = match.groups()
    century = "" if len(figures) == 4 else "20" if int(figures) < 70 else "19"
    return f"{int(day)} {_month_name(month)} {century}{figures}" if 1 <= int(day) <= 31 else None


def _is_name(word: str) -> bool:
    """Return whether a month or weekday is written like one; "may", "march", "sat" and "sun" in lower case are not."""
    return word[0].isupper()


def _weekdays(match: re.Match[str]) -> str | None:
    if not (_is_name(match[1]) and _is_name(match[2])):
        return None
    return f"{_DAYS[match[1][:3].lower()]} to {_DAYS[match[2][:3].lower()]}"


def _weekday(match: re.Match[str]) -> str | None:
    if match[1] == "SAT" and (
        _SCORE.match(match.string, match.end())
        or _SCORED.search(match.string, 0, match.start())
        or word_before(match) in _BEFORE_TEST
    ):
        return None
    return _DAYS[match[1][:3].lower()] if _is_name(match[1]) else None


def _class_days(match: re.Match[str]) -> str:
    """ "M/W/F", "TuTh": each day by its name."""
    days = [_LETTERS_OF_DAYS.get(day[:2]) or _LETTERS_OF_DAYS[day[0]] for day in _CLASS_DAY.findall(match.group())]
    return " ".join(days) if len(days) > 2 else " and ".join(days)


def _lone_weekday(match: re.Match[str]) -> str | None:
    """ "Wed" is a day wherever it stands; "Sat" and "Sun" only beside another day, or behind "on", "next" and such."""
    before = word_before(match).lower()
    led = before in _BEFORE_DAY or (match[1] == "Sat" and before == "the")
    alone = not match.string[match.end() : match.end() + 2].strip()[:1].isupper()
    led = led or (before in _BEFORE_FREE_DAY and alone)
    led = led or _TABLED.match(match.string, match.end()) is not None
    led = led or _HOUR_BEFORE.search(match.string, max(0, match.start() - 8), match.start()) is not None
    led = led or (before not in ("the", "a", "he", "she") and _PART_OF_DAY.match(match.string, match.end()) is not None)
    known = match[1] not in _ALSO_NAMES or led or _is_listed(match, _DAY_BESIDE, _BESIDE_DAY)
    return _DAYS[match[1][:3].lower()] if known else None


def _lone_month(match: re.Match[str]) -> str | None:
    """The same for months: "Dec" is one, "Jan" and "Mar" are names too."""
    following = match.string[match.end() : match.end() + 2].strip()
    led = word_before(match).lower() in _BEFORE_MONTH and not following[:1].isupper()
    known = match[1] not in _ALSO_NAMES or led or _is_listed(match, _MONTH_BESIDE, _BESIDE_MONTH)
    return _month_name(match[1]) if known else None


def _part_of_month(match: re.Match[str]) -> str:
    """ "mid-Sept."."""
    return match["part"] + _month_name(match["month"]) + final_stop(match)


def _is_listed(match: re.Match[str], left: re.Pattern[str], right: re.Pattern[str]) -> bool:
    """Return whether a neighbour of the same kind stands beside the match."""
    before = match.string[max(0, match.start() - 20) : match.start()]
    return left.search(before) is not None or right.match(match.string, match.end(), match.end() + 24) is not None


def _dotted_weekday(match: re.Match[str]) -> str | None:
    """The day; "the Sun." at the end of a sentence is the star."""
    if match[1] == "Sun" and word_before(match).lower() in ("the", "our", "a"):
        return None
    return _DAYS[match[1][:3].lower()] + ("." if ends_sentence(match) else "")


def _month_name(word: str) -> str:
    return MONTHS[word[:3].lower()]


def _months(match: re.Match[str]) -> str | None:
    if not (_is_name(match[1]) and _is_name(match[2])):
        return None
    return f"{_month_name(match[1])} to {_month_name(match[2])}"


def _month_day(match: re.Match[str]) -> str | None:
    month, first, last, full_year = match.groups()
    if not _is_name(month) or not 1 <= int(first) <= 31 or (last and not int(first) < int(last) <= 31):
        return None
    words = f"{_month_name(month)} {ordinal(first)}"
    if last:
        words += f" to {ordinal(last)}"
    return f"{words}, {year(int(full_year))}" if full_year else words


def _day_month(match: re.Match[str]) -> str | None:
    first, last, month, full_year = match.groups()
    if not _is_name(month) or not 1 <= int(first) <= 31 or (last and not int(first) < int(last) <= 31):
        return None
    article = "" if word_before(match).lower() == "the" else "the "
    words = article + ordinal(first)
    if last:
        words += f" to the {ordinal(last)}"
    words += f" of {_month_name(month)}"
    if full_year:
        words += f", {year(int(full_year))}"
    return words + ("." if not full_year and month.endswith(".") and ends_sentence(match) else "")


def _two_days(match: re.Match[str]) -> str | None:
    """ "3/4 May": the one and the other."""
    first, last = int(match["first"]), int(match["last"])
    near = match["joint"] != "/" or last - first == 1
    if not (_is_name(match["month"]) and 1 <= first < last <= 31 and near):
        return None
    article = "" if word_before(match).lower() == "the" else "the "
    return f"{article}{ordinal(match['first'])} and {ordinal(match['last'])} of {_month_name(match['month'])}"


def _month_year(match: re.Match[str]) -> str | None:
    return f"{_month_name(match[1])} {year(int(match[2]))}" if _is_name(match[1]) else None


def _dotted_month(match: re.Match[str]) -> str | None:
    """Only where it must be the month: "Jan." and "Mar." are names too, and a sentence may end with one."""
    if word_before(match).lower() not in _BEFORE_MONTH:
        return None
    return _month_name(match[1]) + ("." if ends_sentence(match) else "")
