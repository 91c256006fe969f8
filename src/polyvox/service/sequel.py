"""Utterances of an engine, put behind each other as one."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from polyvox.types import AudioChunk, Span, WordTiming

Place = Callable[[Span], Span]
"""Where a span of one utterance's text stands in the text of the whole."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place in the whole: so many samples, tokens and frames lie before it."""

    samples: int = 0
    tokens: int = 0
    frames: int = 0

    def behind(self, chunk: AudioChunk) -> "_Mark":
        tokens = self.tokens if chunk.tokens is None else chunk.tokens.end
        return _Mark(chunk.end, tokens, self.frames if chunk.frames is None else chunk.frames.end)


class Sequel:
    """How far the whole has come, in chunks, samples, tokens and frames."""

    def __init__(self) -> None:
        self.chunks = 0
        self._begun = self._now = _Mark()

    @property
    def samples(self) -> int:
        return self._now.samples

    @property
    def heard(self) -> bool:
        """Whether the present utterance has sounded."""
        return self._now.samples > self._begun.samples

    def begin(self) -> None:
        """An utterance begins: its tokens, frames and times count from here."""
        self._begun = self._now

    def placed(self, chunk: AudioChunk, place: Place) -> AudioChunk:
        """A chunk of the present utterance as one of the whole."""
        seconds = self._begun.samples / chunk.sample_rate
        return self.added(
            replace(
                chunk,
                index=self.chunks,
                start=self._now.samples,
                span=None if chunk.span is None else place(chunk.span),
                words=tuple(_later(word, seconds, place) for word in chunk.words),
                tokens=moved(chunk.tokens, self._begun.tokens),
                frames=moved(chunk.frames, self._begun.frames),
            )
        )

    def added(self, chunk: AudioChunk) -> AudioChunk:
        """A chunk that already stands where it belongs."""
        self.chunks += 1
        self._now = self._now.behind(chunk)
        return chunk


def moved(span: Span | None, by: int) -> Span | None:
    """A span further on, where there is one."""
    return None if span is None else Span(span.start + by, span.end + by)


def _later(word: WordTiming, seconds: float, place: Place) -> WordTiming:
    return WordTiming(word.word, word.start + seconds, word.end + seconds, place(word.span))
