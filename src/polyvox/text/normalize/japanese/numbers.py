"""Figures in Japanese text. Whole numbers stay in digits, so that a reader of words can join them to their counters."""

from typing import Final

_SPOKEN: Final = ("ゼロ", "イチ", "ニー", "サン", "ヨン", "ゴー", "ロク", "ナナ", "ハチ", "キュー")
_WRITTEN: Final = "零一二三四五六七八九"

# Regular-expression pieces. A number never begins inside another, so a search that fails goes on behind it.
NUMBER_START: Final = r"(?<![\d.])(?<!\d,)"
NUMBER: Final = r"(?:(?:\d{1,3}(?:,\d{3})++(?!\d)|\d++)(?:\.\d++)?+)"
NUMBER_END: Final = r"(?![.,]?\d)"
DASH: Final = r" ?(?:[-–—~～〜]|から) ?"


def spelled(digits: str) -> str:
    """Digit by digit, as telephone numbers are read."""
    return "".join(_SPOKEN[int(digit)] for digit in digits)


def room(digits: str) -> str:
    """The number of a room, in which nought is a circle."""
    return spelled(digits).replace("ゼロ", "マル")


def number(text: str) -> str:
    """A match of `NUMBER` without its commas; decimals behind 点."""
    whole, point, decimals = text.replace(",", "").partition(".")
    if not point:
        return whole
    return f"{'零' if int(whole) == 0 else whole}点" + "".join(_WRITTEN[int(digit)] for digit in decimals)
