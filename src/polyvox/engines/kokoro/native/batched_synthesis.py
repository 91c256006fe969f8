"""Requests of many sessions in batches through the PyTorch network."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyvox.engines.kokoro.native.network import LaunchedBatch, NativeKokoro, TimedInput
from polyvox.engines.kokoro.remote_chunk import RemoteChunk
from polyvox.engines.kokoro.render import render
from polyvox.engines.kokoro.request import ModelInput, ModelOutput, SynthesisRequest
from polyvox.engines.kokoro.synthesis import SynthesisResult, render_pause
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.pinned_output import Event
from polyvox.runtime.shared_samples import Place
from polyvox.runtime.stage import Observer, Stage
from polyvox.types import Pcm

_LOOKAHEAD = 4
_READ_BATCH = 8
"""Texts that are phonemized by one call: to hand each over by itself takes the event loop longer than the work."""
_ANY = 256
"""More rows than any batch has."""


@dataclass(frozen=True, slots=True, eq=False)
class _Planned:
    """An input with its durations, and its share of the device's time for them."""

    timed: TimedInput
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class _Launched:
    """A row of a batch that the device works on since `began`."""

    batch: LaunchedBatch
    row: int
    began: float


@dataclass(frozen=True, slots=True, eq=False)
class _Decoding:
    """A request whose samples will be a row of a batch, and the durations that were predicted for it."""

    request: SynthesisRequest
    planned: _Planned
    launched: _Launched

    def finished(self, pcm: Pcm, seconds: float) -> "SynthesisResult | _Placed":
        """The chunk, given its samples and its share of the time that its batch took; or laid where a worker is."""
        request, durations, seconds = self.request, self.planned.timed.durations, self.planned.seconds + seconds
        if request.remote is not None and (place := request.remote.place(pcm)) is not None:
            return _Placed(request.remote, place, len(pcm), durations, seconds)
        chunk = render(request.chunk, ModelOutput(pcm, durations), request.input.speed, request.gain)
        return SynthesisResult(chunk, seconds)


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """A chunk's samples where the worker that read it renders them, and the seconds that the device spent on it."""

    chunk: RemoteChunk
    place: Place
    samples: int
    durations: npt.NDArray[np.int64]
    seconds: float

    async def rendered(self, request: SynthesisRequest) -> SynthesisResult:
        chunk = await self.chunk.rendered(self.place, self.samples, self.durations, request.input.speed, request.gain)
        return SynthesisResult(chunk, self.seconds)


class BatchedSynthesis:
    """Durations are predicted for chunks of any length together; chunks of about one length are decoded together.

    So a short first chunk never waits for a long one to be decoded beside it. On a GPU both go on at the same time, and
    a batch is launched before the one ahead of it ends, so that the device waits for nobody. One more thread
    phonemizes texts, and one reads the samples of each batch back and trims its chunks.
    """

    lookahead = _LOOKAHEAD
    workers = None
    in_pieces = False
    renders_whole_chunks = True

    def __init__(self, network: NativeKokoro, observer: Observer | None) -> None:
        self._network = network
        self._under_way: deque[Event] = deque()
        self.on_gpu = network.device.type == "cuda"
        device = DeviceExecutor("kokoro", 1)
        planner = DeviceExecutor("kokoro-planner", 1) if self.on_gpu else device
        reader, finisher = DeviceExecutor("kokoro-reader", 1), DeviceExecutor("kokoro-finisher", 1)
        self._executors = {device, planner, reader, finisher}
        self._read = Stage[Iterator[SynthesisRequest], SynthesisRequest | None](
            "kokoro-read", _next_requests, executor=reader, max_batch=_READ_BATCH
        )
        self._plan = Stage[ModelInput, _Planned](
            "kokoro-plan", self._plan_all, executor=planner, max_batch=network.batch, observer=observer
        )
        self._launch = Stage[TimedInput, _Launched](
            "kokoro-sound",
            self._launch_all,
            executor=device,
            key=network.bucket,
            room=network.room,
            observer=observer,
        )
        self._finish = Stage[_Decoding, SynthesisResult | _Placed](
            "kokoro-finish",
            _finished_all,
            executor=finisher,
            key=lambda decoding: id(decoding.launched.batch),
            max_batch=_ANY,
            isolates=True,
        )

    async def next_request(self, requests: Iterator[SynthesisRequest]) -> SynthesisRequest | None:
        return await self._read(requests)

    async def pieces(self, request: SynthesisRequest, due: float) -> AsyncGenerator[SynthesisResult, None]:
        yield await self.synthesize(request, due)

    async def synthesize(self, request: SynthesisRequest, due: float) -> SynthesisResult:
        if not request.input.ids:
            return SynthesisResult(render_pause(request), 0.0)
        planned = await self._plan(request.input, due)
        launched = await self._launch(planned.timed, due)
        finished = await self._finish(_Decoding(request, planned, launched), due)
        return await finished.rendered(request) if isinstance(finished, _Placed) else finished

    async def close(self) -> None:
        for stage in (self._read, self._plan, self._launch, self._finish):
            await stage.close()
        for executor in self._executors:
            await asyncio.to_thread(executor.close)

    def _plan_all(self, items: list[ModelInput]) -> list[_Planned]:
        started = time.perf_counter()
        timed = self._network.predict_durations(items)
        share = (time.perf_counter() - started) / len(items)
        return [_Planned(each, share) for each in timed]

    def _launch_all(self, timed: list[TimedInput]) -> list[_Launched]:
        """Launch a batch, and wait until no more than one a lane is under way: the device always has the next."""
        began = time.perf_counter()
        batch = self._network.launch(timed)
        if batch.arrived is not None:
            self._under_way.append(batch.arrived)
        if len(self._under_way) > self._network.lanes:
            self._under_way.popleft().synchronize()
            began = time.perf_counter()
        return [_Launched(batch, row, began) for row in range(len(timed))]


def _next_requests(utterances: Sequence[Iterator[SynthesisRequest]]) -> list[SynthesisRequest | Exception | None]:
    return [_next_request(requests) for requests in utterances]


def _next_request(requests: Iterator[SynthesisRequest]) -> SynthesisRequest | Exception | None:
    try:
        return next(requests, None)
    except Exception as error:  # noqa: BLE001 - a text that cannot be read fails alone
        return error


def _finished_all(decoding: Sequence[_Decoding]) -> list[SynthesisResult | _Placed]:
    """The chunks of rows of one batch, once its samples are there."""
    launched = decoding[0].launched
    rows = launched.batch.rows()
    share = (time.perf_counter() - launched.began) / len(rows)
    return [each.finished(rows[each.launched.row], share) for each in decoding]
