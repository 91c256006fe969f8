"""The course of a dialogue: its scenes, each an utterance of its own to the engine, put behind each other as one.

An engine may end an utterance with the silence that a sentence has behind it. Between two scenes the pause takes the
place of that: digital silence at the end of a chunk waits until the scene goes on, and is dropped where it does not.
"""

from dataclasses import dataclass, replace

import numpy as np

from polyvox.engines.base import Engine
from polyvox.errors import TextError
from polyvox.service.scenes import Scene
from polyvox.types import AudioChunk, Pcm, Span, WordTiming


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place in the whole: so many samples, tokens and frames lie before it."""

    samples: int = 0
    tokens: int = 0
    frames: int = 0

    def behind(self, chunk: AudioChunk) -> "_Mark":
        tokens = self.tokens if chunk.tokens is None else chunk.tokens.end
        return _Mark(chunk.end, tokens, self.frames if chunk.frames is None else chunk.frames.end)


class Course:
    """How far a dialogue has come."""

    def __init__(self, engine: Engine, text: str) -> None:
        self._engine = engine
        self._text = text
        self._index = 0
        self._waiting = 0
        self._begun = self._now = _Mark()

    def begin(self, pause: float) -> AudioChunk | None:
        """A scene begins, and its chunks count from here; behind another one, a pause goes before it."""
        self._waiting = round(pause * self._engine.capabilities.sample_rate) if self._index else 0
        silence = self.rest()
        self._begun = self._now
        return silence

    def rest(self) -> AudioChunk | None:
        """The silence that still waits."""
        if not self._waiting:
            return None
        can = self._engine.capabilities
        pcm = _silent(self._waiting, can.channels)
        self._waiting = 0
        return self._passed(AudioChunk(pcm, can.sample_rate, index=self._index, start=self._now.samples))

    def placed(self, chunk: AudioChunk, scene: Scene) -> AudioChunk | None:
        """A chunk of the present scene as one of the whole; None where it is but silence, which waits."""
        pcm = self._with_what_waited(chunk.pcm)
        if not len(pcm) and not chunk.words:
            return None
        span = None if chunk.span is None else scene.in_whole(chunk.span)
        text = chunk.text
        if len(scene.places) > 1:
            text = "" if span is None else self._text[span.start : span.end]
        seconds = self._begun.samples / chunk.sample_rate
        return self._passed(
            replace(
                chunk,
                pcm=pcm,
                index=self._index,
                start=self._now.samples,
                text=text,
                span=span,
                words=tuple(_later(word, scene, seconds) for word in chunk.words),
                tokens=_moved(chunk.tokens, self._begun.tokens),
                frames=_moved(chunk.frames, self._begun.frames),
            )
        )

    def end(self) -> None:
        """The present scene is over; where nothing of it was heard, there was nothing to speak."""
        if self._now.samples == self._begun.samples:
            raise TextError("Nothing in the turn can be spoken; send words.", field="input")

    def _with_what_waited(self, pcm: Pcm) -> Pcm:
        """The samples up to the last that is not silent, behind the silence that waited; what is left waits."""
        sounding = np.flatnonzero(pcm if pcm.ndim == 1 else pcm.any(axis=1))
        heard = int(sounding[-1]) + 1 if len(sounding) else 0
        waited, self._waiting = self._waiting, len(pcm) - heard
        if not heard:
            self._waiting += waited
            return pcm[:0]
        before = _silent(waited, self._engine.capabilities.channels)
        return np.concatenate((before, pcm[:heard])) if waited else pcm[:heard]

    def _passed(self, chunk: AudioChunk) -> AudioChunk:
        self._index += 1
        self._now = self._now.behind(chunk)
        return chunk


def _silent(samples: int, channels: int) -> Pcm:
    return np.zeros(samples if channels == 1 else (samples, channels), np.float32)


def _later(word: WordTiming, scene: Scene, seconds: float) -> WordTiming:
    return replace(word, start=word.start + seconds, end=word.end + seconds, span=scene.in_whole(word.span))


def _moved(span: Span | None, by: int) -> Span | None:
    return None if span is None else Span(span.start + by, span.end + by)
