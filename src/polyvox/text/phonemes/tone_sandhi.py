"""Tones of 一 and 不 before other tones, as they are spoken."""

from collections.abc import Sequence
from typing import Final

_FIGURES: Final = frozenset("零一二三四五六七八九幺点")
# Behind these 一 is the first, or the last character of a word.
_ORDINAL_BEFORE: Final = frozenset("第之唯统周期初高大专单其十") | _FIGURES
# Before these it is the first: of months, days, floors, classes.
_ORDINAL_BEHIND: Final = frozenset("月号楼班十") | _FIGURES - {"点"}
# A little, some, times, a step: 一 counts even behind 大 or 高.
_DEGREES: Final = frozenset("点些倍级截岁圈下")
_AFTER_DEGREE: Final = frozenset("大高")
_FALLING: Final = "4"


def with_sandhi(text: str, readings: Sequence[str]) -> list[str]:
    """The readings with yí and bú before a falling tone, and yì before another; a figure or an ordinal stays yī."""
    spoken = list(readings)
    if "一" not in text and "不" not in text:
        return spoken
    for place, (char, reading) in enumerate(zip(text, readings, strict=True)):
        tone = readings[place + 1][-1:] if place + 1 < len(text) else ""
        if char == "不" and reading == "bu4" and tone == _FALLING:
            spoken[place] = "bu2"
        elif char == "一" and reading == "yi1" and tone in ("1", "2", "3", _FALLING) and _counts(text, place):
            spoken[place] = "yi2" if tone == _FALLING else "yi4"
    return spoken


def _counts(text: str, place: int) -> bool:
    """Return whether 一 is one of something, not the first, a figure in a row, or the end of a word."""
    before, behind = text[place - 1 : place], text[place + 1]
    if before in _AFTER_DEGREE and behind in _DEGREES:
        return True
    return before not in _ORDINAL_BEFORE and behind not in _ORDINAL_BEHIND
