"""Joins consecutive utterances of an engine into one stream of chunks."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from polyvox.engines.base import Engine
from polyvox.errors import TextError
from polyvox.service.kinds.dialogue_segments import DialogueSegment
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

    def begin(self) -> None:
        """Start the next utterance: its tokens, frames and times count from here."""
        self._utterance_start = self._now

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

    An engine may end an utterance with the silence that follows a sentence. Between two segments the pause replaces it:
    digital silence at the end of a chunk is held back until the segment goes on, and dropped where it does not.
    """

    def __init__(self, engine: Engine, text: str) -> None:
        self._engine = engine
        self.text = text
        self._held_samples = 0
        self._joiner = UtteranceJoiner()

    def begin(self, pause: float) -> AudioChunk | None:
        """Start the next segment; returns the pause before it, in seconds, unless it is the first."""
        self._held_samples = round(pause * self._engine.capabilities.sample_rate) if self._joiner.chunks else 0
        silence = self.flush()
        self._joiner.begin()
        return silence

    def flush(self) -> AudioChunk | None:
        """The silence that is still held back."""
        if not self._held_samples:
            return None
        can = self._engine.capabilities
        pcm = _silence(self._held_samples, can.channels)
        self._held_samples = 0
        joiner = self._joiner
        return joiner.append_joined(AudioChunk(pcm, can.sample_rate, index=joiner.chunks, start=joiner.samples))

    def append(
        self, chunk: AudioChunk, segment: DialogueSegment, source: SourceWords | None = None
    ) -> AudioChunk | None:
        """Renumber a chunk of the current segment; None where it is only silence, which is held back."""
        pcm = self._hold_silence(chunk.pcm)
        if not len(pcm) and not chunk.words:
            return None
        joined = self._joiner.append(replace(chunk, pcm=pcm), segment.in_whole, source)
        if len(segment.turn_spans) == 1:
            return joined
        span = joined.span
        return replace(joined, text="" if span is None else self.text[span.start : span.end])

    def end(self) -> None:
        """Finish the current segment; `TextError` where it produced no audio."""
        if not self._joiner.has_audio:
            raise TextError("Nothing in the turn can be spoken; send words.", field="input")

    def _hold_silence(self, pcm: Pcm) -> Pcm:
        """The samples up to the last that is not silent, after the silence held before; what follows is held back."""
        sounding = np.flatnonzero(pcm if pcm.ndim == 1 else pcm.any(axis=1))
        end = int(sounding[-1]) + 1 if len(sounding) else 0
        held, self._held_samples = self._held_samples, len(pcm) - end
        if not end:
            self._held_samples += held
            return pcm[:0]
        before = _silence(held, self._engine.capabilities.channels)
        return np.concatenate((before, pcm[:end])) if held else pcm[:end]


def _shifted(span: Span | None, offset: int) -> Span | None:
    return None if span is None else Span(span.start + offset, span.end + offset)


def _shifted_word(word: WordTiming, seconds: float, span_map: SpanMap) -> WordTiming:
    return replace(word, start=word.start + seconds, end=word.end + seconds, span=span_map(word.span))


def _silence(samples: int, channels: int) -> Pcm:
    return np.zeros(samples if channels == 1 else (samples, channels), np.float32)
