"""Dates of a day and a month without a year, which look like fractions: "12/8", "25/12", "24/5-8/6"."""

import re
from typing import Final

from polyvox.text.normalize.malay.context import last_words, word_after, word_before
from polyvox.text.normalize.malay.dates import MONTHS, is_day
from polyvox.text.normalize.malay.figures import names_road
from polyvox.text.normalize.malay.numbers import DASH, cardinal
from polyvox.text.tracked import TrackedText

_START: Final = r"(?<![\w./+*=-])(?<!\d,)"
_END: Final = r"(?![\w/%]|[.,:]\d|-\d)"
_SPAN: Final = re.compile(
    rf"{_START}(?P<first>\d{{1,2}}/\d{{1,2}})(?P<to>{DASH}| (?:hingga|sampai|to) )(?P<last>\d{{1,2}}/\d{{1,2}}){_END}"
)
_DAYS: Final = re.compile(rf"{_START}(?P<first>\d{{1,2}}){DASH}(?P<last>\d{{1,2}})/(?P<month>\d{{1,2}}){_END}")
_DAY: Final = re.compile(rf"{_START}(?P<day>\d{{1,2}})/(?P<month>\d{{1,2}}){_END}")
_SALE: Final = re.compile(r"(?<![\w./-])(?<!\d,)(\d{1,2})\.\1(?![\w/%-]|[.,]\d)")

# Behind one of these, figures that could be a day are one.
_ASKING: Final = frozenset(
    (
        "ahad akhir bermula bertarikh birthday cuti dari deadline due end habis hb hingga isnin jatuh jumaat khamis "
        "mula mulai pada pd rabu sabtu sampai sebelum sehingga sejak selasa selepas sblm smpi start tamat tarikh "
        "tempoh tkh tutup"
    ).split()
)
_WEEKDAYS: Final = frozenset("ahad isnin jumaat khamis rabu sabtu selasa tarikh".split())
# Behind or before one of these they are none.
_COUNTING: Final = frozenset(
    (
        "bacaan bil bilangan blok darah gred ketinggian lot markah nisbah no nombor pecahan rating rumah saiz siri "
        "skor tayar tekanan undi unit"
    ).split()
)
_COUNTED: Final = frozenset(
    "bahagian cawan daripada gelas hektar inci jam kg kilo kilogram liter meter peket penduduk peserta sudu".split()
)
_SALES: Final = frozenset(
    "baucar beli borong deal diskaun jualan lazada mega promo promosi sale shopee tawaran tiktok tunggu voucher".split()
)
# Behind a day of chat; and months that nothing is shared into.
_AS_PLANNED: Final = frozenset("cuti je jer ni nanti tu tutup".split())
_NO_PARTS: Final = (7, 11)
_ARITHMETIC: Final = re.compile(r"[=+×÷*]")
_WORD: Final = re.compile(r"[A-Za-z]+")
_REACH: Final = 24


def read(text: TrackedText) -> TrackedText:
    """Days of months, spans of them, and the sales that are named after their day."""
    return text.sub(_SPAN, _span).sub(_DAYS, _days).sub(_DAY, _day).sub(_SALE, _sale)


def _span(match: re.Match[str]) -> str | None:
    (day, month), (last_day, last_month) = (map(int, match[end].split("/")) for end in ("first", "last"))
    if names_road(match) or not (is_day(month, day) and is_day(last_month, last_day)):
        return None
    to = match["to"].strip() if match["to"].strip().isalpha() else "hingga"
    return f"{_words(day, month)} {to} {_words(last_day, last_month)}"


def _days(match: re.Match[str]) -> str | None:
    """Several days of one month; a last day beyond twelve shows that they are no mixed fraction."""
    first, last, month = (int(match[name]) for name in ("first", "last", "month"))
    asked = word_before(match).lower() in _ASKING
    if not (asked or last > month) or _is_counted(match) or not (first < last and is_day(month, last) and first):
        return None
    return f"{cardinal(str(first))} hingga {_words(last, month)}"


def _day(match: re.Match[str]) -> str | None:
    """A day and a month: nobody writes fractions that are greater than one, or with noughts in front."""
    day, month = int(match["day"]), int(match["month"])
    padded = match["day"].startswith("0") or match["month"].startswith("0")
    asked = word_before(match).lower() in _ASKING or bool(last_words(match, reach=16) & _WEEKDAYS)
    sure = padded or day > month or month in _NO_PARTS or word_after(match).lower() in _AS_PLANNED
    if match.group() == "24/7" or not is_day(month, day) or not (asked or sure):
        return None
    return None if _is_counted(match) and not asked else _words(day, month)


def _is_counted(match: re.Match[str]) -> bool:
    """Return whether the words around say that this is a share, a score, a road or a sum."""
    around = match.string[max(0, match.start() - 4) : match.start()] + match.string[match.end() : match.end() + 4]
    return (
        names_road(match)
        or bool(last_words(match) & _COUNTING)
        or word_after(match).lower() in _COUNTED
        or _ARITHMETIC.search(around) is not None
    )


def _words(day: int, month: int) -> str:
    return f"{cardinal(str(day))} {MONTHS[month - 1]}"


def _sale(match: re.Match[str]) -> str | None:
    behind = match.string[match.end() : match.end() + _REACH].partition("\n")[0]
    around = last_words(match) | {word.lower() for word in _WORD.findall(behind)}
    if not (1 <= int(match[1]) <= len(MONTHS) and around & _SALES):
        return None
    return f"{cardinal(match[1])} {cardinal(match[1])}"
