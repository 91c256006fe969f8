"""Requests of many sessions in batches through the PyTorch network."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from polyvox.engines.kokoro.native import NativeKokoro, TimedInput
from polyvox.engines.kokoro.render import RenderedChunk, render
from polyvox.engines.kokoro.request import ModelInput, ModelOutput, SynthesisRequest
from polyvox.engines.kokoro.synthesis import SynthesisResult, render_pause
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.stage import Observer, Stage
from polyvox.types import Pcm

_LOOKAHEAD = 4

Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, eq=False)
class _Measured(Generic[Made]):
    """A result, and this item's share of the device's time for it."""

    value: Made
    seconds: float


class BatchedSynthesis:
    """Durations are predicted for chunks of any length together; chunks of about one length are decoded together.

    So a short first chunk never waits for a long one to be decoded beside it. A second thread phonemizes texts and
    trims chunks by turns: two such threads would only wait for each other's turn of the interpreter.
    """

    lookahead = _LOOKAHEAD
    workers = None

    def __init__(self, network: NativeKokoro, observer: Observer | None) -> None:
        self._device = DeviceExecutor("kokoro", 1)
        host = DeviceExecutor("kokoro-desk", 1)
        self._executors = (self._device, host)
        self._read = Stage[Iterator[SynthesisRequest], SynthesisRequest | None](
            "kokoro-read", _next_requests, executor=host
        )
        self._render = Stage[tuple[SynthesisRequest, ModelOutput], RenderedChunk](
            "kokoro-finish", _render_all, executor=host
        )
        self._predict = Stage[ModelInput, _Measured[TimedInput]](
            "kokoro-plan",
            partial(_measured, network.predict_durations),
            executor=self._device,
            max_batch=network.batch,
            observer=observer,
        )
        self._decode = Stage[TimedInput, _Measured[Pcm]](
            "kokoro-sound",
            partial(_measured, network.decode),
            executor=self._device,
            key=network.bucket,
            room=network.room,
            observer=observer,
        )

    async def next_request(self, requests: Iterator[SynthesisRequest]) -> SynthesisRequest | None:
        return await self._read(requests)

    async def pieces(self, request: SynthesisRequest, due: float) -> AsyncGenerator[SynthesisResult, None]:
        yield await self.synthesize(request, due)

    async def synthesize(self, request: SynthesisRequest, due: float) -> SynthesisResult:
        if not request.input.ids:
            return SynthesisResult(render_pause(request), 0.0)
        timed = await self._predict(request.input, due)
        decoded = await self._decode(timed.value, due)
        output = ModelOutput(decoded.value, timed.value.durations)
        rendered = await self._render((request, output), due)
        return SynthesisResult(rendered, timed.seconds + decoded.seconds)

    async def close(self) -> None:
        for stage in (self._read, self._predict, self._decode, self._render):
            await stage.close()
        for executor in self._executors:
            await asyncio.to_thread(executor.close)


def _next_requests(utterances: Sequence[Iterator[SynthesisRequest]]) -> list[SynthesisRequest | None]:
    return [next(requests, None) for requests in utterances]


def _render_all(decoded: Sequence[tuple[SynthesisRequest, ModelOutput]]) -> list[RenderedChunk]:
    return [render(request.chunk, output, request.input.speed, request.gain) for request, output in decoded]


def _measured(work: Callable[[Sequence[Given]], Sequence[Made]], items: list[Given]) -> list[_Measured[Made]]:
    started = time.perf_counter()
    made = work(items)
    share = (time.perf_counter() - started) / len(items)
    return [_Measured(value, share) for value in made]
