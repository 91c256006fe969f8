"""A chunk in the process that read it, which renders it: this one is left to the network and the listeners."""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from polyvox.engines.kokoro.chunking import PhonemeChunk
from polyvox.engines.kokoro.render import SAMPLE_RATE, RenderedChunk, render
from polyvox.engines.kokoro.request import ModelOutput
from polyvox.engines.kokoro.timing import AlignedWord
from polyvox.runtime.text_workers.answering import Finisher
from polyvox.runtime.text_workers.shared_samples import Place, SharedSamples, opened_samples
from polyvox.runtime.text_workers.workers import WorkerText
from polyvox.types import Pcm, Span

_MORE_SAMPLES = SAMPLE_RATE
"""Room for pauses that rendering adds; where they are longer, the samples come with the answer."""


@dataclass(frozen=True, slots=True)
class ChunkOutline:
    """The parts of a `PhonemeChunk` that the network and the player need."""

    ids: tuple[int, ...]
    span: Span | None
    asked_pause: float | None
    usual_pause: float

    @classmethod
    def of(cls, chunk: PhonemeChunk) -> "ChunkOutline":
        return cls(tuple(chunk.ids), chunk.span, chunk.asked_pause, chunk.pauses.between_chunks(chunk.ends))

    def pause(self, speed: float) -> float:
        return self.asked_pause if self.asked_pause is not None else self.usual_pause / speed


@dataclass(frozen=True, slots=True)
class UnrenderedSamples:
    """The network's samples for a chunk on their way to its worker.

    They stand at the start of a place in shared memory; `pcm` has them where there is no room.
    """

    place: Place | None
    pcm: Pcm
    durations: npt.NDArray[np.int64]


class _Job(NamedTuple):
    """Numbers and bytes, which are quickly sent: samples from one place to another, of which so many are speech."""

    start: int
    end: int
    samples: int
    pcm: bytes | None
    durations: bytes
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

    outline: ChunkOutline
    text: WorkerText[PhonemeChunk | ChunkOutline]
    number: int
    memory: SharedSamples

    @property
    def ids(self) -> tuple[int, ...]:
        return self.outline.ids

    @property
    def span(self) -> Span | None:
        return self.outline.span

    def pause(self, speed: float) -> float:
        return self.outline.pause(speed)

    def laid_down(self, pcm: Pcm, durations: npt.NDArray[np.int64]) -> UnrenderedSamples:
        """Lay the network's samples where the worker finds them, if there is room. Any thread may call."""
        place = self.memory.reserve(len(pcm) + _MORE_SAMPLES)
        if place is not None:
            place.samples[: len(pcm)] = pcm
        return UnrenderedSamples(place, pcm, durations)

    async def rendered(self, given: UnrenderedSamples, speed: float, gain: float | None) -> RenderedChunk:
        """The chunk as it is heard."""
        place, count = given.place, len(given.pcm)
        start, end, pcm = (0, 0, given.pcm.tobytes()) if place is None else (place.span.start, place.span.end, None)
        durations = given.durations.tobytes()
        answer = self.text.finish(self.number, _Job(start, end, count, pcm, durations, speed, gain))
        rendered: asyncio.Future[RenderedChunk] = asyncio.get_running_loop().create_future()
        # The worker writes there until it has answered, whether or not the caller still waits.
        answer.add_done_callback(partial(_take, place, rendered))
        return await rendered


def _take(place: Place | None, rendered: "asyncio.Future[RenderedChunk]", answer: "asyncio.Future[object]") -> None:
    """Hand a worker's answer to whoever waits, and release its place."""
    error = answer.exception()
    if not rendered.done():
        if error is not None:
            rendered.set_exception(error)
        else:
            rendered.set_result(_heard(cast(_Rendered, answer.result()), place))
    if place is not None:
        place.release()


def _heard(done: _Rendered, place: Place | None) -> RenderedChunk:
    if done.pcm is not None:
        return RenderedChunk(done.pcm, done.trimmed, done.words)
    assert place is not None
    return RenderedChunk(place.samples[: done.count].copy(), done.trimmed, done.words)


def renderer(path: str | None) -> Finisher | None:
    """The worker's part, given the path of shared memory; None where there is none."""
    if path is None:
        return None
    memory = opened_samples(path)

    def finish(chunk: PhonemeChunk, job: _Job) -> _Rendered:
        place = memory[job.start : job.end]
        pcm = place[: job.samples] if job.pcm is None else np.frombuffer(job.pcm, np.float32).copy()
        durations = np.frombuffer(job.durations, np.int64)
        done = render(chunk, ModelOutput(pcm, durations), job.speed, job.gain)
        fits = job.pcm is None and len(done.pcm) <= len(place)
        if fits:
            place[: len(done.pcm)] = done.pcm
        return _Rendered(len(done.pcm), done.trimmed, done.words, None if fits else done.pcm)

    return Finisher(ChunkOutline.of, finish)
