"""Continuous batching of latents: all streams that speak take each step together, and new ones join between steps."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
import structlog

from polyvox.engines.pockettts.flow_steps import Floats, FlowSteps
from polyvox.engines.pockettts.voice_state import VoiceState
from polyvox.errors import EngineError, UnavailableError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.stage import BatchReport, Observer

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_EARLIEST_END = 6
"""Frames before which an end of speech is not believed."""


@dataclass(frozen=True, slots=True)
class FrameRequest:
    """One stretch of speech: its voice, its text, its noise, and when it ends."""

    voice: VoiceState
    ids: tuple[int, ...]
    deviation: float
    """Of the noise."""
    threshold: float
    """Of the end-of-speech logit."""
    tail: int
    max_frames: int
    seed: int


class FrameStream:
    """The latents of one stretch of speech, as they come. Its noise is its own: no other stream changes it."""

    def __init__(self, request: FrameRequest, first: Floats) -> None:
        self.request = request
        self.arrived = time.perf_counter()
        self.latent = first
        self.closed = False
        self._noise = np.random.Generator(np.random.Philox(request.seed))
        self._steps, self._end = 0, -1
        self._ready: deque[Floats] = deque()
        self._finished = False
        self._fault: Exception | None = None
        self._changed = asyncio.Event()

    @property
    def cut(self) -> bool:
        """True if speech reached its greatest length before its end."""
        return self._steps >= self.request.max_frames

    def noise(self) -> Floats:
        """The noise of the next step."""
        width = len(self.latent)
        return self._noise.standard_normal(width, np.float32) * np.float32(self.request.deviation)

    def advance(self, latent: Floats, logit: float) -> bool:
        """Take the result of a step; False where speech has ended."""
        request, step = self.request, self._steps
        if not np.isfinite(latent).all():
            self.fail(EngineError("The model computed non-finite values; check its weights."))
            return False
        if self._end < 0 and logit > request.threshold and step >= _EARLIEST_END:
            self._end = step
        if 0 <= self._end <= step - request.tail:
            self.finish()
            return False
        self._steps, self.latent = step + 1, latent
        self._ready.append(latent)
        self._changed.set()
        if self._steps >= request.max_frames:
            self.finish()
        return not self._finished

    def finish(self) -> None:
        self._finished = True
        self._changed.set()

    def fail(self, error: Exception) -> None:
        self._fault = error
        self.finish()

    async def read(self, count: int) -> list[Floats]:
        """The next `count` latents; fewer at the end of speech."""
        while len(self._ready) < count and not self._finished:
            self._changed.clear()
            await self._changed.wait()
        if self._fault is not None:
            raise self._fault
        return [self._ready.popleft() for _ in range(min(count, len(self._ready)))]


class FrameScheduler:
    """Runs the language model for all streams. One event loop may use it."""

    def __init__(self, name: str, steps: FlowSteps, executor: DeviceExecutor, observer: Observer | None = None) -> None:
        """The last row of `steps` is kept for voices that are prepared."""
        self._name, self._steps, self._executor, self._observer = name, steps, executor, observer
        self._streams_most = steps.rows - 1
        self._waiting: deque[FrameStream] = deque()
        self._running: list[FrameStream] = []
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    @asynccontextmanager
    async def open(self, request: FrameRequest) -> AsyncIterator[FrameStream]:
        """A stream of latents; leaving the context stops it with the next step."""
        if self._closed:
            raise UnavailableError(f"The engine {self._name!r} is shutting down.")
        stream = FrameStream(request, self._steps.first_latent)
        self._waiting.append(stream)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name=f"{self._name} frames")
        try:
            yield stream
        finally:
            stream.closed = True

    async def prepare(self, latents: Floats) -> VoiceState:
        """The voice of the encoder's latents, between two steps of the others."""
        return await self._executor.run(partial(self._steps.read_voice, self._steps.rows - 1, latents))

    async def close(self) -> None:
        """Stop with the step under way; streams that still wait or speak fail."""
        self._closed = True
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        while (self._waiting or self._running) and not self._closed:
            try:
                await self._drop_ended()
                await self._admit()
                await self._step()
            except Exception as error:  # noqa: BLE001 - whatever it is, those who wait for it get it
                self._fail(error)
        if self._closed:
            self._fail(UnavailableError(f"The engine {self._name!r} is shutting down."))

    async def _admit(self) -> None:
        """Begin streams that wait, as many together as the steps take: the others go on before the next are read."""
        streams = self._next_streams()
        if not streams:
            return
        started = time.perf_counter()
        try:
            await self._executor.run(partial(self._begin, len(self._running), [each.request for each in streams]))
        except Exception as error:  # noqa: BLE001 - the fault of these streams alone
            for stream in streams:
                stream.fail(error)
            return
        self._running += streams
        now = time.perf_counter()
        for stream in streams:
            self._report("prefill", len(stream.request.ids), started - stream.arrived, (now - started) / len(streams))

    def _next_streams(self) -> list[FrameStream]:
        most, streams = min(self._steps.begins, self._streams_most - len(self._running)), list[FrameStream]()
        while self._waiting and len(streams) < most:
            stream = self._waiting.popleft()
            if not stream.closed:
                streams.append(stream)
        return streams

    def _begin(self, row: int, requests: list[FrameRequest]) -> None:
        self._steps.begin(row, [each.voice for each in requests], [each.ids for each in requests])

    async def _step(self) -> None:
        if not self._running:
            return
        started, streams = time.perf_counter(), self._running
        latents, noise = (np.stack(each) for each in ([s.latent for s in streams], [s.noise() for s in streams]))
        new, ends = await self._executor.run(partial(self._steps.step, latents, noise))
        for stream, latent, end in zip(streams, new, ends, strict=True):
            if not stream.advance(latent.copy(), float(end)):
                stream.closed = True
        self._report("decode", len(streams), 0.0, time.perf_counter() - started)

    async def _drop_ended(self) -> None:
        """Free the rows of streams that have ended or were left; the last rows fill their places."""
        for row in reversed(range(len(self._running))):
            if not self._running[row].closed:
                continue
            last = len(self._running) - 1
            if row != last:
                await self._executor.run(partial(self._steps.move, last, row))
                self._running[row] = self._running[last]
            self._running.pop()

    def _fail(self, error: Exception) -> None:
        streams, self._running = [*self._running, *(self._waiting if self._closed else ())], []
        if self._closed:
            self._waiting.clear()
        else:
            log.error("a step of the language model failed", model=self._name, error=repr(error))
        for stream in streams:
            stream.fail(error)

    def _report(self, stage: str, size: int, wait: float, seconds: float) -> None:
        if self._observer is not None:
            name, running = f"{self._name} {stage}", len(self._running)
            self._observer(BatchReport(name, size, wait, seconds, running, self._streams_most))
