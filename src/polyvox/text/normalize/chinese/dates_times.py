"""Dates and times of day."""

import re
from typing import Final

from polyvox.text.normalize.chinese.numbers import DASH, cardinal, counted, spelled
from polyvox.text.tracked import TrackedText

_DATE: Final = re.compile(r"(?<![\d.-])([12]\d{3})([-/.])(\d{1,2})\2(\d{1,2})(?![\d-]|\.\d)")
_YEARS: Final = re.compile(rf"(?<![\d.,])([12]\d{{3}})(年?){DASH}([12]\d{{3}})(?=年|学年|财年|赛季)")
_YEAR: Final = re.compile(r"(?<![\d.,])([12]\d{3})(?=年)|(?<![\d.,])(\d\d)(?=年\d{1,2}月)")
_GENERATION: Final = re.compile(r"(?<![\d.,])[5-9017][05](?=后(?!来|面|续|天|期))")
_TIMES: Final = re.compile(rf"(?<=\d:\d\d){DASH}(?=\d{{1,2}}:\d\d(?!\d))")
_TIME: Final = re.compile(
    r"(?<![\d:.,])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?(?![\d:])"
    r"(?: ?(?P<half>[aApP])\.?[mM](?![A-Za-z0-9])\.?)?"
)
_MONTH: Final = r"(?:1[0-2]|0?[1-9])"
_DAY: Final = r"(?:3[01]|[12]\d|0?[1-9])"
# A month and a day without a year, where the words around ask for a date and not for a fraction or a number.
_SHORT_DATE: Final = re.compile(
    rf"(?:(?<=[于在自从到至期日])|(?<=[期日][:： ]))(?P<month>{_MONTH})/(?P<day>{_DAY})(?![\d/.%])"
    rf"|(?<![\d./:])(?P<month2>{_MONTH})/(?P<day2>{_DAY})(?=[(（]?(?:周|星期|之?前|当天|晚上?|早上?|上午|下午|开始|放假|截止|举行))"
    rf"|(?<![\d./:])(?P<month3>{_MONTH})/(?P<day3>3[01]|2\d|1[3-9])(?=[是到])"
)
_HOLIDAY: Final = re.compile(
    rf"(?<=[假期庆节间])[:： ]?(?P<first>{_MONTH}\.{_DAY}){DASH}(?P<last>{_MONTH}\.{_DAY})(?![\d.%])"
)
_INCIDENT: Final = re.compile(r"(?<![\d.])(\d{1,2})[·•・](\d{1,2})(?!\d)")
_SALE: Final = re.compile(r"(?<![\d.,])618(?=大促|购物|活动|期间|年中|促销|电商)")
_UNTIL: Final = re.compile(r"(?<=[年月日号点时分秒天周岁])[-–—~～](?=\d)")


def read(text: TrackedText) -> TrackedText:
    """Dates in figures, years digit by digit, times with minutes, and what lies between two of them."""
    text = text.sub(_DATE, _date).sub(_SHORT_DATE, _short_date).sub(_HOLIDAY, _holiday)
    text = text.sub(_INCIDENT, lambda match: spelled(match[1] + match[2])).sub(
        _SALE, lambda match: spelled(match.group())
    )
    text = text.sub(_YEARS, _years).sub(_YEAR, lambda match: spelled(match[1] or match[2]))
    text = text.sub(_GENERATION, lambda match: spelled(match.group()))
    return text.sub(_TIMES, "到").sub(_TIME, _time).sub(_UNTIL, "到")


def _date(match: re.Match[str]) -> str | None:
    month, day = int(match[3]), int(match[4])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{spelled(match[1])}年{cardinal(str(month))}月{cardinal(str(day))}日"


def _short_date(match: re.Match[str]) -> str:
    found = [part for part in match.groups() if part]
    return _month_day(*found)


def _holiday(match: re.Match[str]) -> str:
    return "到".join(_month_day(*match[end].split(".")) for end in ("first", "last"))


def _month_day(month: str, day: str) -> str:
    return f"{cardinal(str(int(month)))}月{cardinal(str(int(day)))}日"


def _years(match: re.Match[str]) -> str:
    return f"{spelled(match[1])}{match[2]}到{spelled(match[3])}"


def _time(match: re.Match[str]) -> str | None:
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > 24 or minute > 59:
        return None
    words = {"a": "上午", "p": "下午"}.get((match["half"] or "").lower(), "") + counted(str(hour)) + "点"
    second = int(match["second"] or 0)
    if minute or second:
        words += ("零" if minute < 10 else "") + (cardinal(str(minute)) if minute else "") + "分"
    return words + (f"{cardinal(str(second))}秒" if second else "")
