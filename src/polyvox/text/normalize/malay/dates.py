"""Dates, months and weekdays; the day comes first."""

import re
from typing import Final

from polyvox.text.normalize.malay.context import ends_sentence, word_before
from polyvox.text.normalize.malay.numbers import DASH, cardinal, ordinal
from polyvox.text.tracked import TrackedText

MONTHS: Final = "Januari Februari Mac April Mei Jun Julai Ogos September Oktober November Disember".split()
_LONGEST_MONTHS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MONTH_NUMBERS: Final = {
    **{name[:3].lower(): index for index, name in enumerate(MONTHS)},
    "mar": 2,
    "may": 4,
    "aug": 7,
    "oct": 9,
    "dec": 11,
}
_DAYS: Final = {
    "isn": "Isnin",
    "sel": "Selasa",
    "rab": "Rabu",
    "kha": "Khamis",
    "kham": "Khamis",
    "jum": "Jumaat",
    "sab": "Sabtu",
    "ahd": "Ahad",
}

_ANY_MONTH: Final = (
    r"(?:jan(?:uar[iy])?|feb(?:ruar[iy])?|mac|mar(?:ch)?|apr(?:il)?|mei|may|june?|jul(?:ai|y)?|ogos?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|o[kc]t(?:ober)?|nov(?:ember)?|dis(?:ember)?|dec(?:ember)?)\b\.?"
)
_ANY_DAY: Final = r"(?:isn(?:in)?|sel(?:asa)?|rab(?:u)?|kha(?:m(?:is)?)?|jum(?:aat)?|sab(?:tu)?|ahd|ahad)"
_ISO: Final = re.compile(r"(?<![\w/.-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:T(?=\d\d:)|(?![\w/-]|\.\d))")
_SPAN: Final = re.compile(
    r"(?<=/\d{4}) ?[-–—] ?(?=\d{1,2}/\d{1,2}/\d{4}(?!\d))|(?<=/\d\d) ?[-–—] ?(?=\d{1,2}/\d{1,2}/\d\d(?!\d))"
)
_SLASHED: Final = re.compile(r"(?<![\w/.-])(?<!\d,)(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?![\w/-]|[.,]\d)")
_DAYS_SLASHED: Final = re.compile(
    rf"(?<![\w/.-])(?<!\d,)(?P<first>\d{{1,2}}){DASH}(?P<last>\d{{1,2}})/(?P<month>\d{{1,2}})/(?P<year>\d{{4}}|\d\d)(?![\w/-]|[.,]\d)"
)
_DAY_MONTH: Final = re.compile(
    rf"(?<![\w.:/-])(?<!\d,)(?P<first>\d{{1,2}})(?P<hb> ?hb\b\.?)?(?:{DASH}(?P<last>\d{{1,2}}))?"
    rf"(?P<hb2> ?(?:hb|haribulan)\b\.?)?[ -](?P<month>{_ANY_MONTH})"
    r"(?:[, -]{1,2}(?P<year>\d{4})(?![\w%]|[.,]\d))?",
    re.IGNORECASE,
)
_DAY_ONLY: Final = re.compile(
    rf"(?<![\w.:/-])(?<!\d,)(?P<first>\d{{1,2}})(?: ?hb\b\.?)?(?:{DASH}(?P<last>\d{{1,2}}))?"
    r" ?(?:hb|haribulan)\b(?:\.(?! ?[A-Z]|$))?"
    r"(?: (?P<month>\d{1,2})(?![\w.,:/%-]))?",
    re.IGNORECASE,
)
_MONTH_YEAR: Final = re.compile(rf"\b(?P<month>{_ANY_MONTH}),? (?P<year>[12]\d{{3}})(?![\w%]|[.,]\d)", re.IGNORECASE)
_MONTH_SPAN: Final = re.compile(rf"\b(?P<first>{_ANY_MONTH}){DASH}(?P<last>{_ANY_MONTH})(?!\w)", re.IGNORECASE)
_NAMED_MONTH: Final = re.compile(rf"(?<=[a-z] )(?P<month>{_ANY_MONTH})(?!\w)", re.IGNORECASE)
_DAY_SPAN: Final = re.compile(rf"\b(?P<first>{_ANY_DAY})\b\.?{DASH}(?P<last>{_ANY_DAY})\b", re.IGNORECASE)
_SHORT_DAY: Final = r"(?:Isn|Sel|Rab|Kham?|Jum|Sab|Ahd)\b"
_WEEKDAY: Final = re.compile(rf"\b(?P<day>{_SHORT_DAY})\.?(?=,? \d|: ?\d|\))")
_DAY_LIST: Final = re.compile(rf"\b{_SHORT_DAY}\.?(?:(?:, ?|/| ?& ?| dan ){_SHORT_DAY}\.?)++")
_LISTED_DAY: Final = re.compile(rf"\b{_SHORT_DAY}\.?")
_ERA: Final = re.compile(r"(?<![\w.])(?<!\d,)(?P<year>\d{3,4}) ?(?P<era>[HM])(?![\w'])")
# Quarters of a year; behind these the same letters name a telephone or a car.
_QUARTER: Final = re.compile(
    r"(?<![\w./-])(?:[SQ](?P<behind>[1-4])|(?P<before>[1-4])Q) ?(?=(?:tahun )?(?:19|20)\d\d(?![\w/-]|[.,]\d))"
)
_MODELS: Final = frozenset("audi galaxy infiniti samsung".split())
_ERAS: Final = {"H": "Hijrah", "M": "Masihi"}
_BEFORE_MONTH: Final = frozenset(
    "akhir awal bermula dari hingga mula mulai pada pertengahan sampai sehingga sejak".split()
)
_BEFORE_DATE: Final = frozenset(
    (
        "akhir bertarikh dari deadline due hingga mulai pada sampai sebelum sehingga sejak selepas tarikh tempoh tkh "
        "tutup"
    ).split()
)


