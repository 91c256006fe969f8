"""A chunk in the process that read it, which renders it: this one is left to the network and the listeners."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from polyvox.engines.kokoro.chunking import PhonemeChunk
from polyvox.engines.kokoro.render import SAMPLE_RATE, RenderedChunk, render
from polyvox.engines.kokoro.request import ModelOutput
from polyvox.engines.kokoro.timing import AlignedWord
from polyvox.runtime.shared_samples import Place, SharedSamples, opened_samples
from polyvox.runtime.text_workers.workers import WorkerText
from polyvox.types import Pcm, Span

_MORE_SAMPLES = SAMPLE_RATE
"""Room for pauses that rendering adds; where they are longer, the samples come with the answer."""


@dataclass(frozen=True, slots=True)
class _Unrendered:
    """The network's output for a chunk: so many samples at the start of a place in shared memory, and durations."""

    place: Span
    count: int
    durations: npt.NDArray[np.int64]
    speed: float
    gain: float | None


@dataclass(frozen=True, slots=True)
class _Rendered:
    """A `RenderedChunk` whose samples have taken the place of the network's; `pcm` where they have no room there."""

    count: int
    trimmed: int
    words: tuple[AlignedWord, ...]
    pcm: Pcm | None


@dataclass(frozen=True, slots=True)
class RemoteChunk:
    """One chunk of a text that a worker reads."""

    text: WorkerText[PhonemeChunk]
    number: int
    memory: SharedSamples

    def place(self, pcm: Pcm) -> Place | None:
        """Lay the network's samples where the worker finds them; None where there is no room. Any thread may call."""
        place = self.memory.reserve(len(pcm) + _MORE_SAMPLES)
        if place is not None:
            place.samples[: len(pcm)] = pcm
        return place

    async def rendered(
        self, place: Place, count: int, durations: npt.NDArray[np.int64], speed: float, gain: float | None
    ) -> RenderedChunk:
        """The chunk as it is heard, of so many samples in their place."""
        job = _Unrendered(place.span, count, durations, speed, gain)
        # The worker writes there until it has answered, whether or not the caller still waits.
        return await asyncio.shield(asyncio.create_task(self._finished(place, job)))

    async def _finished(self, place: Place, job: _Unrendered) -> RenderedChunk:
        try:
            done = cast(_Rendered, await self.text.finish(self.number, job))
            pcm = place.samples[: done.count].copy() if done.pcm is None else done.pcm
        finally:
            place.release()
        return RenderedChunk(pcm, done.trimmed, done.words)


def renderer(path: str | None) -> Callable[[PhonemeChunk, _Unrendered], _Rendered] | None:
    """The worker's part, given the path of shared memory; None where there is none."""
    if path is None:
        return None
    memory = opened_samples(path)

    def finish(chunk: PhonemeChunk, job: _Unrendered) -> _Rendered:
        place = memory[job.place.start : job.place.end]
        done = render(chunk, ModelOutput(place[: job.count], job.durations), job.speed, job.gain)
        fits = len(done.pcm) <= len(place)
        if fits:
            place[: len(done.pcm)] = done.pcm
        return _Rendered(len(done.pcm), done.trimmed, done.words, None if fits else done.pcm)

    return finish
