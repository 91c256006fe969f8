"""From requests to pieces of audible chunks, with Wren's decoder."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass

from polyvox.engines.kit.first_chunks import FirstChunks
from polyvox.engines.kokoro.render import SAMPLE_RATE, RenderedChunk
from polyvox.engines.kokoro.request import SynthesisRequest
from polyvox.engines.kokoro.synthesis import SynthesisResult, render_pause
from polyvox.runtime.background_steps import BackgroundSteps
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.precedence import current_precedence
from polyvox.runtime.stage import Observer, Stage

Render = Callable[[SynthesisRequest], Iterator[RenderedChunk | None]]
"""The steps of a chunk, each short; None where a step gives nothing to hear."""

_PATIENCE_SECONDS = 2.0
"""Time after which a background step of about 0.1 s is begun beside live ones."""


@dataclass(frozen=True, slots=True)
class _Step:
    piece: RenderedChunk | None
    seconds: float
    last: bool = False


class WrenSynthesis:
    """Steps of all streams run one by one on each of `workers` threads, the most urgent first.

    A step is a chunk's plan or the next piece of it, so nobody waits long for another stream's chunk. They are not
    batched: on a CPU a batch of pieces takes as long as the pieces one by one. Steps of background streams run while
    no other is at work.
    """

    on_gpu = renders_whole_chunks = False
    in_pieces = True

    def __init__(self, render: Render, workers: int, observer: Observer | None) -> None:
        # The next chunk's plan is made while the last pieces of this one play.
        self.lookahead = 2
        self.first_chunks = FirstChunks()
        self.workers = workers
        self._render = render
        self._device = DeviceExecutor("wren", workers, niceness=DeviceExecutor.LOW)
        self._stage = Stage[Iterator[RenderedChunk | None], _Step](
            "wren", _next_steps, executor=self._device, observer=observer, clears_for_first=True, callers_first=True
        )
        self._background = BackgroundSteps("wren", workers, patience=_PATIENCE_SECONDS, observer=observer)
        self._text = DeviceExecutor("wren-text", 1)

    async def next_request(self, requests: Iterator[SynthesisRequest]) -> SynthesisRequest | None:
        if current_precedence().background:
            return await self._background.run(lambda: next(requests, None))
        with self._background.live():
            return await self._text.run(lambda: next(requests, None))

    async def pieces(self, request: SynthesisRequest, due: float) -> AsyncGenerator[SynthesisResult, None]:
        if not request.input.ids:
            yield SynthesisResult(render_pause(request), 0.0)
            return
        steps, spent, clock = self._render(request), 0.0, asyncio.get_running_loop().time
        while not (step := await self._next_step(steps, due)).last:
            spent += step.seconds
            if step.piece is not None:
                yield SynthesisResult(step.piece, spent)
                # A piece that comes late, as an utterance's first always does, is played from then on.
                due, spent = max(due, clock()) + len(step.piece.pcm) / SAMPLE_RATE, 0.0

    async def _next_step(self, steps: Iterator[RenderedChunk | None], due: float) -> _Step:
        if current_precedence().background:
            return await self._background.run(lambda: _next_step(steps))
        with self._background.live():
            return await self._stage(steps, due=due)

    async def close(self) -> None:
        await self._stage.close()
        await self._background.close()
        for executor in (self._device, self._text):
            await asyncio.to_thread(executor.close)


def _next_steps(renders: list[Iterator[RenderedChunk | None]]) -> list[_Step]:
    return [_next_step(render) for render in renders]


def _next_step(render: Iterator[RenderedChunk | None]) -> _Step:
    started = time.perf_counter()
    try:
        piece = next(render)
    except StopIteration:
        return _Step(None, 0.0, last=True)
    return _Step(piece, time.perf_counter() - started)
