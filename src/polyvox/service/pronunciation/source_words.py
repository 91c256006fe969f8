"""Words of a text that was rewritten, as the caller wrote them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from polyvox.text.tracked import TrackedText
from polyvox.types import Span, WordTiming


class SourceWords:
    """Makes one word of all words that are said for one piece of the caller's text, and gives it the caller's letters.

    `starts` and `ends` are what the characters of the spoken text stand for in `raw`; all of them may still grow. Where
    a chunk ends between such words, the first part's time and phonemes are those of the word.
    """

    def __init__(self, starts: Sequence[int], ends: Sequence[int], raw: Callable[[], str]) -> None:
        self._starts = starts
        self._ends = ends
        self._raw = raw
        self._last: Span | None = None

    @classmethod
    def of_text(cls, text: TrackedText, raw: str) -> "SourceWords":
        """For a text that is there, the spans of which are of `raw`."""
        return cls(text.starts, text.ends, lambda: raw)

    def of(self, words: Sequence[WordTiming]) -> tuple[WordTiming, ...]:
        """The words of the next chunk; their spans stay those of the spoken text."""
        return tuple(self._joined(words))

    def _joined(self, words: Sequence[WordTiming]) -> Iterator[WordTiming]:
        held: WordTiming | None = None
        for word in words:
            source = self._source(word.span)
            if source is not None and self._last is not None and source.start < self._last.end:
                self._last = self._last.cover(source)
                if held is not None:
                    span, end = held.span.cover(word.span), max(held.end, word.end)
                    phonemes = held.phonemes + word.phonemes
                    held = replace(held, word=self._written(self._last), end=end, span=span).with_phonemes(phonemes)
                continue
            if held is not None:
                yield held
            self._last = source
            held = word if source is None else replace(word, word=self._written(source))
        if held is not None:
            yield held

    def _written(self, source: Span) -> str:
        return self._raw()[source.start : source.end]

    def _source(self, span: Span) -> Span | None:
        """The text that a word stands for, where that is other than its letters."""
        starts, ends = self._starts, self._ends
        first, last = max(0, span.start), min(span.end, len(starts))
        around = range(max(1, first), min(last + 1, len(starts)))
        if last > first and any(starts[at] == starts[at - 1] and ends[at] == ends[at - 1] for at in around):
            return Span(min(starts[first:last]), max(ends[first:last]))
        return None
