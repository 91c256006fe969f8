"""The figure before a unit: a sign, a number or a range, and tens of thousands."""

import re
from typing import Final

from polyvox.text.normalize.chinese.numbers import counted

MINUS: Final = r"(?P<minus>(?<![\dA-Za-z])-)?"
SCALE: Final = "(?P<scale>[千百万亿兆]{0,3}多?)"


def amounts(match: re.Match[str], negative: str = "负") -> str:
    """The number or range in front of a unit."""
    words = (negative if match["minus"] else "") + counted(match["amount"])
    return f"{words}{until(match)}{counted(match['upto'])}" if match["upto"] else words


def until(match: re.Match[str], first: str | int = "amount", last: str | int = "upto") -> str:
    """The word between two numbers: 至 where it is written, else 到."""
    return "至" if "至" in match.string[match.end(first) : match.start(last)] else "到"
