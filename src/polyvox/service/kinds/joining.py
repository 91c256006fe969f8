"""Joins consecutive utterances of an engine into one stream of chunks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from polyvox.engines.base import Engine
from polyvox.errors import SilentTextError
from polyvox.service.kinds.dialogue_segments import DialogueSegment
from polyvox.service.kinds.seams import Seam
from polyvox.service.pronunciation.source_words import SourceWords
from polyvox.types import AudioChunk, Pcm, Span, WordTiming

SpanMap = Callable[[Span], Span]
"""Maps a span of one utterance's text to the text of the whole."""


@dataclass(frozen=True, slots=True)
class _Position:
    """A position in the joined stream: samples, tokens and frames before it."""

    samples: int = 0
    tokens: int = 0
    frames: int = 0

    def after(self, chunk: AudioChunk) -> "_Position":
        tokens = self.tokens if chunk.tokens is None else chunk.tokens.end
        return _Position(chunk.end, tokens, self.frames if chunk.frames is None else chunk.frames.end)


class UtteranceJoiner:
    """Renumbers the chunks of consecutive utterances: index, samples, tokens, frames, word times and text spans."""

    def __init__(self) -> None:
        self.chunks = 0
        self._utterance_start = self._now = _Position()

    @property
    def samples(self) -> int:
        return self._now.samples

    @property
    def has_audio(self) -> bool:
        """True if the current utterance has produced samples."""
        return self._now.samples > self._utterance_start.samples

    def begin(self, cut: int = 0) -> None:
        """Start the next utterance, less its first `cut` samples: its tokens, frames and times count from here."""
        self._utterance_start = replace(self._now, samples=self._now.samples - cut)

    def append(self, chunk: AudioChunk, span_map: SpanMap, source: SourceWords | None = None) -> AudioChunk:
        """Renumber a chunk of the current utterance as one of the joined stream.

        `source` makes the words of a rewritten text those of the caller's.
        """
        words = chunk.words if source is None else source.of(chunk.words)
        seconds = self._utterance_start.samples / chunk.sample_rate
        return self.append_joined(
            replace(
                chunk,
                index=self.chunks,
                start=self._now.samples,
                span=None if chunk.span is None else span_map(chunk.span),
                words=tuple(_shifted_word(word, seconds, span_map) for word in words),
                tokens=_shifted(chunk.tokens, self._utterance_start.tokens),
                frames=_shifted(chunk.frames, self._utterance_start.frames),
            )
        )

    def append_joined(self, chunk: AudioChunk) -> AudioChunk:
        """Count a chunk that is numbered already."""
        self.chunks += 1
        self._now = self._now.after(chunk)
        return chunk


class DialogueJoiner:
    """Joins the segments of a dialogue with pauses between them.

    An engine may end an utterance with the silence that follows a sentence, and begin one with some. The pause between
    two segments replaces both.
    """

    def __init__(self, engine: Engine, text: str) -> None:
        self._rate = engine.capabilities.sample_rate
        self.text = text
        self._seam = Seam(engine.capabilities)
        self._joiner = UtteranceJoiner()
        self._begun = False

    @property
    def is_empty(self) -> bool:
        """True while nothing was sent."""
        return not self._joiner.chunks

    def begin(self, pause: float) -> AudioChunk | None:
        """Start the next segment; returns the pause before it, in seconds, unless it is the first."""
        self._seam.release()
        now = self._seam.ask(round(pause * self._rate)) if self._joiner.chunks else 0
        self._begun = False
        return self._quiet(self._seam.silence(now))

    def flush(self) -> AudioChunk | None:
        """The silence that is still held back."""
        return self._quiet(self._seam.release())

    def append(
        self, chunk: AudioChunk, segment: DialogueSegment, source: SourceWords | None = None
    ) -> Iterator[AudioChunk]:
        """The next chunk of the current segment, renumbered; nothing where it is only silence, which is held back."""
        pcm = self._seam.hold(chunk.pcm)
        if not len(pcm) and not chunk.words:
            return
        if not self._begun:
            before, cut = self._seam.settle(pcm)
            if (silence := self._quiet(self._seam.silence(before))) is not None:
                yield silence
            self._joiner.begin(cut)
            self._begun, pcm = True, pcm[cut:]
        joined = self._joiner.append(replace(chunk, pcm=pcm), segment.in_whole, source)
        span = joined.span
        if len(segment.turn_spans) > 1:
            joined = replace(joined, text="" if span is None else self.text[span.start : span.end])
        yield joined

    def end(self) -> None:
        """Finish the current segment; `SilentTextError` where it produced no audio."""
        if not (self._begun and self._joiner.has_audio):
            raise SilentTextError("Nothing in the turn can be spoken; send words.", field="input")

    def _quiet(self, pcm: Pcm) -> AudioChunk | None:
        joiner = self._joiner
        if not len(pcm):
            return None
        return joiner.append_joined(AudioChunk(pcm, self._rate, index=joiner.chunks, start=joiner.samples))


def _shifted(span: Span | None, offset: int) -> Span | None:
    return None if span is None else Span(span.start + offset, span.end + offset)


def _shifted_word(word: WordTiming, seconds: float, span_map: SpanMap) -> WordTiming:
    return replace(word, start=word.start + seconds, end=word.end + seconds, span=span_map(word.span))
