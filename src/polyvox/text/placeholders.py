"""Placeholders: private-use characters that mask what normalisers must not touch, such as markup and tags."""

import re
from collections.abc import Callable
from typing import Final, TypeVar

from polyvox.errors import PolyvoxError
from polyvox.text.tracked import TrackedText

PLACEHOLDERS: Final = "\ue000-\uf8ff"
"""All of them, as a part of a regular expression's character class."""
_FIRST: Final = 0xE000
MAX_PLACEHOLDERS: Final = 0xF8FF - _FIRST + 1

Value = TypeVar("Value")


def mask(
    text: TrackedText,
    pattern: re.Pattern[str],
    value: Callable[[re.Match[str]], Value],
    *,
    taken: int = 0,
    too_many: PolyvoxError,
) -> tuple[TrackedText, tuple[Value, ...]]:
    """Replace every match by one placeholder, and return the values they stand for in order.

    `taken` placeholders are in use already; `too_many` is raised where they do not suffice.
    """
    values: list[Value] = []

    def placeholder(match: re.Match[str]) -> str:
        if taken + len(values) == MAX_PLACEHOLDERS:
            raise too_many
        values.append(value(match))
        return chr(_FIRST + taken + len(values) - 1)

    return text.sub(pattern, placeholder), tuple(values)


def placeholder_index(char: str) -> int:
    """The index of a placeholder, from 0; out of range for any other character."""
    return ord(char) - _FIRST


def placeholder_pattern(count: int) -> re.Pattern[str]:
    """Finds the first `count` placeholders, of which there must be one at least."""
    return re.compile(f"[{chr(_FIRST)}-{chr(_FIRST + count - 1)}]")
