"""Requests of many sessions in batches through the PyTorch network."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from polyvox.engines.kit.first_chunks import MANY, FirstChunks
from polyvox.engines.kokoro.native.network import LaunchedBatch, NativeKokoro, TimedInput, is_short
from polyvox.engines.kokoro.remote_chunk import RemoteChunk, UnrenderedSamples
from polyvox.engines.kokoro.render import render
from polyvox.engines.kokoro.request import ModelInput, ModelOutput, SynthesisRequest
from polyvox.engines.kokoro.synthesis import SynthesisResult, render_pause
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.pinned_output import Event
from polyvox.runtime.stage import Observer, Stage
from polyvox.types import Pcm

Result = TypeVar("Result")

_LOOKAHEAD = 4
_READ_BATCH = 8
"""Texts that are phonemized by one call: to hand each over by itself takes the event loop longer than the work."""


@dataclass(frozen=True, slots=True, eq=False)
class _Planned:
    """An input with its durations, and its share of the device's time for them."""

    timed: TimedInput
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class _Decoding:
    """A request that is decoded, and the durations that were predicted for it."""

    request: SynthesisRequest
    planned: _Planned

    def finished(self, pcm: Pcm, seconds: float) -> "SynthesisResult | _Unrendered":
        """The chunk, given its samples and its share of the time that its batch took; or laid where a worker is."""
        request, durations, seconds = self.request, self.planned.timed.durations, self.planned.seconds + seconds
        if isinstance(request.chunk, RemoteChunk):
            return _Unrendered(request.chunk, request.chunk.laid_down(pcm, durations), seconds)
        chunk = render(request.chunk, ModelOutput(pcm, durations), request.input.speed, request.gain)
        return SynthesisResult(chunk, seconds)


@dataclass(frozen=True, slots=True, eq=False)
class _Unrendered:
    """A chunk's samples for the worker that read it, and the seconds that the device spent on it."""

    chunk: RemoteChunk
    samples: UnrenderedSamples
    seconds: float

    async def rendered(self, request: SynthesisRequest) -> SynthesisResult:
        chunk = await self.chunk.rendered(self.samples, request.input.speed, request.gain)
        return SynthesisResult(chunk, self.seconds)


