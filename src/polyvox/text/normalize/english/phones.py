"""Telephone numbers and other numbers that are read digit by digit."""

import re
from typing import Final

from polyvox.text.normalize.english.context import word_before
from polyvox.text.normalize.english.numbers import spelled, spelled_in_groups
from polyvox.text.tracked import TrackedText

_START: Final = r"(?<![\w.,/$€£¥+-])"
_END: Final = r"(?![\w/-]|[.,]\d)"
_AMERICAN: Final = re.compile(
    rf"{_START}(?:\+?1[ .-]?)?(?:\(\d{{3}}\) ?|\d{{3}}(?P<mark>[ .-]))\d{{3}}(?(mark)(?P=mark)|[ .-])\d{{4}}{_END}"
)
_INTERNATIONAL: Final = re.compile(rf"{_START}\+\d[\d ().-]{{6,20}}\d{_END}")
_LOCAL: Final = re.compile(rf"{_START}\d{{3}}-\d{{4}}{_END}")
_SHORT: Final = re.compile(r"(?<=[A-Za-z.] )\d{3,8}(?!\w|[.,:]\d)")
_CARD: Final = re.compile(rf"{_START}\d{{4}}(?P<gap>[ -])(?:\d{{4}}(?P=gap)){{2}}\d{{1,4}}{_END}")
_DIGITS: Final = re.compile(r"\d+")
_CALLS: Final = frozenset("call called calling calls dial dialed dialled dials ext ext. extension pin PIN".split())


def read(text: TrackedText) -> TrackedText:
    """Cards, American, international and short numbers, emergency numbers and extensions."""
    text = text.sub(_CARD, _groups).sub(_AMERICAN, _groups).sub(_INTERNATIONAL, _international).sub(_LOCAL, _groups)
    return text.sub(_SHORT, lambda match: spelled(match.group()) if word_before(match) in _CALLS else None)


def _groups(match: re.Match[str]) -> str:
    groups = [_group(digits) for digits in _DIGITS.findall(match.group())]
    return ("plus " if match.group()[0] == "+" else "") + ", ".join(groups)


def _group(digits: str) -> str:
    """One group; the round ones of toll-free numbers are hundreds."""
    if digits in ("800", "900"):
        return f"{spelled(digits[0])} hundred"
    return spelled_in_groups(digits) if len(digits) > 4 else spelled(digits)


def _international(match: re.Match[str]) -> str | None:
    return _groups(match) if 8 <= sum(char.isdigit() for char in match.group()) <= 15 else None
