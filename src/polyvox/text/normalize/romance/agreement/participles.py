"""Short adjectives and participles of French and Italian beside their noun: "accise incl.", "pross. area".

Each has four forms of its own, and several may stand in a row. Spanish and Portuguese have `adjectives`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.agreement.short_words import short_words
from polyvox.text.tracked import TrackedText

_BEFORE: Final = re.compile(
    r"(?P<one>(?<![\w.,])1 )?(?<![\w])([^\W\d_]+\.?)(?: (?:a mano|à main|au sol|in auto|non))? \Z"
)
_SHORT_BEFORE: Final = re.compile(r"[^\W\d_]+\. \Z")
_BEHIND: Final = re.compile(r" ([^\W\d_]+\.?)")
_ENDS: Final = re.compile(r"[»”\")]*(?:\s*\Z|\s*\n| [A-ZÀ-Ý])")
_REACH: Final = 40
_FEWEST: Final = 2

# Between a wind and what it is like: "venti da SO mod.".
_DIRECTION: Final = re.compile(
    r" (?:d[aeiu]l? |d')?(?:[NSEOW]{1,3}|[Nn]ord(?:-?[eo]\w+)?|[Ss]ud(?:-?[eo]\w+)?|[Ee]st|[Oo]u?[ve]st) \Z"
)


@dataclass(frozen=True, slots=True)
class Agreements:
    """The rule of one language; an adjective has the forms of one and of many, masculine and feminine."""

    adjectives: Mapping[str, tuple[str, str, str, str]]  # by what is written before the stop
    leading: frozenset[str]  # those that stand before their noun
    bare: frozenset[str]  # those that are written without a stop too
    nouns: Mapping[str, str]  # short nouns with their stop, and capitals
    function_words: frozenset[str]
    form: Callable[[str], int]  # of an adjective beside a noun
    pattern: re.Pattern[str]

    @classmethod
    def of(
        cls,
        adjectives: Mapping[str, tuple[str, str, str, str]],
        leading: str,
        nouns: Mapping[str, str],
        function_words: frozenset[str],
        form: Callable[[str], int],
        bare: str = "",
    ) -> "Agreements":
        letters: dict[str, list[str]] = {}
        for short in sorted(adjectives, key=len, reverse=True):
            letters.setdefault(short[0], []).append(
                short[1:] + (r"(?:\.|(?![\w.]))" if short in bare.split() else r"\.")
            )
        words = "|".join(rf"{letter}(?<![\w.'’/-].)(?:{'|'.join(rest)})" for letter, rest in letters.items())
        return cls(
            adjectives,
            frozenset(leading.split()),
            frozenset(bare.split()),
            nouns,
            function_words,
            form,
            re.compile(rf"(?:{words})(?![\w/])"),
        )

    def read(self, text: TrackedText) -> TrackedText:
        if any(f" {word}" in text.text for word in self.bare):
            return text.sub(self.pattern, self._agreed)
        return text.sub(self, self._agreed) if "." in text.text else text

    def finditer(self, string: str, /) -> Iterator[re.Match[str]]:
        """The short forms with their full stops."""
        for start, word in short_words(string):
            match = self.pattern.match(string, start) if word in self.adjectives else None
            if match is not None:
                yield match

    def _agreed(self, match: re.Match[str]) -> str | None:
        """None where no noun stands beside the short form."""
        short = match.group().rstrip(".")
        noun, one = self._noun_behind(match) if short in self.leading else None, False
        if noun is None:
            noun, one = self._noun_before(match.string, match.start())
        if noun is None or self._belongs(match):
            return None
        form = self.form(noun)
        ends = match.group().endswith(".") and _ENDS.match(match.string, match.end()) is not None
        return self.adjectives[short][form % 2 if one else form] + ("." if ends else "")

    def _belongs(self, match: re.Match[str]) -> bool:
        """Return whether a short form stands in a phrase of several: "moy. gén."."""
        before = _SHORT_BEFORE.search(match.string, max(0, match.start() - _REACH), match.start())
        return before is not None and before.group() + match.group() in self.nouns

    def _noun_before(self, text: str, end: int) -> tuple[str | None, bool]:
        """The noun, and whether there is one of it."""
        if direction := _DIRECTION.search(text, max(0, end - _REACH), end):
            end = direction.start() + 1
        while before := _BEFORE.search(text, max(0, end - _REACH), end):
            if before[2].rstrip(".") not in self.adjectives:
                return self._noun(before[2]), before["one"] is not None
            end = before.start()
        return None, False

    def _noun_behind(self, match: re.Match[str]) -> str | None:
        behind = _BEHIND.match(match.string, match.end())
        return None if behind is None else self._noun(behind[1])

    def _noun(self, written: str) -> str | None:
        """A word that may be a noun, or the one that is short for it."""
        word = self.nouns.get(written) or self.nouns.get(written.lower()) or written.rstrip(".").lower()
        last = word.split(" ")[0]
        return None if last in self.function_words or len(last) < _FEWEST else last


def adjectives(table: str, endings: Callable[[str], tuple[str, str, str, str]]) -> dict[str, tuple[str, str, str, str]]:
    """The forms of each adjective by its short forms, "incl excl|uso" on a line: stems and the masculine."""
    forms: dict[str, tuple[str, str, str, str]] = {}
    for entry in table.split():
        short, _, word = entry.partition("=")
        for each in short.split(","):
            forms[each] = endings(word)
    return forms
