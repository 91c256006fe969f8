"""A pattern that chooses the reading of a Chinese character by the characters around it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """A reading of the character that `pattern` begins at or calls `at`; `alone` where it must be a word by itself."""

    pattern: re.Pattern[str]
    reading: str
    alone: bool

    def found_in(self, text: str, places: Sequence[int]) -> list[int]:
        """The places of the character that the pattern fits, of all its places in the text."""
        if self.pattern.groupindex:
            return [match.start(match.lastgroup or 0) for match in self.pattern.finditer(text)]
        fits = self.pattern.match
        return [place for place in places if fits(text, place)]


def rules(*rules: tuple[str, str]) -> tuple[Rule, ...]:
    """The rules of pairs of a reading and a pattern; a reading with a star is for a word of one character only."""
    return tuple(Rule(re.compile(pattern), reading.strip("*"), reading.endswith("*")) for reading, pattern in rules)
