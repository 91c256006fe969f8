"""From requests to audible chunks: the interface to a network, and its implementation for ONNX Runtime."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from polyvox.audio.pcm import silence
from polyvox.engines.kit.first_chunks import FirstChunks
from polyvox.engines.kokoro.preemption import Preemption
from polyvox.engines.kokoro.render import SAMPLE_RATE, RenderedChunk, render
from polyvox.engines.kokoro.request import ModelInput, ModelOutput, SynthesisRequest
from polyvox.runtime.background_steps import BackgroundSteps
from polyvox.runtime.cancellation import InferenceStoppedError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.precedence import Precedence, current_precedence
from polyvox.runtime.stage import Observer, Stage


@dataclass(frozen=True, slots=True)
class SynthesisResult:
    """A rendered chunk or a piece of one, and the seconds the device spent on it."""

    rendered: RenderedChunk
    device_seconds: float


class KokoroSynthesis(Protocol):
    """A network shared by many sessions; a result does not depend on the requests beside it."""

    @property
    def lookahead(self) -> int:
        """Number of chunks of one utterance that may be in flight at once."""

    @property
    def first_chunks(self) -> FirstChunks:
        """The streams that nobody has heard yet."""

    @property
    def workers(self) -> int | None:
        """Number of chunks that are computed side by side, each for itself; None where they are batched."""

    @property
    def on_gpu(self) -> bool:
        """True if a GPU runs the network."""

    @property
    def in_pieces(self) -> bool:
        """True if a chunk is heard in pieces, the first one long before the chunk is done."""

    @property
    def renders_whole_chunks(self) -> bool:
        """True if it renders chunks whole, and has a `RemoteChunk` render where a request has one."""

    async def next_request(self, requests: Iterator[SynthesisRequest]) -> SynthesisRequest | None:
        """The next request of an utterance, made off the event loop; None at its end."""

    def pieces(self, request: SynthesisRequest, due: float) -> AsyncGenerator[SynthesisResult, None]:
        """The request's chunk, whole or in pieces, by the time its player runs dry if the device can do it."""

    async def close(self) -> None:
        """Release network and threads."""


@dataclass(frozen=True, slots=True)
class _DueRequest:
    request: SynthesisRequest
    due: float
    stream: Precedence


_PATIENCE_SECONDS = 20.0
"""Time after which a background chunk, which may take some seconds, is begun beside live ones."""
_MOST_STOPS = 3
"""Times that a background chunk is stopped for live ones before it is left to its end."""


class SerialSynthesis:
    """A network of batch size 1: requests run one by one on each of `workers` threads, the most urgent first.

    A first chunk does not wait for the end of a long one. That makes way where its stream is well ahead of its
    playback, else the first chunk runs beside it: one at a time, and both take longer for that moment. Chunks of
    background streams run while no other is at work, and are stopped for it.
    """

    on_gpu = in_pieces = renders_whole_chunks = False

    def __init__(self, run: Callable[[ModelInput], ModelOutput], workers: int, observer: Observer | None) -> None:
        # A lone worker would begin a chunk of another stream before the next one of an urgent stream is asked for.
        self.lookahead = 2 if workers == 1 else 1
        self.first_chunks = FirstChunks()
        self.workers = workers
        self._device = DeviceExecutor("kokoro", workers, niceness=DeviceExecutor.LOW)
        self._express_device = DeviceExecutor("kokoro-express", 1)
        self._preemption = Preemption(workers)
        work = partial(_synthesize_all, run, self._preemption)
        self._stage = Stage[_DueRequest, SynthesisResult]("kokoro", work, executor=self._device, observer=observer)
        self._express = Stage[_DueRequest, SynthesisResult](
            "kokoro", work, executor=self._express_device, observer=observer
        )
        self._express_taken = False
        self._background = BackgroundSteps(
            "kokoro", workers, patience=_PATIENCE_SECONDS, stops=_MOST_STOPS, observer=observer
        )
        self._run = run
        self._text = DeviceExecutor("kokoro-text", 1)

    async def next_request(self, requests: Iterator[SynthesisRequest]) -> SynthesisRequest | None:
        return await self._text.run(lambda: next(requests, None))

    async def pieces(self, request: SynthesisRequest, due: float) -> AsyncGenerator[SynthesisResult, None]:
        yield await self.synthesize(request, due)

    async def synthesize(self, request: SynthesisRequest, due: float) -> SynthesisResult:
        if current_precedence().background:
            return await self._background.run(partial(_synthesize, self._run, request))
        with self._background.live():
            return await self._synthesize_live(request, due)

    async def _synthesize_live(self, request: SynthesisRequest, due: float) -> SynthesisResult:
        size, now = len(request.input.ids), asyncio.get_running_loop().time()
        stream = current_precedence()
        item = _DueRequest(request, due, stream)
        made_way = self._preemption.make_way(size, due, now, stream)
        with suppress(InferenceStoppedError):
            if not made_way and not self._express_taken and self._preemption.waits_long(size, due, now, stream):
                return await self._synthesize_beside(item)
        while True:
            with suppress(InferenceStoppedError):  # it made way for another chunk
                return await self._stage(item, due=due)

    async def _synthesize_beside(self, item: _DueRequest) -> SynthesisResult:
        self._express_taken = True
        try:
            return await self._express(item, due=item.due)
        finally:
            self._express_taken = False

    async def close(self) -> None:
        for stage in (self._stage, self._express):
            await stage.close()
        await self._background.close()
        for executor in (self._device, self._express_device, self._text):
            await asyncio.to_thread(executor.close)


def render_pause(request: SynthesisRequest) -> RenderedChunk:
    """The chunk of a request without ids: silence."""
    return RenderedChunk(silence(request.chunk.pause(request.input.speed), SAMPLE_RATE), 0, ())


def _synthesize_all(
    run: Callable[[ModelInput], ModelOutput], preemption: Preemption, requests: list[_DueRequest]
) -> list[SynthesisResult]:
    results = []
    for each in requests:
        with preemption.running(len(each.request.input.ids), each.due, each.stream):
            results.append(_synthesize(run, each.request))
    return results


def _synthesize(run: Callable[[ModelInput], ModelOutput], request: SynthesisRequest) -> SynthesisResult:
    started = time.perf_counter()
    given = request.input
    rendered = (
        render(request.phoneme_chunk, run(given), given.speed, request.gain) if given.ids else render_pause(request)
    )
    return SynthesisResult(rendered, time.perf_counter() - started)
