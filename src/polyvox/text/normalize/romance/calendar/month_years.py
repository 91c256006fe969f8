"""A month and a year in figures, of what ends or begins then: "CT 05/26", "scad. 09/27"."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from polyvox.text.tracked import TrackedText

_SLASH: Final = re.compile(r"/(?<=[01]\d/)[1-4]\d(?![\w/])")


@dataclass(frozen=True, slots=True)
class MonthYears:
    """The words of one language: years are those that no day or month is."""

    months: Sequence[str]
    prepositions: Mapping[str, str]  # before a day, and what they are before a month
    pattern: re.Pattern[str]

    @classmethod
    def of(cls, months: Sequence[str], cues: str, prepositions: Mapping[str, str]) -> "MonthYears":
        """The rule of a language; `cues` is a pattern of the words before, each with its full stop."""
        return cls(
            months,
            prepositions,
            re.compile(
                rf"(?<!\w)(?P<cue>{cues})(?P<joint>:? )(?:(?P<before>{'|'.join(prepositions)}) )?"
                r"(?P<month>0[1-9]|1[0-2])/(?P<year>1[3-9]|[234]\d)(?![\w/]|[.,]\d)"
            ),
        )

    def read(self, text: TrackedText) -> TrackedText:
        return text.sub(self.pattern, self._words) if _SLASH.search(text.text) else text

    def _words(self, match: re.Match[str]) -> str:
        before = self.prepositions.get(match["before"] or "", "")
        return f"{match['cue']}{match['joint']}{before}{self.months[int(match['month'])]} 20{match['year']}"
