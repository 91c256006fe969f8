"""Text that is still streaming in, split into sentences, or finer, as soon as no more text can change the split."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from polyvox.text.segment import word_boundary
from polyvox.text.split import clauses, sentences, settled_end
from polyvox.text.tracked import TrackedText
from polyvox.types import Span

MAX_SEGMENT_CHARS: Final = 400
"""Characters after which a sentence is cut at a clause or a word."""
_LOOKAHEAD: Final = 64
"""Characters behind a mark that leave no doubt whether it ends a sentence."""

_PLAIN: Final = r"(?:I|[^\W\d_A-Z]+(?:['’][a-z]+)?),?"
_HAN: Final = "[\u4e00-\u9fff]"
# Behind three plain words and before two more nothing is read otherwise for what stands on the far side: there is no
# figure, abbreviation or capital near.
_SAFE: Final = re.compile(rf"(?<!\S)(?:{_PLAIN} +){{3}}(?={_PLAIN} +{_PLAIN}\s)|(?<={_HAN})[，、；：](?={_HAN})")


@dataclass(frozen=True, slots=True)
class StreamSegment:
    """A run of the streamed text without the white space around it; `start` is its offset in the whole text."""

    text: str
    start: int
    ends_sentence: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def in_whole(self, span: Span) -> Span:
        """A span of this segment as one of the whole text."""
        return Span(self.start + span.start, self.start + span.end)


class StreamSplitter:
    """Buffers text until it can be split. The splits depend on the whole text, never on how it was sent.

    With `phrases`, sentences are split further, where how they are read does not depend on what follows.
    """

    def __init__(self, *, max_chars: int = MAX_SEGMENT_CHARS, phrases: bool = False) -> None:
        self._max_chars = max_chars
        self._phrases = phrases
        self._buffer = ""
        self._offset = 0

    def push(self, text: str) -> Iterator[StreamSegment]:
        """Add text and yield the segments that it completes; exhaust the iterator before the next call."""
        self._buffer += text
        while (split := self._next_split()) is not None:
            yield from self._take(*split)

    def finish(self) -> Iterator[StreamSegment]:
        """The segments of what is left, now that no more text will come."""
        for sentence in sentences(TrackedText.of(self._buffer)):
            yield from self._take(len(sentence), ends_sentence=True)

    def _take(self, count: int, ends_sentence: bool) -> Iterator[StreamSegment]:
        """The next `count` characters, if they are more than white space."""
        raw, self._buffer = self._buffer[:count], self._buffer[count:]
        segment = StreamSegment(raw.strip(), self._offset + len(raw) - len(raw.lstrip()), ends_sentence)
        self._offset += count
        if segment.text:
            yield segment

    def _next_split(self) -> tuple[int, bool] | None:
        """The next split position and whether a sentence ends there, if that is certain by now."""
        seen = self._buffer[: self._max_chars + _LOOKAHEAD]
        end = settled_end(seen)
        safe = _SAFE.search(seen) if self._phrases else None
        if safe is not None and safe.end() <= min(end or self._max_chars, self._max_chars):
            return safe.end(), False
        if end is not None and end <= self._max_chars:
            return end, True
        return (self._forced_split(), False) if len(seen) == self._max_chars + _LOOKAHEAD else None

    def _forced_split(self) -> int:
        *before, last = clauses(TrackedText.of(self._buffer[: self._max_chars]))
        return self._max_chars - len(last) if before else word_boundary(self._buffer, self._max_chars)
