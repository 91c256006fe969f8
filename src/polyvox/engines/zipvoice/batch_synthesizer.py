"""Chunks of many requests on a GPU, each solved from tokens to samples in one batch; shapes are captured meanwhile."""

import asyncio
import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from functools import partial

import numpy as np
import structlog
import torch

from polyvox.engines.kit.gathering import Gathering
from polyvox.engines.kit.recording import first_line
from polyvox.engines.zipvoice.batch_packing import BatchShape
from polyvox.engines.zipvoice.batch_solver import FEATURE_SCALE, MAX_ROWS, BatchSolver, LaunchedBatch
from polyvox.engines.zipvoice.chunk_row import ChunkRow
from polyvox.engines.zipvoice.fused_kernels import fuse_kernels
from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.engines.zipvoice.synthesizer import ChunkRequest, PreparedChunk, SynthesizedChunk
from polyvox.models.zipvoice.flow import ZipVoiceInput
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import Replay
from polyvox.runtime.stage import Observer, Stage
from polyvox.types import Pcm, Seconds

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

GATHER_SECONDS = 0.008
"""Time for which a chunk waits for others to arrive: a batch of many takes little longer than one of one."""
_TEXT_THREADS = 4
"""A text takes two milliseconds, most of them in a program of its own, and the noise one for each second of speech."""
_SAMPLE_THREADS = 2
"""Threads that wait for samples, while the next batch is prepared on the device's own thread."""
_PROGRESS_SECONDS = 2.0


class _Arrival:
    """The samples of a batch that the device works on since `started`: finished for all rows once one is asked for.

    One event loop may use it.
    """

    def __init__(self, batch: LaunchedBatch, requests: Sequence[ChunkRequest], started: float) -> None:
        self._batch, self._requests, self._started = batch, requests, started
        self._read: asyncio.Task[tuple[list[Pcm], float]] | None = None

    async def row(self, index: int, executor: DeviceExecutor) -> tuple[Pcm, Seconds]:
        """A row's finished samples; the batch's time, and the chunk's share of it."""
        if self._read is None:
            self._read = asyncio.create_task(executor.run(self._finished))
        await asyncio.wait([self._read])  # a caller that is cancelled leaves it to the others
        made, passed = self._read.result()
        return made[index], Seconds(passed, passed / len(made))

    def _finished(self) -> tuple[list[Pcm], float]:
        made = [request.finished(self._batch.samples(row)) for row, request in enumerate(self._requests)]
        return made, time.perf_counter() - self._started


class BatchSynthesizer:
    """One stage that solves whole chunks. `capture` makes it faster while it is in use.

    A batch is chosen and launched when the one before it is nearly done, so that the device waits for neither.
    """

    chunks_ahead = 1
    text_threads = _TEXT_THREADS

    def __init__(
        self,
        networks: ZipVoiceNetworks,
        device: torch.device,
        observer: Observer | None,
        recorder: Callable[[], Replay] | None = None,
    ) -> None:
        self.warning = ""
        """The reason why shapes run eagerly that should have been captured; empty where none does."""
        self._networks = networks
        self._solver = BatchSolver(networks, device, None if recorder is None else recorder())
        self._executor = DeviceExecutor("zipvoice", 1)
        self._gathering = Gathering()
        self._samples = DeviceExecutor("zipvoice-samples", _SAMPLE_THREADS)
        self._stage = Stage[PreparedChunk, tuple[_Arrival, int]](
            "zipvoice-solve",
            self._launch,
            executor=self._executor,
            max_batch=MAX_ROWS,
            key=self._group,
            room=self._room,
            observer=observer,
        )

    def prepare(self, request: ChunkRequest) -> PreparedChunk:
        """Draw the chunk's noise, and lay out its row."""
        return PreparedChunk(request, _chunk_row(request))

    async def synthesize(self, chunk: PreparedChunk, due: float) -> SynthesizedChunk:
        """Synthesize a chunk; `due` is its deadline, by which the stage orders its work."""
        await self._gathering.wait(GATHER_SECONDS)
        arrival, row = await self._stage(chunk, due)
        pcm, seconds = await arrival.row(row, self._samples)
        return SynthesizedChunk(pcm, _row(chunk).generated, seconds, None)

    async def fuse(self) -> None:
        """Use fused kernels, where there are some and they compute what they should."""
        await self._executor.run(partial(fuse_kernels, self._networks))

    def arriving(self) -> AbstractContextManager[None]:
        """Let other chunks wait a moment for the one that this block leads to."""
        return self._gathering.arriving()

    async def capture(self, max_frames: int) -> None:
        """Capture all shapes for chunks up to so many frames, between batches; they are used one by one as they come.

        Where that fails, everything goes on eagerly, and `warning` says so.
        """
        shapes = list(self._solver.shapes(max_frames))
        began = reported = time.monotonic()
        for done, shape in enumerate(shapes):
            if not await self._captured(shape):
                return
            if time.monotonic() - reported >= _PROGRESS_SECONDS:
                reported = time.monotonic()
                log.info("capturing ZipVoice's shapes", captured=done + 1, of=len(shapes))
        log.info("ZipVoice's shapes are captured", shapes=len(shapes), seconds=round(time.monotonic() - began, 1))

    async def close(self) -> None:
        await self._stage.close()
        for executor in (self._executor, self._samples):
            await asyncio.to_thread(executor.close)

    async def _captured(self, shape: BatchShape) -> bool:
        try:
            await self._executor.run(partial(self._solver.capture, shape))
        except RuntimeError as error:
            self.warning = (
                f"ZipVoice's shapes could not be captured ({first_line(error)}), so it runs eagerly and more slowly."
            )
        if self.warning:
            log.warning(self.warning)
            await self._executor.run(self._solver.discard)
        return not self.warning

    def _group(self, chunk: PreparedChunk) -> Hashable:
        return self._solver.group(_row(chunk))

    def _room(self, group: Hashable) -> int:
        assert isinstance(group, tuple)
        steps, frames = group
        return self._solver.room(steps, frames)

    def _launch(self, chunks: list[PreparedChunk]) -> list[tuple[_Arrival, int]]:
        started = time.perf_counter()
        batch = self._solver.launch([_row(chunk) for chunk in chunks])
        batch.wait_nearly_done()
        arrival = _Arrival(batch, [chunk.request for chunk in chunks], started)
        return [(arrival, row) for row in range(len(chunks))]


def _row(chunk: PreparedChunk) -> ChunkRow:
    assert chunk.row is not None
    return chunk.row


def _chunk_row(request: ChunkRequest) -> ChunkRow:
    # Not by PyTorch, which starts threads for the product in each thread that asks for one.
    prompt = torch.from_numpy(request.prompt.mel * np.float32(FEATURE_SCALE))
    given = ZipVoiceInput(request.tokens, request.prompt.tokens, prompt, request.speed)
    return ChunkRow.of(given, request.seed, request.solver)