@dataclass(slots=True, eq=False)
class _DecodedBatch:
    """A batch that the device works on since `began`, and the call that finishes it for the first row that asks."""

    launched: LaunchedBatch
    decoding: Sequence[_Decoding]
    began: float
    finishing: "asyncio.Future[list[SynthesisResult | _Unrendered | Exception]] | None" = None

    def finished(self) -> list[SynthesisResult | _Unrendered | Exception]:
        """The chunks of all rows, once the samples are there; a row that fails does so alone."""
        rows = self.launched.rows()
        share = (time.perf_counter() - self.began) / len(rows)
        return [_tried(partial(each.finished, row, share)) for each, row in zip(self.decoding, rows, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    batch: _DecodedBatch
    index: int


class _Pipeline:
    """The batches of chunks of one kind: their durations, then their samples, then what is heard of these.

    A batch is launched before those ahead of it end, at most one more than there are lanes, so that the device waits
    for nobody. One more thread reads the samples of each batch back and trims its chunks.
    """

    def __init__(self, network: NativeKokoro, observer: Observer | None, *, express: bool = False) -> None:
        name = "kokoro-express" if express else "kokoro"
        self._network = network
        self._lanes = network.lanes(express=express)
        self._under_way: deque[Event] = deque()
        device, self._finisher = DeviceExecutor(name, 1), DeviceExecutor(f"{name}-finisher", 1)
        planner = DeviceExecutor(f"{name}-planner", 1) if network.device.type == "cuda" else device
        self._executors = {device, planner, self._finisher}
        self.plan = Stage[ModelInput, _Planned](
            f"{name}-plan", self._plan_all, executor=planner, max_batch=network.batch, observer=observer
        )
        self.launch = Stage[_Decoding, _Row](
            f"{name}-sound",
            self._launch_all,
            executor=device,
            key=lambda decoding: network.bucket(decoding.planned.timed),
            room=network.room,
            observer=observer,
        )

    async def finished(self, row: _Row) -> SynthesisResult | _Unrendered:
        batch = row.batch
        if batch.finishing is None:
            batch.finishing = asyncio.ensure_future(self._finisher.run(batch.finished))
        # It is that of all rows: a caller that leaves must not cancel it.
        result = (await asyncio.shield(batch.finishing))[row.index]
        if isinstance(result, Exception):
            raise result
        return result

    async def close(self) -> None:
        for stage in (self.plan, self.launch):
            await stage.close()
        for executor in self._executors:
            await asyncio.to_thread(executor.close)

    def _plan_all(self, items: list[ModelInput]) -> list[_Planned]:
        started = time.perf_counter()
        timed = self._network.predict_durations(items)
        share = (time.perf_counter() - started) / len(items)
        return [_Planned(each, share) for each in timed]

    def _launch_all(self, decoding: list[_Decoding]) -> list[_Row]:
        began = time.perf_counter()
        launched = self._network.launch([each.planned.timed for each in decoding])
        if launched.arrived is not None:
            self._under_way.append(launched.arrived)
        if len(self._under_way) > self._lanes:
            self._under_way.popleft().synchronize()
            began = time.perf_counter()
        batch = _DecodedBatch(launched, decoding, began)
        return [_Row(batch, index) for index in range(len(decoding))]


class BatchedSynthesis:
    """Durations are predicted for chunks of any length together; chunks of about one length are decoded together.

    So a short first chunk never waits for a long one to be decoded beside it. On a GPU it waits for nothing of a long
    one: all that short chunks go through goes on beside what others do. One more thread phonemizes texts.
    """

    lookahead = _LOOKAHEAD
    workers = None
    in_pieces = False
    renders_whole_chunks = True

    def __init__(self, network: NativeKokoro, observer: Observer | None) -> None:
        self._network = network
        self.on_gpu = network.device.type == "cuda"
        self.first_chunks = FirstChunks(MANY) if self.on_gpu else FirstChunks()
        self._reader = DeviceExecutor("kokoro-reader", 1)
        self._read = Stage[Iterator[SynthesisRequest], SynthesisRequest | None](
            "kokoro-read", _next_requests, executor=self._reader, max_batch=_READ_BATCH
        )
        self._usual = _Pipeline(network, observer)
        self._express = _Pipeline(network, observer, express=True) if network.lanes(express=True) else self._usual

    async def next_request(self, requests: Iterator[SynthesisRequest]) -> SynthesisRequest | None:
        return await self._read(requests)

    async def pieces(self, request: SynthesisRequest, due: float) -> AsyncGenerator[SynthesisResult, None]:
        yield await self.synthesize(request, due)

    async def synthesize(self, request: SynthesisRequest, due: float) -> SynthesisResult:
        if not request.input.ids:
            return SynthesisResult(render_pause(request), 0.0)
        planned = await (self._express if is_short(request.input) else self._usual).plan(request.input, due)
        pipeline = self._express if self._network.is_express(planned.timed) else self._usual
        finished = await pipeline.finished(await pipeline.launch(_Decoding(request, planned), due))
        return await finished.rendered(request) if isinstance(finished, _Unrendered) else finished

    async def close(self) -> None:
        await self._read.close()
        await asyncio.to_thread(self._reader.close)
        for pipeline in {self._usual, self._express}:
            await pipeline.close()


def _next_requests(utterances: Sequence[Iterator[SynthesisRequest]]) -> list[SynthesisRequest | Exception | None]:
    return [_next_request(requests) for requests in utterances]


def _next_request(requests: Iterator[SynthesisRequest]) -> SynthesisRequest | Exception | None:
    try:
        return next(requests, None)
    except Exception as error:  # noqa: BLE001 - a text that cannot be read fails alone
        return error


def _tried(finish: Callable[[], Result]) -> Result | Exception:
    try:
        return finish()
    except Exception as error:  # noqa: BLE001 - whatever it is, its caller gets it
        return error
