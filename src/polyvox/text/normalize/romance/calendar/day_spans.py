"""Days of one month with a hyphen between: "1-21/7", which is "del 1 al 21/7"."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.tracked import TrackedText

_SPAN: Final = re.compile(
    r"(?<![\w/.,-])(?P<of>[Dd](?:el?|e|o) )?(?P<first>[1-9]|[12]\d|3[01])[-–](?P<last>[1-9]|[12]\d|3[01])"
    r"(?=/(?:0?[1-9]|1[0-2])(?:/(?:20)?\d\d)?"
    r"(?:\.?$|[,;:)]|\. | (?:en|em|n[oa]|a las|às|das|con|com|y|e|para|de \d)(?!\w)))"
)
_DASHED: Final = re.compile(r"\d[-–]\d\d?/\d")


@dataclass(frozen=True, slots=True)
class DaySpans:
    """The words of one language."""

    of: str
    upto: str

    def read(self, text: TrackedText) -> TrackedText:
        return text.sub(_SPAN, self._span) if "/" in text.text and _DASHED.search(text.text) else text

    def _span(self, match: re.Match[str]) -> str | None:
        """None for what does not go up: "2-1/2"."""
        if int(match["first"]) >= int(match["last"]):
            return None
        return f"{match['of'] or self.of + ' '}{match['first']} {self.upto} {match['last']}"
