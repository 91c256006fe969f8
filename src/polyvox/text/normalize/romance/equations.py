"""Formulas: the minus of an equation, functions, and figures that something is less or more than."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.language import RomanceLanguage
from polyvox.text.tracked import TrackedText

_COMPARISON: Final = re.compile("[=≈≠≤≥<>]")
_TERM: Final = r"(?:\d+(?:[.,]\d+)?[a-z]{0,2}|[a-zA-Z])[²³]?"
# A term, a number or a bracket on both sides.
_MINUS: Final = re.compile(
    rf"(?<![\w.,/-])(?P<left>{_TERM}|(?<=\)))(?P<sign> [-–−] |[-–−])(?=(?:{_TERM}|\()(?![\w/-]|\.\d))"
)
_SPAN: Final = re.compile(r"\d+(?:[.,]\d+)?[-–−]\d")
_FUNCTION: Final = re.compile(r"[fgh](?<!\w.)(?P<bracket>\()(?P<variable>[a-z]|\d{1,3})\)(?!\w)")
_COEFFICIENT: Final = re.compile(r"(\d(?<![\w.,/].)\d{0,3})x(?= ?[-–−+=*<>≤≥²³^)]|[.,;:]?(?:\s|$))")
_DOT: Final = re.compile(r"·(?<=[\d)²³]·)(?=[\w(])|·(?<=\W[a-zA-Z]·)(?=[\w(])")
_FACTORS: Final = re.compile(r"(?<=\d)(?:[abc]{2,3}|xyz?)(?!\w)")
_AGE: Final = re.compile(r"(?P<sign>[<>]) ?(?=\d{1,2} (?:años|ans|anni|anos)(?!\w))|(?P<bracketed>\([<>]) ?(?=\d)")
_NEAR: Final = 40
_WORD: Final = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Equations:
    """The rules of one language."""

    language: RomanceLanguage

    def read(self, text: TrackedText) -> TrackedText:
        if _COMPARISON.search(text.text) is None:
            return text
        if "·" in text.text:
            text = text.sub(_DOT, " × ")
        text = text.sub(_FUNCTION, lambda match: f"{match.group()[0]} {self.language.function_of} {match['variable']}")
        return (
            text.sub(_AGE, self._age)
            .sub(_COEFFICIENT, self._coefficient)
            .sub(_MINUS, self._minus)
            .sub(_FACTORS, _apart)
        )

    def _minus(self, match: re.Match[str]) -> str | None:
        """None where no equation is near."""
        if not _is_near(match) or (_SPAN.match(match.string, match.start()) and not _is_beside(match)):
            return None
        return f"{match['left']} {self.language.minus} "

    def _coefficient(self, match: re.Match[str]) -> str | None:
        """None where no equation is near: "3x" may say how often."""
        return f"{match[1]} x" if _is_near(match) else None

    def _age(self, match: re.Match[str]) -> str:
        sign = match["sign"] or match["bracketed"][1:]
        words = self.language.less_than if sign == "<" else self.language.more_than
        return f"{'(' if match['bracketed'] else ''}{words} "


def _apart(match: re.Match[str]) -> str | None:
    """Letters with a space before each; None where no equation is near."""
    return "".join(f" {letter}" for letter in match.group()) if _is_near(match) else None


def _is_beside(match: re.Match[str]) -> bool:
    """Return whether no word stands between figures and the sign of their equation."""
    before = _WORD.split(match.string[max(0, match.start() - _NEAR) : match.start()])[-1]
    behind = _WORD.split(match.string[match.end() : match.end() + _NEAR], maxsplit=1)[0]
    return _COMPARISON.search(before) is not None or _COMPARISON.search(behind) is not None


def _is_near(match: re.Match[str]) -> bool:
    return _COMPARISON.search(match.string[max(0, match.start() - _NEAR) : match.end() + _NEAR]) is not None
