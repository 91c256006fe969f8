"""Figures that an Italian word of years is written onto: "24enne", "18-30enni", "50ennale"."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from polyvox.text.tracked import TrackedText

_YEARS: Final = re.compile(
    r"(?<![\w.,/])(?:(?P<first>\d{1,3})[-–/])?(?P<years>\d{1,3})(?P<ending>enn(?:[ei]|al[ei]|i[oi]))(?!\w)"
)
_KEPT: Final = ("sei", "due")


@dataclass(frozen=True, slots=True)
class Ages:
    """The rule, with the cardinal numbers of Italian."""

    cardinal: Callable[[int], str]

    def read(self, text: TrackedText) -> TrackedText:
        return text.sub(_YEARS, self._said) if "enn" in text.text else text

    def _said(self, match: re.Match[str]) -> str:
        words = self._with_ending(match["years"], match["ending"])
        if match["first"] is None:
            return words
        return f"{self.cardinal(int(match['first']))} {words}"

    def _with_ending(self, years: str, ending: str) -> str:
        words = self.cardinal(int(years))
        if words.endswith("tré"):
            return f"{words[:-1]}e{ending}"
        return (words if words.endswith(_KEPT) else words[:-1]) + ending
