"""Figures as Mandarin words."""

import re
from typing import Final

DIGITS: Final = "零一二三四五六七八九"
LONGEST_CARDINAL: Final = 16

# Regular-expression pieces. A number never begins inside another, so a search that fails goes on behind it.
NUMBER_START: Final = r"(?<![\d.])(?<!\d,)"
NUMBER: Final = r"(?:(?:\d{1,3}(?:,\d{3})++(?!\d)|\d++)(?:\.\d++)?+)"
NUMBER_END: Final = r"(?![.,]?\d)"
DASH: Final = r" ?(?:[-–—~～至到]|——) ?"

_POSITIONS: Final = ("千", "百", "十", "")
_TWO_AS_PAIR: Final = re.compile("二(?=千)|(?<![十百千零])二(?=[万亿])")


def spelled(digits: str) -> str:
    """Digit by digit, as years and codes are read."""
    return "".join(DIGITS[int(digit)] for digit in digits)


def dialled(digits: str) -> str:
    """Digit by digit on the telephone, where one is yāo."""
    return spelled(digits).replace("一", "幺")


def cardinal(digits: str) -> str:
    """A cardinal. A figure too long for that, or with leading zeros, is read digit by digit."""
    if len(digits) > LONGEST_CARDINAL or (len(digits) > 1 and digits[0] == "0"):
        return spelled(digits)
    words = _whole(int(digits)) or DIGITS[0]
    words = words[1:] if words.startswith("一十") else words
    return _TWO_AS_PAIR.sub("两", words)


def _whole(number: int) -> str:
    for size, unit in ((10**8, "亿"), (10**4, "万")):
        if number >= size:
            high, low = divmod(number, size)
            gap = DIGITS[0] if 0 < low < size // 10 else ""
            return _whole(high) + unit + gap + _whole(low)
    return _section(number)


def _section(number: int) -> str:
    """Up to four digits; a run of zeros between others is read once."""
    words = ""
    for digit, position in zip(f"{number:04d}", _POSITIONS, strict=True):
        if digit != "0":
            words += DIGITS[int(digit)] + position
        elif words and not words.endswith(DIGITS[0]):
            words += DIGITS[0]
    return words.rstrip(DIGITS[0])


def number(text: str) -> str:
    """A match of `NUMBER`: whole, grouped by commas, or with decimals."""
    whole, point, decimals = text.replace(",", "").partition(".")
    return cardinal(whole) + ("点" + spelled(decimals) if point else "")


def counted(text: str) -> str:
    """A number before a measure word: two becomes a pair."""
    return "两" if text == "2" else number(text)
