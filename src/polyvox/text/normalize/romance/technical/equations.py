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
_FUNCTION: Final = re.compile(
    r"[fgh](?<!\w.)(?P<bracket>\()(?P<variable>(?:[a-z]|\d{1,3})(?:, ?(?:[a-z]|\d{1,3})){0,2})\)(?!\w)"
)
_QUOTIENT: Final = re.compile(
    r"(?<![\w/])(?<!\d )(?:(?<=[=≈] )(?P<first>[A-Za-zΔ]{1,2})/(?P<below>[A-Za-z]{1,2})(?![\w/²³])"
    r"|(?P<top>[A-Za-zΔ]{1,2})/(?P<bottom>[A-Za-z]{1,2})(?= ?[=≈]))"
)
_COEFFICIENT: Final = re.compile(r"(\d(?<![\w.,/].)\d{0,3})x(?= ?[-–−+=*<>≤≥²³^)]|[.,;:]?(?:\s|$))")
_DOT: Final = re.compile(r"·(?<=[\d)²³]·)(?=[\w(])|·(?<=\W[a-zA-Z]·)(?=[\w(])")
_FACTORS: Final = re.compile(r"(?<=\d)(?:[abc]{2,3}|xyz?)(?!\w)")
_AGE: Final = re.compile(
    r"(?P<sign>[<>]) ?(?=\d{1,2} (?:años|ans|anni|anos|meses|mois|mesi|días|dias|jours|giorni|semaines"
    r"|settimane|semanas)(?!\w))|(?P<bracketed>\([<>]) ?(?=\d)"
)
# The sign itself, which is no hyphen: "240 − 2³".
_TRUE_MINUS: Final = re.compile(r"(?<=[\d)²³⁴-⁹]) − (?=[\d(])|(?<=[²³⁴-⁹]) [-–—] (?=\d)|(?<=\d) [-–—] (?=\d+[²³⁴-⁹])")
_ANY_MINUS: Final = re.compile("[−²³⁴-⁹]")
_NEAR: Final = 40
_COMPARISONS: Final = "=≈≠≤≥<>"
_PARTED: Final = re.compile(rf"[{_COMPARISONS}]|[^\W\d_²³]{{2,}}|[;,](?!\d)|[.:](?= )")


@dataclass(frozen=True, slots=True)
class Equations:
    """The rules of one language."""

    language: RomanceLanguage

    def read(self, text: TrackedText) -> TrackedText:
        if _ANY_MINUS.search(text.text):
            text = text.sub(_TRUE_MINUS, f" {self.language.minus} ")
        if _COMPARISON.search(text.text) is None:
            return text
        if "·" in text.text:
            text = text.sub(_DOT, " × ")
        text = text.sub(_FUNCTION, lambda match: f"{match.group()[0]} {self.language.function_of} {match['variable']}")
        if "/" in text.text:
            text = text.sub(_QUOTIENT, self._quotient)
        text = text.sub(_AGE, self._age).sub(_COEFFICIENT, self._coefficient)
        return text.sub(_MINUS, self._minus).sub(_FACTORS, _apart)

    def _quotient(self, match: re.Match[str]) -> str:
        top, bottom = match["first"] or match["top"], match["below"] or match["bottom"]
        return f"{top} {self.language.over} {bottom}"

    def _minus(self, match: re.Match[str]) -> str | None:
        """None where no equation is near, or where words part two figures with a hyphen from it."""
        if not _is_near(match) or (match["sign"] in "-–−" and _is_apart(match)):
            return None
        return f"{match['left']} {self.language.minus} "

    def _coefficient(self, match: re.Match[str]) -> str | None:
        """None where no equation is near: "3x" may say how often."""
        return f"{match[1]} x" if _is_near(match) else None

    def _age(self, match: re.Match[str]) -> str:
        sign = match["sign"] or match["bracketed"][1:]
        words = self.language.less_than if sign == "<" else self.language.more_than
        return f"{'(' if match['bracketed'] else ''}{words} "


def _is_apart(match: re.Match[str]) -> bool:
    """Return whether a word or a mark of a sentence stands on both sides before any sign of an equation."""
    text = match.string
    before = _PARTED.findall(text[max(0, match.start() - _NEAR) : match.start()])
    behind = _PARTED.search(text, match.end(), match.end() + _NEAR)
    return (not before or before[-1] not in _COMPARISONS) and (behind is None or behind.group() not in _COMPARISONS)


def _apart(match: re.Match[str]) -> str | None:
    """Letters with a space before each; None where no equation is near."""
    return "".join(f" {letter}" for letter in match.group()) if _is_near(match) else None


def _is_near(match: re.Match[str]) -> bool:
    return _COMPARISON.search(match.string[max(0, match.start() - _NEAR) : match.end() + _NEAR]) is not None
