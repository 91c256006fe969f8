"""Letters of the compass behind words that a direction follows: "vientos del NO", "au S.-E. de Nice"."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from polyvox.text.tracked import TrackedText

_LETTERS: Final = re.compile(r"[ '](?P<letters>[NSEOWL](?:\.?-?[NSEOWL]){0,2})\.?(?![\w/-])(?!\.\w)")
_SAINT: Final = re.compile(r"\.? ?[A-ZÀ-Ý][a-zà-ÿ]")
# What wind or sea is as strong as: "NO 5 à 6".
_FORCE: Final = re.compile(
    r" (?:\d (?:a|à) \d|\d{1,2} ?(?:km/h|nd|nœuds|kn|nodi|nudos|nós)|modér|moder|faibl|debol|forte?s?\b)"
)
_MORE_LETTERS: Final = re.compile(r" [A-Z](?!\w)")
_BEFORE_TWO: Final = frozenset("de d da do a ao".split())
_REACH: Final = 12
_LAST_WORD: Final = re.compile(r"[^\W\d_]+$")
_SENTENCE_ENDS: Final = re.compile(r"\s*(?:$|\n|\s[A-ZÀ-Ý])")


@dataclass(frozen=True, slots=True)
class Compass:
    """The directions of one language by their letters, and the words before them."""

    names: Mapping[str, str]
    before: frozenset[str]

    def read(self, text: TrackedText) -> TrackedText:
        return text.sub(_LETTERS, self._direction)

    def _direction(self, match: re.Match[str]) -> str | None:
        """None behind any other word."""
        word = _LAST_WORD.search(match.string[max(0, match.start() - _REACH) : match.start()])
        name = self.names.get(match["letters"].replace(".", "").replace("-", ""))
        if name is not None and len(match["letters"]) > 1 and _FORCE.match(match.string, match.end()):
            return f"{match.group()[0]}{name}"
        if word is None or name is None:
            return None
        if match["letters"] == "S" and match.group().endswith(".") and _SAINT.match(match.string, match.end()):
            return None
        if len(match["letters"]) == 1 and _MORE_LETTERS.match(match.string, match.end()):
            return None  # "W W W"
        before = word.group().lower()
        if before not in self.before and (len(match["letters"]) == 1 or before not in _BEFORE_TWO):
            return None
        ends = match.group().endswith(".") and _SENTENCE_ENDS.match(match.string, match.end())
        return f"{match.group()[0]}{name}{'.' if ends else ''}"
