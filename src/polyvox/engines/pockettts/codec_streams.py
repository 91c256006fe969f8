"""Streams of the codec's decoder: their states in slots, and the calls that many of them share."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from polyvox.bundles.onnx_graphs.builder import serialize
from polyvox.engines.pockettts.flow_steps import Floats
from polyvox.engines.pockettts.graphs import decoder_graph, ort_state_shapes
from polyvox.errors import EngineError
from polyvox.models.pockettts.codec_decoder import CodecDecoder, DecoderState
from polyvox.models.pockettts.config import CodecConfig
from polyvox.onnx_session import open_session
from polyvox.runtime.block_allocator import BlockAllocator, BlockLease
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for, buckets
from polyvox.types import Pcm

FRAMES = (1, 2, 4, 8)
"""Frames of one captured call."""
_SPARE = 0
"""The slot that padding rows of a call read and write."""
_MASKED = -1e30


class Decoder(Protocol):
    """The decoder of latents, in PyTorch or as an ONNX graph."""

    config: CodecConfig

    def begin(self, batch: int) -> DecoderState:
        """The state of streams before their first frame."""

    def __call__(self, latents: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Samples [batch, n] of latents [batch, frames, latent], and the streams' next state."""


class OrtDecoder:
    """The decoder as an ONNX graph on the CPU."""

    def __init__(self, decoder: CodecDecoder, max_frames: int, threads: int = 1, *, eight_bits: bool = True) -> None:
        self.config = decoder.config
        self._past, self._shapes = decoder.transformer.past, ort_state_shapes(decoder)
        positions = max_frames * self.config.columns
        with torch.inference_mode():
            model = serialize(decoder_graph(decoder, positions, eight_bits=eight_bits))
        self._session = open_session(model, threads, mem_pattern=False)
        self._outputs = ["samples", *(f"new_state_{index}" for index in range(len(self._shapes)))]

    def begin(self, batch: int) -> DecoderState:
        kept = tuple(torch.zeros(batch, *shape) for shape in self._shapes)
        return DecoderState(torch.zeros(batch, dtype=torch.long), kept)

    def __call__(self, latents: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        count = latents.shape[1] * self.config.columns
        before = state.columns.numpy()
        offsets, keys = np.arange(count), np.arange(self._past + count)
        near = (keys >= offsets[:, None]) & (keys <= offsets[:, None] + self._past)
        seen = near & (keys >= self._past - before[:, None])[:, None]
        given = {
            "latents": latents.contiguous().numpy(),
            "positions": before[:, None] + offsets,
            "bias": np.where(seen, 0, _MASKED).astype(np.float32)[:, None],
        }
        given |= {f"state_{index}": each.contiguous().numpy() for index, each in enumerate(state.kept)}
        samples, *kept = (torch.from_numpy(each) for each in self._session.run(self._outputs, given))
        return samples[:, 0], DecoderState(state.columns + count, tuple(kept))


@dataclass(frozen=True, slots=True)
class CodecHop:
    """New latents [frames, latent] of the stream that has this slot; `first` begins the stream."""

    slot: BlockLease
    latents: Floats
    first: bool


@dataclass(frozen=True, slots=True)
class DecodedHop:
    """A hop's samples, and its share of the device's time."""

    pcm: Pcm
    seconds: float


class CodecStreams:
    """Decodes frames of many streams together. One thread may use it; a slot's calls come in their order.

    All hops of a call have the same number of frames; where calls are captured, the last hop of a stream is padded.
    """

    def __init__(
        self,
        decoder: Decoder,
        mean: Floats,
        deviation: Floats,
        slots: int,
        max_batch: int,
        replay: Replay | None = None,
    ) -> None:
        """`mean` and `deviation` turn sampled latents into those that the decoder takes."""
        self._decoder, self._replay = decoder, replay
        self._mean, self._deviation = mean, deviation
        self._batches = buckets(max_batch)
        with torch.inference_mode():
            self._state = decoder.begin(1 + slots)
        self._allocator = BlockAllocator(1, 1 + slots)
        self._device = self._state.columns.device

    def open(self) -> BlockLease:
        """A slot for a stream, for as long as the lease lives."""
        leases = self._allocator.take(1)
        if leases is None:
            raise EngineError("There are more streams than the decoder has room for; try again later.")
        return leases[0]

    def key(self, hop: CodecHop) -> int:
        """Hops of one key may be decoded together."""
        return self._size(len(hop.latents))

    def _size(self, frames: int) -> int:
        if self._replay is None:
            return frames
        return next((each for each in FRAMES if each >= frames), frames)

    @torch.inference_mode()
    def warm(self) -> None:
        """Capture all calls."""
        for frames in FRAMES:
            for batch in self._batches:
                self._call(self._table((), batch, frames), frames)

    @torch.inference_mode()
    def decode(self, hops: Sequence[CodecHop]) -> list[DecodedHop]:
        """The samples of hops of one key."""
        started, frames = time.perf_counter(), self._size(len(hops[0].latents))
        batch = len(hops) if self._replay is None else bucket_for(len(hops), self._batches)
        samples = self._call(self._table(hops, batch, frames), frames)[: len(hops)].cpu().numpy()
        seconds = (time.perf_counter() - started) / len(hops)
        hop_samples = self._decoder.config.frame
        return [
            DecodedHop(np.array(row[: len(hop.latents) * hop_samples]), seconds)
            for hop, row in zip(hops, samples, strict=True)
        ]

    def _table(self, hops: Sequence[CodecHop], batch: int, frames: int) -> Tensor:
        """Slot, whether the stream begins, and the latents of each row, [batch, 2 + frames * latent]."""
        width = self._decoder.config.latent
        table = np.zeros((batch, 2 + frames * width), np.float32)
        table[:, 0], table[:, 1] = _SPARE, 1
        for row, hop in zip(table, hops, strict=False):
            row[0], row[1] = hop.slot.index, hop.first
            row[2 : 2 + hop.latents.size] = (hop.latents * self._deviation + self._mean).ravel()
        return torch.from_numpy(table).to(self._device)

    def _call(self, table: Tensor, frames: int) -> Tensor:
        if self._replay is None or frames not in FRAMES:
            return self._work(table)
        return self._replay(("codec", len(table), frames), self._work, (table,), (self._table((), len(table), frames),))

    def _work(self, table: Tensor) -> Tensor:
        slots, first = table[:, 0].long(), table[:, 1].bool()
        latents = table[:, 2:].view(len(table), -1, self._decoder.config.latent)
        before = DecoderState(
            self._state.columns[slots].masked_fill(first, 0),
            tuple(_begun(each[slots], first) for each in self._state.kept),
        )
        samples, after = self._decoder(latents, before)
        self._state.columns[slots] = after.columns
        for kept, new in zip(self._state.kept, after.kept, strict=True):
            kept[slots] = new
        return samples


def _begun(kept: Tensor, first: Tensor) -> Tensor:
    """Zeros for the rows that begin a stream."""
    return kept.masked_fill(first.view(-1, *[1] * (kept.dim() - 1)), 0.0)
