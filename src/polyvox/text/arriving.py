"""Text that arrives piece by piece, cut into sentences, or finer, as soon as that is safe."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from polyvox.text.split import clauses, sentences, settled_end
from polyvox.text.tracked import TrackedText
from polyvox.types import Span

LONGEST: Final = 400
"""Characters after which a sentence is cut at a clause or a word."""
_CERTAIN: Final = 64
"""Characters behind a mark that leave no doubt whether it ends a sentence."""

_PLAIN: Final = r"(?:I|[^\W\d_A-Z]+(?:['’][a-z]+)?),?"
_HAN: Final = "[\u4e00-\u9fff]"
# Behind three plain words and before two more nothing is read otherwise for what stands on the far side: there is no
# figure, abbreviation or capital near.
_SAFE: Final = re.compile(rf"(?<!\S)(?:{_PLAIN} +){{3}}(?={_PLAIN} +{_PLAIN}\s)|(?<={_HAN})[，、；：](?={_HAN})")


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the text without the white space around it, where it stands, and whether a sentence ends with it."""

    text: str
    start: int
    ends: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def in_whole(self, span: Span) -> Span:
        """A span of this stretch as one of the text."""
        return Span(self.start + span.start, self.start + span.end)


class ArrivingText:
    """What has arrived and is not cut yet. Where cuts fall depends on the whole text, never on its pieces.

    With `phrases`, sentences are given away bit by bit, cut where how they are read does not depend on what follows.
    """

    def __init__(self, *, longest: int = LONGEST, phrases: bool = False) -> None:
        self._longest = longest
        self._phrases = phrases
        self._rest = ""
        self._done = 0

    def push(self, piece: str) -> Iterator[Part]:
        """What this piece completes; read all of it before the next."""
        self._rest += piece
        while (cut := self._next_cut()) is not None:
            yield from self._taken(*cut)

    def finish(self) -> Iterator[Part]:
        """What is left, now that no more will come."""
        for sentence in sentences(TrackedText.of(self._rest)):
            yield from self._taken(len(sentence), ends=True)

    def _taken(self, end: int, ends: bool) -> Iterator[Part]:
        """The next `end` characters, if there is anything in them."""
        raw, self._rest = self._rest[:end], self._rest[end:]
        part = Part(raw.strip(), self._done + len(raw) - len(raw.lstrip()), ends)
        self._done += end
        if part.text:
            yield part

    def _next_cut(self) -> tuple[int, bool] | None:
        """Where the text is to be cut next and whether a sentence ends there, if that is certain by now."""
        seen = self._rest[: self._longest + _CERTAIN]
        end = settled_end(seen)
        safe = _SAFE.search(seen) if self._phrases else None
        if safe is not None and safe.end() <= min(end or self._longest, self._longest):
            return safe.end(), False
        if end is not None and end <= self._longest:
            return end, True
        return (self._forced_cut(), False) if len(seen) == self._longest + _CERTAIN else None

    def _forced_cut(self) -> int:
        *before, last = clauses(TrackedText.of(self._rest[: self._longest]))
        if before:
            return self._longest - len(last)
        return self._rest.rfind(" ", 1, self._longest) + 1 or self._longest
