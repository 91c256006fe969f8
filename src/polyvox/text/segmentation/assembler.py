"""Text that arrives in fragments, put together and cut into segments that can be spoken."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from polyvox.text.markup.arriving_markup import MAX_OPEN_CHARS, MarkupView, view
from polyvox.text.segmentation.boundaries import is_extender, opening_clause, phrase_end, safe_end
from polyvox.text.segmentation.segment import word_boundary
from polyvox.text.segmentation.split import clauses, first_end
from polyvox.text.segmentation.surrogates import SurrogateJoiner
from polyvox.text.tracked import TrackedText
from polyvox.types import Span

MAX_SEGMENT_CHARS: Final = 400
"""Characters after which a sentence is cut at a clause or a word."""
_LOOKAHEAD: Final = 64
"""Characters behind a mark that leave no doubt whether it ends a sentence."""
_CONTEXT: Final = 64
"""Characters of what has been cut off that tell how the rest is to be understood."""
_WORD: Final = re.compile(r"\S")
_MAX_CLUSTER: Final = 16
"""Characters that are kept together as one that is seen."""


@dataclass(frozen=True, slots=True)
class StreamSegment:
    """A run of the arriving text without the white space around it; `start` is its offset in the whole text."""

    text: str
    start: int
    ends_sentence: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def in_whole(self, span: Span) -> Span:
        """A span of this segment as one of the whole text."""
        return Span(self.start + span.start, self.start + span.end)


@dataclass(frozen=True, slots=True)
class _Cut:
    """The end of the next segment, in the text that is there."""

    end: int
    ends_sentence: bool


class TextAssembler:
    """Buffers arriving text until it can be cut. Without a flush or a release the segments depend on the text alone,
    never on how it was sent.

    Segments are sentences. The first one, and the first after a flush or a release, may be a clause, so that speech
    starts early; with `phrases`, all are as short as can be. Either is cut off only where neither side is read
    otherwise for the other. Halves of surrogate pairs are joined: offsets count whole characters. Exhaust each
    iterator before the next call.
    """

    def __init__(self, *, max_chars: int = MAX_SEGMENT_CHARS, phrases: bool = False) -> None:
        self._max_chars = max_chars
        self._phrases = phrases
        self._max_raw = 2 * max_chars + _LOOKAHEAD
        self._surrogates = SurrogateJoiner()
        self._text = ""
        self._offset = 0
        self._at = 0
        self._opening = True
        # How far what follows `_at` is known to hold no end of a sentence, and no first clause.
        self._without_end = 0
        self._without_clause = 0

    def push(self, text: str) -> Iterator[StreamSegment]:
        """Add text and yield the segments that it completes."""
        self._text += self._surrogates.push(text)
        while (cut := self._next_cut()) is not None:
            yield from self._take(cut)
        self._forget()

    def flush(self) -> Iterator[StreamSegment]:
        """All text that is there, even in the middle of a sentence; half a character waits for the other half."""
        while (cut := self._next_cut(final=True)) is not None:
            yield from self._take(cut)
        self._forget()
        self._opening = True

    def release(self) -> Iterator[StreamSegment]:
        """The text up to the last place where it can be cut whatever comes next: for when nothing came for long."""
        seen = self._view(final=False)
        place = safe_end(seen.text, seen.start)
        if place is not None:
            ends_sentence = first_end(seen.text[:place], seen.start, seen.start, final=True)[0] is not None
            yield from self._take(_Cut(self._placed(seen, place), ends_sentence))
            self._forget()
            self._opening = True

    def finish(self) -> Iterator[StreamSegment]:
        """The segments of what is left, now that no more text will come."""
        self._text += self._surrogates.finish()
        return self.flush()

    def _take(self, cut: _Cut) -> Iterator[StreamSegment]:
        """The text up to a cut, if it is more than white space."""
        raw = self._text[self._at : cut.end]
        start = self._offset + self._at + len(raw) - len(raw.lstrip())
        self._at = cut.end
        self._without_end = self._without_clause = 0
        segment = StreamSegment(raw.strip(), start, cut.ends_sentence)
        if segment.text:
            self._opening = self._opening and not any(char.isalnum() for char in segment.text)
            yield segment

    def _forget(self) -> None:
        """Drop what has been cut off, save for the context of what follows."""
        dropped = max(0, self._at - _CONTEXT)
        self._text, self._offset, self._at = self._text[dropped:], self._offset + dropped, self._at - dropped

    def _view(self, *, final: bool) -> MarkupView:
        context = max(0, self._at - _CONTEXT)
        window = self._text[context : self._at + self._max_raw + MAX_OPEN_CHARS]
        return view(window, self._at - context, final=final)

    def _placed(self, seen: MarkupView, place: int) -> int:
        return max(self._at - seen.start + seen.in_window(place), self._at + 1)

    def _next_cut(self, *, final: bool = False) -> _Cut | None:
        """The next cut, if it is certain by now; with `final` the rest of the text is a segment."""
        self._skip_space()
        if self._at == len(self._text):
            return None
        seen = self._view(final=final)
        limit = seen.start + self._max_chars
        text = seen.text[: min(limit + _LOOKAHEAD, seen.place(seen.start + self._max_raw))]
        reached = self._at - seen.start + seen.known
        complete = final and len(text) == len(seen.text) and reached == len(self._text)
        end, certain = first_end(text, seen.start, seen.start + self._without_end, final=complete)
        self._without_end = certain - seen.start
        early = self._early_end(text, seen.start, certain)
        if early is not None and early <= min(certain, limit):
            return _Cut(self._placed(seen, early), ends_sentence=False)
        if end is not None and end <= limit:
            return _Cut(self._placed(seen, end), ends_sentence=True)
        if len(text) == limit + _LOOKAHEAD or seen.known - seen.start >= self._max_raw:
            forced = _forced_place(text, seen.start, min(limit, len(text)))
            return _Cut(self._placed(seen, forced), ends_sentence=False)
        return _Cut(len(self._text), ends_sentence=True) if complete else None

    def _skip_space(self) -> None:
        word = _WORD.search(self._text, self._at)
        self._at = word.start() if word else len(self._text)

    def _early_end(self, text: str, start: int, certain: int) -> int | None:
        """A place to cut inside the sentence, so that speech starts before its end is known."""
        if self._phrases:
            return phrase_end(text, start, certain)
        if not self._opening:
            return None
        place, searched = opening_clause(text, start, start + self._without_clause, certain)
        self._without_clause = searched - start
        return place


def _forced_place(text: str, start: int, limit: int) -> int:
    """Cut a sentence that is too long: at a clause, at a safe place, between words, or between characters."""
    rest = text[start:limit]
    if not rest:  # a tag that is longer than a segment
        return start + 1
    *before, last = clauses(TrackedText.of(rest)) or [TrackedText.of(rest)]
    if before:
        return start + len(rest) - len(last)
    place = safe_end(text[:limit], start) or start + word_boundary(rest, len(rest))
    earliest = max(start + 1, place - _MAX_CLUSTER)
    while place > earliest and is_extender(text[place : place + 1]):
        place -= 1
    return place