def read(text: TrackedText) -> TrackedText:
    """Dates in figures, dates with a month's name, and years of the two calendars."""
    text = text.sub(_ISO, _iso).sub(_SPAN, " hingga ").sub(_DAYS_SLASHED, _days_slashed).sub(_SLASHED, _slashed)
    text = text.sub(_WEEKDAY, lambda match: _DAYS[match["day"].lower()])
    text = text.sub(_DAY_MONTH, _day_month).sub(_DAY_ONLY, _day_only)
    return text.sub(_QUARTER, _quarter).sub(_MONTH_YEAR, _month_year).sub(_ERA, _era)


def read_names(text: TrackedText) -> TrackedText:
    """Weekdays and months that mark the two ends of a time, and months behind the word for one."""
    text = text.sub(_DAY_LIST, _day_list).sub(_DAY_SPAN, _day_span).sub(_MONTH_SPAN, _month_span)
    return text.sub(_NAMED_MONTH, _named_month)


def day_first(day: int, month: int, figures: str) -> tuple[int, int, int] | None:
    """Day, month and full year of a date in figures, the day first unless only the other order makes a date."""
    year = int(figures) if len(figures) == 4 else int(figures) + (2000 if int(figures) < 70 else 1900)
    for first, second in ((day, month), (month, day)):
        if is_day(second, first):
            return first, second, year
    return None


def is_day(month: int, day: int) -> bool:
    """Return whether a month has that day in some year."""
    return 1 <= month <= 12 and 1 <= day <= _LONGEST_MONTHS[month - 1]


def _date(day: int, month: int, year: int | None = None) -> str:
    words = f"{cardinal(str(day))} {MONTHS[month - 1]}"
    return words if year is None else f"{words} {cardinal(str(year))}"


def _iso(match: re.Match[str]) -> str | None:
    year, month, day = int(match[1]), int(match[3]), int(match[4])
    if not is_day(month, day) or year < 1000:
        return None
    return _date(day, month, year) + (" " if match.group().endswith("T") else "")


