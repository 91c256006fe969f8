"""The course of a dialogue: its scenes, each an utterance of its own to the engine, put behind each other as one.

An engine may end an utterance with the silence that a sentence has behind it. Between two scenes the pause takes the
place of that: digital silence at the end of a chunk waits until the scene goes on, and is dropped where it does not.
"""

from dataclasses import replace

import numpy as np

from polyvox.engines.base import Engine
from polyvox.errors import TextError
from polyvox.service.scenes import Scene
from polyvox.service.sequel import Sequel
from polyvox.types import AudioChunk, Pcm


class Course:
    """How far a dialogue has come."""

    def __init__(self, engine: Engine, text: str) -> None:
        self._engine = engine
        self._text = text
        self._waiting = 0
        self._sequel = Sequel()

    def begin(self, pause: float) -> AudioChunk | None:
        """A scene begins, and its chunks count from here; behind another one, a pause goes before it."""
        self._waiting = round(pause * self._engine.capabilities.sample_rate) if self._sequel.chunks else 0
        silence = self.rest()
        self._sequel.begin()
        return silence

    def rest(self) -> AudioChunk | None:
        """The silence that still waits."""
        if not self._waiting:
            return None
        can = self._engine.capabilities
        pcm = _silent(self._waiting, can.channels)
        self._waiting = 0
        sequel = self._sequel
        return sequel.added(AudioChunk(pcm, can.sample_rate, index=sequel.chunks, start=sequel.samples))

    def placed(self, chunk: AudioChunk, scene: Scene) -> AudioChunk | None:
        """A chunk of the present scene as one of the whole; None where it is but silence, which waits."""
        pcm = self._with_what_waited(chunk.pcm)
        if not len(pcm) and not chunk.words:
            return None
        placed = self._sequel.placed(replace(chunk, pcm=pcm), scene.in_whole)
        if len(scene.places) == 1:
            return placed
        span = placed.span
        return replace(placed, text="" if span is None else self._text[span.start : span.end])

    def end(self) -> None:
        """The present scene is over; where nothing of it was heard, there was nothing to speak."""
        if not self._sequel.heard:
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


def _silent(samples: int, channels: int) -> Pcm:
    return np.zeros(samples if channels == 1 else (samples, channels), np.float32)
