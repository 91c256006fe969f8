"""Dates, months and weekdays."""

import re
from typing import Final

from polyvox.text.normalize.english.context import ends_sentence, word_before
from polyvox.text.normalize.english.numbers import ordinal, year
from polyvox.text.tracked import TrackedText

_MONTHS: Final = {
    name[:3].lower(): name
    for name in ("January February March April May June July August September October November December".split())
}
_DAYS: Final = {name[:3].lower(): name for name in "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()}
_LONGEST_MONTHS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_ANY_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_SHORT_MONTH: Final = r"(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
_ANY_DAY: Final = r"(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)"
_SUFFIX: Final = r"(?:st|nd|rd|th)?"

_ISO: Final = re.compile(r"(?<![\w/.-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:(T)(?=\d\d:)|(?![\w/-]|\.\d))")
_SLASHED: Final = re.compile(r"(?<![\w/.,-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?![\w/-]|[.,]\d)")
_DAY_OF_MONTH: Final = re.compile(r"(?<=[A-Za-z] )(\d{1,2})/(\d{1,2})(?![\w/]|\.\d| of\b)")
_WEEKDAYS: Final = re.compile(
    rf"\b({_ANY_DAY})\b\.?(?: ?[-–—] ?| to )({_ANY_DAY})\b(?:\.(?!\s+[A-Z]|\s*$))?", re.IGNORECASE
)
_WEEKDAY: Final = re.compile(rf"\b({_ANY_DAY})\b\.?(?=,? (?:{_ANY_MONTH}|\d))", re.IGNORECASE)
_DOTTED_WEEKDAY: Final = re.compile(r"\b(Mon|Tues?|Wed|Thu(?:rs?)?|Fri)\.(?!\w)")
_MONTH_RANGE: Final = re.compile(rf"\b({_SHORT_MONTH})\b\.? ?[-–—] ?({_ANY_MONTH})(?! ?\d)", re.IGNORECASE)
_MONTH_DAY: Final = re.compile(
    rf"\b({_ANY_MONTH}) (\d{{1,2}}){_SUFFIX}(?: ?[-–—] ?(\d{{1,2}}){_SUFFIX})?(?:,? (\d{{4}}))?(?![\w:%/-]|[.,]\d)",
    re.IGNORECASE,
)
_DAY_MONTH: Final = re.compile(
    rf"(?<![\w.,:/-])(\d{{1,2}}){_SUFFIX}(?: ?[-–—] ?(\d{{1,2}}){_SUFFIX})? (?:of )?({_ANY_MONTH})"
    r"(?:,? (\d{4})(?![\w%]|[.,]\d))?",
    re.IGNORECASE,
)
_MONTH_YEAR: Final = re.compile(rf"\b({_ANY_MONTH}),? ([12]\d{{3}})(?![\w%]|[.,]\d)", re.IGNORECASE)
_DOTTED_MONTH: Final = re.compile(r"\b(Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.(?!\w)")
_BEFORE_DATE: Final = frozenset(("on", "due", "dated", "until"))
_BEFORE_MONTH: Final = frozenset(
    "in since by until till of late early mid last next this from to through and during each every".split()
)


def read(text: TrackedText) -> TrackedText:
    """Dates in figures, and dates with a month's name."""
    text = text.sub(_ISO, _iso).sub(_SLASHED, _slashed).sub(_DAY_OF_MONTH, _day_of_month).sub(_WEEKDAY, _weekday)
    return text.sub(_MONTH_DAY, _month_day).sub(_DAY_MONTH, _day_month).sub(_MONTH_YEAR, _month_year)


def read_names(text: TrackedText) -> TrackedText:
    """Abbreviated months and weekdays that stand alone or mark the two ends of a time."""
    text = text.sub(_WEEKDAYS, _weekdays).sub(_DOTTED_WEEKDAY, _dotted_weekday)
    return text.sub(_MONTH_RANGE, _months).sub(_DOTTED_MONTH, _dotted_month)


def _is_day(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= _LONGEST_MONTHS[month - 1]


def _date(month: int, day: int, full_year: int | None = None) -> str:
    words = f"{list(_MONTHS.values())[month - 1]} {ordinal(str(day))}"
    return words if full_year is None else f"{words}, {year(full_year)}"


def _iso(match: re.Match[str]) -> str | None:
    full_year, month, day = int(match[1]), int(match[3]), int(match[4])
    if not _is_day(month, day) or full_year < 1000:
        return None
    return _date(month, day, full_year) + (" at " if match[5] else "")


def _slashed(match: re.Match[str]) -> str | None:
    """Month first as Americans write, unless only the other order makes a date; with dots the day comes first."""
    first, mark, second, figures = int(match[1]), match[2], int(match[3]), match[4]
    if len(figures) == 2 and mark != "/":
        return None
    full_year = int(figures) if len(figures) == 4 else int(figures) + (2000 if int(figures) < 70 else 1900)
    orders = [(first, second), (second, first)]
    if mark == ".":
        orders.reverse()
    return next((_date(month, day, full_year) for month, day in orders if _is_day(month, day)), None)


def _day_of_month(match: re.Match[str]) -> str | None:
    """A month and a day without a year, where the word before asks for a date and not for a fraction."""
    month, day = int(match[1]), int(match[2])
    return _date(month, day) if word_before(match).lower() in _BEFORE_DATE and _is_day(month, day) else None


def _is_name(word: str) -> bool:
    """Whether a month or weekday is written like one; "may", "march", "sat" and "sun" in lower case are not."""
    return word[0].isupper()


def _weekdays(match: re.Match[str]) -> str | None:
    if not (_is_name(match[1]) and _is_name(match[2])):
        return None
    return f"{_DAYS[match[1][:3].lower()]} to {_DAYS[match[2][:3].lower()]}"


def _weekday(match: re.Match[str]) -> str | None:
    return _DAYS[match[1][:3].lower()] if _is_name(match[1]) else None


def _dotted_weekday(match: re.Match[str]) -> str:
    return _DAYS[match[1][:3].lower()] + ("." if ends_sentence(match) else "")


def _month_name(word: str) -> str:
    return _MONTHS[word[:3].lower()]


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


def _month_year(match: re.Match[str]) -> str | None:
    return f"{_month_name(match[1])} {year(int(match[2]))}" if _is_name(match[1]) else None


def _dotted_month(match: re.Match[str]) -> str | None:
    """Only where it must be the month: "Jan." and "Mar." are names too, and a sentence may end with one."""
    if word_before(match).lower() not in _BEFORE_MONTH:
        return None
    return _month_name(match[1]) + ("." if ends_sentence(match) else "")