def _slashed(match: re.Match[str]) -> str | None:
    """With a year of two figures, only a slash or the word before makes a date sure."""
    if len(match[4]) == 2 and match[2] != "/" and word_before(match).lower() not in _BEFORE_DATE:
        return None
    found = day_first(int(match[1]), int(match[3]), match[4])
    return _date(*found) if found else None


def _days_slashed(match: re.Match[str]) -> str | None:
    """Several days of one month: "25-27/12/2026"."""
    days = _days(match)
    found = day_first(int(match["last"]), int(match["month"]), match["year"])
    if days is None or found is None or found[0] != int(match["last"]):
        return None
    return f"{days} {MONTHS[found[1] - 1]} {cardinal(str(found[2]))}"


def _month(written: str) -> str:
    return MONTHS[_MONTH_NUMBERS[written[:3].lower()]]


def _days(match: re.Match[str]) -> str | None:
    """ "lima belas" or "lima belas hingga tujuh belas"; None where the figures are no days."""
    first, last = match["first"], match["last"]
    if not 1 <= int(first) <= 31 or (last and not int(first) < int(last) <= 31):
        return None
    words = cardinal(str(int(first)))
    return f"{words} hingga {cardinal(str(int(last)))}" if last else words


def _day_month(match: re.Match[str]) -> str | None:
    days = _days(match)
    if days is None:
        return None
    words = [days, "hari bulan" if match["hb"] or match["hb2"] else "", _month(match["month"])]
    words.append(cardinal(match["year"]) if match["year"] else "")
    stop = "." if match["month"].endswith(".") and not match["year"] and ends_sentence(match) else ""
    return " ".join(word for word in words if word) + stop


def _day_only(match: re.Match[str]) -> str | None:
    days = _days(match)
    if days is None:
        return None
    month = match["month"]
    return f"{days} hari bulan" + (f" {cardinal(str(int(month)))}" if month else "")


def _month_year(match: re.Match[str]) -> str:
    return f"{_month(match['month'])} {cardinal(match['year'])}"


def _quarter(match: re.Match[str]) -> str | None:
    if word_before(match).lower() in _MODELS:
        return None
    return f"suku {ordinal(match['behind'] or match['before'])} "


def _named_month(match: re.Match[str]) -> str | None:
    """A month behind the word for one, or behind one that tells when something is; there it has a capital."""
    before = word_before(match).lower()
    if before != "bulan" and not (before in _BEFORE_MONTH and match.group()[0].isupper()):
        return None
    stop = "." if match.group().endswith(".") and ends_sentence(match) else ""
    return _month(match["month"]) + stop


def _day_list(match: re.Match[str]) -> str:
    days = _LISTED_DAY.sub(lambda day: _DAYS[day.group().rstrip(".").lower()], match.group())
    return days + ("." if match.group().endswith(".") and ends_sentence(match) else "")


def _month_span(match: re.Match[str]) -> str | None:
    if not (match["first"][0].isupper() and match["last"][0].isupper()):
        return None
    return f"{_month(match['first'])} hingga {_month(match['last'])}"


def _day_span(match: re.Match[str]) -> str | None:
    """In small letters "sel-sel" are cells."""
    first, last = _day(match["first"]), _day(match["last"])
    return f"{first} hingga {last}" if first != last and match["first"][0].isupper() else None


def _day(written: str) -> str:
    return _DAYS.get(written.lower()) or written


def _era(match: re.Match[str]) -> str | None:
    """The year of a calendar: of the hijra since it may be known by its figures, of our era behind "tahun"."""
    year, era = int(match["year"]), match["era"]
    if (era == "H" and 1300 <= year < 1500) or word_before(match).lower() in ("tahun", "abad"):
        return f"{cardinal(match['year'])} {_ERAS[era]}"
    return None
