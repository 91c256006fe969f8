"""Chunks of many requests on a GPU, each solved from tokens to samples in one batch; shapes are captured meanwhile."""

import asyncio
import time
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

import structlog
import torch

from polyvox.engines.kit.gathering import Gathering
from polyvox.engines.kit.recording import first_line
from polyvox.engines.zipvoice.batch_solver import (
    FEATURE_SCALE,
    MAX_ROWS,
    BatchShape,
    BatchSolver,
    ChunkRow,
    LaunchedBatch,
)
from polyvox.engines.zipvoice.fused_kernels import fuse_kernels
from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.engines.zipvoice.synthesizer import ChunkRequest, SynthesizedChunk
from polyvox.models.zipvoice.flow import ZipVoiceInput
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import Replay
from polyvox.runtime.stage import Observer, Stage
from polyvox.types import Pcm, Seconds

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

GATHER_SECONDS = 0.008
"""Time for which a chunk waits for others to arrive: a batch of many takes little longer than one of one."""
_ROW_THREADS = 4
"""Threads that draw noise, a millisecond for each second of speech."""
_SAMPLE_THREADS = 2
"""Threads that wait for samples, while the next batch is prepared on the device's own thread."""
_PROGRESS_SECONDS = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class _Launched:
    """A chunk of a batch that the device works on since `started`."""

    batch: LaunchedBatch
    row: int
    rows: int
    started: float

    def result(self) -> tuple[Pcm, Seconds]:
        """Wait for the samples; the batch's time, and the chunk's share of it."""
        pcm = self.batch.samples(self.row)
        passed = time.perf_counter() - self.started
        return pcm, Seconds(passed, passed / self.rows)


class BatchSynthesizer:
    """One stage that solves whole chunks. `capture` makes it faster while it is in use.

    A batch is chosen and launched when the one before it is nearly done, so that the device waits for neither.
    """

    chunks_ahead = 1

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
        self._rows = DeviceExecutor("zipvoice-rows", _ROW_THREADS)
        self._samples = DeviceExecutor("zipvoice-samples", _SAMPLE_THREADS)
        self._stage = Stage[ChunkRow, _Launched](
            "zipvoice-solve",
            self._launch,
            executor=self._executor,
            max_batch=MAX_ROWS,
            key=self._solver.group,
            room=self._room,
            observer=observer,
        )

    async def synthesize(self, request: ChunkRequest, due: float) -> SynthesizedChunk:
        """Synthesize a chunk; `due` is its deadline, by which the stage orders its work."""
        with self.arriving():
            row = await self._rows.run(partial(_chunk_row, request))
        await self._gathering.wait(GATHER_SECONDS)
        launched = await self._stage(row, due)
        pcm, seconds = await self._samples.run(launched.result)
        return SynthesizedChunk(pcm, row.generated, seconds, None)

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
        for executor in (self._rows, self._executor, self._samples):
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

    def _room(self, group: Hashable) -> int:
        assert isinstance(group, tuple)
        steps, frames = group
        return self._solver.room(steps, frames)

    def _launch(self, rows: list[ChunkRow]) -> list[_Launched]:
        started = time.perf_counter()
        batch = self._solver.launch(rows)
        batch.wait_nearly_done()
        return [_Launched(batch, row, len(rows), started) for row in range(len(rows))]


def _chunk_row(request: ChunkRequest) -> ChunkRow:
    prompt = torch.from_numpy(request.prompt.mel) * FEATURE_SCALE
    given = ZipVoiceInput(request.tokens, request.prompt.tokens, prompt, request.speed)
    return ChunkRow.of(given, request.seed, request.solver)
