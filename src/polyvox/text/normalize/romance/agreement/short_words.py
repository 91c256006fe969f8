"""Words that a full stop cuts short, which are found by their stops: a search by words is slow."""

from collections.abc import Iterator
from typing import Final

_LONGEST: Final = 12
OPENING: Final = tuple("(«“\"'")


def short_words(string: str) -> Iterator[tuple[int, str]]:
    """The words before full stops, without them, each behind the place where it begins."""
    end = string.find(".")
    while end >= 0:
        reach = max(0, end - _LONGEST - 2)  # with an opening mark and the space before it
        start = string.rfind(" ", reach, end) + 1
        if start or not reach:
            start += string[start : start + 1] in OPENING
            yield start, string[start:end]
        end = string.find(".", end + 1)
