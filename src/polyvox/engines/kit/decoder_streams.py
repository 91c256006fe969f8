"""Streams of a codec's decoder on one device: their states in slots, and the calls that many of them share."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from polyvox.errors import EngineError
from polyvox.models.stream_state import StreamState
from polyvox.runtime.block_allocator import BlockAllocator, BlockLease
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for, buckets
from polyvox.runtime.stage import Observer, Stage
from polyvox.types import Pcm

CALL_FRAMES = (1, 2, 4, 8)
"""Frames of one captured call."""
SPARE = 0
"""The slot that padding rows of a call read and write."""


def call_frames(frames: int) -> int:
    """Frames of the captured call that has room for these; as many as they are where none has."""
    return next((each for each in CALL_FRAMES if each >= frames), frames)


@dataclass(frozen=True, slots=True)
class DecodedHop:
    """A hop's samples, and its share of the device's time."""

    pcm: Pcm
    seconds: float


Hop = TypeVar("Hop")


class DecoderStreams(ABC, Generic[Hop]):
    """Decodes hops of many streams together. One thread may use it; a slot's calls come in their order.

    A hop is some frames of one stream; all hops of a call have the same number of frames. Calls are one launch each
    once they were captured.
    """

    def __init__(
        self,
        begin: Callable[[int], StreamState],
        slots: int,
        max_batch: int,
        frame_samples: int,
        replay: Replay | None,
    ) -> None:
        """`begin` gives the state of so many streams before their first frame."""
        self._frame_samples, self._replay = frame_samples, replay
        self._batches, self._max_batch = buckets(max_batch), max_batch
        with torch.inference_mode():
            self._state = begin(SPARE + 1 + slots)
        self._allocator = BlockAllocator(SPARE + 1, SPARE + 1 + slots)
        self._device = self._state.positions.device

    @abstractmethod
    def key(self, hop: Hop) -> int:
        """Frames of the call that a hop needs: hops of one key may be decoded together."""

    @abstractmethod
    def _frames(self, hop: Hop) -> int:
        """Frames of a hop without its padding."""

    @abstractmethod
    def _table(self, hops: Sequence[Hop], batch: int, frames: int) -> Tensor:
        """Slot, whether the stream begins, and the frames of each row, [batch, 2 + frames * width].

        Rows behind the hops are padding: new streams in the spare slot.
        """

    @abstractmethod
    def _decoded(self, frames: Tensor, state: StreamState) -> tuple[Tensor, StreamState]:
        """Samples [batch, n] of frames [batch, frames * width], and the streams' next state."""

    def _begin(self, hops: Sequence[Hop]) -> None:
        """Set the state of streams that continue something else; others begin at zero."""

    def open(self) -> BlockLease:
        """A slot for a stream, for as long as the lease lives."""
        leases = self._allocator.take(1)
        if leases is None:
            raise EngineError("There are more streams than the decoder has room for; try again later.")
        return leases[0]

    def stage(self, name: str, executor: DeviceExecutor, observer: Observer | None) -> Stage[Hop, DecodedHop]:
        """The stage that batches hops; `executor` has the one thread."""
        return Stage(name, self.decode, executor=executor, max_batch=self._max_batch, key=self.key, observer=observer)

    @torch.inference_mode()
    def warm(self) -> None:
        """Capture all calls."""
        for frames in CALL_FRAMES:
            for batch in self._batches:
                self._call(self._table((), batch, frames), frames)

    @torch.inference_mode()
    def decode(self, hops: Sequence[Hop]) -> list[DecodedHop]:
        """The samples of hops of one key."""
        started, frames = time.perf_counter(), self.key(hops[0])
        self._begin(hops)
        batch = len(hops) if self._replay is None else bucket_for(len(hops), self._batches)
        samples = self._call(self._table(hops, batch, frames), frames)[: len(hops)].cpu().numpy()
        seconds = (time.perf_counter() - started) / len(hops)
        return [
            DecodedHop(np.array(row[: self._frames(hop) * self._frame_samples]), seconds)
            for hop, row in zip(hops, samples, strict=True)
        ]

    def _call(self, table: Tensor, frames: int) -> Tensor:
        if self._replay is None or frames not in CALL_FRAMES:
            return self._work(table)
        return self._replay(("codec", len(table), frames), self._work, (table,), (self._table((), len(table), frames),))

    def _work(self, table: Tensor) -> Tensor:
        slots, first = table[:, 0].long(), table[:, 1].bool()
        before = StreamState(
            self._state.positions[slots].masked_fill(first, 0),
            tuple(_begun(each[slots], first) for each in self._state.kept),
        )
        samples, after = self._decoded(table[:, 2:], before)
        self._keep(slots, after)
        return samples

    def _keep(self, slots: Tensor | slice, state: StreamState) -> None:
        self._state.positions[slots] = state.positions
        for kept, new in zip(self._state.kept, state.kept, strict=True):
            kept[slots] = new


def _begun(kept: Tensor, first: Tensor) -> Tensor:
    """Zeros for the rows that begin a stream."""
    return kept.masked_fill(first.view(-1, *[1] * (kept.dim() - 1)), 0.0)
