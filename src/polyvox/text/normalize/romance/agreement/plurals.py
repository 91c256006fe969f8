"""Nouns that are cut short behind a determiner of many: "les bur.", "gli uff."."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.agreement.short_words import OPENING, short_words
from polyvox.text.tracked import TrackedText

_FIGURE: Final = r"(?P<figure>\d(?<![\w.,/:°].)(?:(?<!1)|\d{1,3}))"
_LABELLED: Final = re.compile(r" ?\d")
_NEXT: Final = re.compile(r" [^\W\d_]+\.")
_ENDS: Final = re.compile(r"[»”\")]*(?:\s*\Z|\s*\n)")


@dataclass(frozen=True, slots=True)
class Plurals:
    """The rule of one language."""

    nouns: Mapping[str, str]  # by their short forms with the stop
    stems: frozenset[str]
    uncounted: frozenset[str]  # what a figure before does not count: months, and units, which other rules read
    phrases: frozenset[str]  # of several short forms, which are read together
    plural: Callable[[str], str]
    pattern: re.Pattern[str]

    @classmethod
    def of(
        cls, forms: Mapping[str, str], determiners: str, uncounted: frozenset[str], plural: Callable[[str], str]
    ) -> "Plurals":
        letters: dict[str, list[str]] = {}
        for word in determiners.split():
            letters.setdefault(word[0], []).append(word[1:])
        words = "|".join(rf"[{letter}{letter.upper()}](?<!\w.)(?:{'|'.join(rest)})" for letter, rest in letters.items())
        nouns = {short: noun for short, noun in forms.items() if noun.isalpha() and short[-1] == "."}
        phrases = frozenset(form for form in forms if " " in form)
        return cls(
            nouns,
            frozenset(short[:-1] for short in nouns),
            frozenset(f"{short}." for short in uncounted),
            phrases,
            plural,
            re.compile(rf"(?P<before>(?:{words}|{_FIGURE}) )(?P<short>[a-zà-ÿ]{{2,12}}\.)(?![\w/])"),
        )

    def read(self, text: TrackedText) -> TrackedText:
        return text.sub(self, self._plural) if "." in text.text else text

    def finditer(self, string: str, /) -> Iterator[re.Match[str]]:
        """The short forms with the determiner before each."""
        for start, word in short_words(string):
            if word in self.stems:
                before = string.rfind(" ", 0, max(start - 1, 0)) + 1
                match = self.pattern.match(string, before + (string[before : before + 1] in OPENING))
                if match is not None:
                    yield match

    def _plural(self, match: re.Match[str]) -> str | None:
        """None for what is no short form."""
        noun = self.nouns.get(match["short"])
        if match["figure"] and (match["short"] in self.uncounted or _LABELLED.match(match.string, match.end())):
            return None
        behind = _NEXT.match(match.string, match.end())
        if noun is None or (behind and match["short"] + behind.group() in self.phrases):
            return None
        return match["before"] + self.plural(noun) + ("." if _ENDS.match(match.string, match.end()) else "")
