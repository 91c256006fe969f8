"""Short phone numbers, of which two digits are said together: "appelez le 3949", "chiama il 1522"."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.tracked import TrackedText

_FOUR: Final = re.compile(r"(\d(?<![\w.,/€$£+-].)\d)(\d\d)(?![\w/-]|[.,]\d)(?! ?[€$£%])")
_REACH: Final = 96


@dataclass(frozen=True, slots=True)
class ShortNumbers:
    """The words of one language that a call shows by."""

    called: re.Pattern[str]  # a call word and what stands between it and the figure
    article: re.Pattern[str]  # before the figure, where a word behind it speaks of a call
    service: re.Pattern[str]  # the words behind
    begins: tuple[str, ...]  # what such numbers begin with, and years do not
    whole: str  # the end of those that are said as one number
    known: frozenset[str] = frozenset()  # those that an article is enough for

    def read(self, text: TrackedText) -> TrackedText:
        return text.sub(_FOUR, self._pairs) if any(first in text.text for first in self.begins) else text

    def _pairs(self, match: re.Match[str]) -> str | None:
        """None for a figure that nobody calls."""
        string, start = match.string, match.start()
        if not match[1].startswith(self.begins) or match[2] == self.whole:
            return None
        reach = max(0, start - _REACH)
        if self.called.search(string, reach, start) is None and (
            self.article.search(string, reach, start) is None
            or (match.group() not in self.known and self.service.match(string, match.end()) is None)
        ):
            return None
        return f"{match[1]} {match[2]}"
