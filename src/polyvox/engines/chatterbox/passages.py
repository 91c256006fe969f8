"""Stretches of a caller's text that are spoken in one go: their ids, and their places in the text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from polyvox.engines.chatterbox.text import TextEncoder
from polyvox.text.segmentation.segment import word_boundary
from polyvox.text.spoken import Pause
from polyvox.text.tracked import TrackedText
from polyvox.types import Span

MOST_IDS = 640
"""Text ids of one passage."""
_MOST_CHARS, _MOST_DENSE_CHARS = 300, 100
_DENSE = frozenset({"ja", "ko", "zh"})
"""Languages whose characters take the time of a syllable or more."""
_IN_PARENTHESES = re.compile(r"\([^()]{1,20}\)")


@dataclass(frozen=True, slots=True)
class Passage:
    """Text ids, what the caller wrote for them, and its place in the text."""

    ids: tuple[int, ...]
    text: str
    span: Span


def most_chars(language: str) -> int:
    """Characters of the longest passage: speech beyond half a minute is unreliable."""
    return _MOST_DENSE_CHARS if language in _DENSE else _MOST_CHARS


@dataclass(frozen=True, slots=True)
class PassageReader:
    """Reads the segments of one text; `tags` are those that its model knows.

    A segment with more ids than `most_ids`, which is one of rare signs, is halved.
    """

    segments: Iterator[TrackedText | Pause]
    raw: str
    language: str
    encoder: TextEncoder
    tags: frozenset[str]
    most_ids: int = MOST_IDS

    def next(self) -> list[Passage] | Pause | None:
        """The passages of the next segment: a prompt must not wait until all others have their segments."""
        segment = next(self.segments, None)
        if segment is None or isinstance(segment, Pause):
            return segment
        return list(self._passages(self._with_tags(segment)))

    def _with_tags(self, segment: TrackedText) -> TrackedText:
        """The segment with the caller's tags, whose brackets have become parentheses as those of any aside."""

        def tag(match: re.Match[str]) -> str | None:
            span = segment.span(match.start(), match.end())
            written = self.raw[span.start : span.end]
            return written if written in self.tags else None

        return segment.sub(_IN_PARENTHESES, tag) if self.tags else segment

    def _passages(self, text: TrackedText) -> Iterator[Passage]:
        if not text.text.strip():
            return
        ids = self.encoder.encode(text.text, self.language)
        if len(ids) > self.most_ids and len(text) > 1:
            cut = word_boundary(text.text, len(text) // 2)
            yield from self._passages(text[:cut])
            yield from self._passages(text[cut:])
            return
        span = text.span(0, len(text))
        yield Passage(ids, self.raw[span.start : span.end], span)
