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

    held: tuple[str, ...]  # small letters, one of which a text holds that speaks of a call
    called: re.Pattern[str]  # a call word and what stands between it and the figure
    article: re.Pattern[str]  # before the figure, where a word behind it speaks of a call
    service: re.Pattern[str]  # the words behind
    begins: str  # digits that such numbers begin with
    whole: str  # the end of those that are said as one number

    def read(self, text: TrackedText) -> TrackedText:
        if not any(word in text.text for word in self.held):
            return text
        return text.sub(_FOUR, self._pairs)

    def _pairs(self, match: re.Match[str]) -> str | None:
        """None for a figure that nobody calls."""
        string, start = match.string, match.start()
        if match[1][0] not in self.begins or match[2] == self.whole:
            return None
        reach = max(0, start - _REACH)
        if self.called.search(string, reach, start) is None and (
            self.article.search(string, reach, start) is None or self.service.match(string, match.end()) is None
        ):
            return None
        return f"{match[1]} {match[2]}"
