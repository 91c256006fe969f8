"""Streams of the codec's decoder: their states in slots, and the calls that many of them share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from polyvox.bundles.onnx_graphs.builder import serialize
from polyvox.engines.kit.decoder_streams import SPARE, DecoderStreams, call_frames
from polyvox.engines.pockettts.flow_steps import Floats
from polyvox.engines.pockettts.graphs import decoder_graph, ort_state_shapes
from polyvox.models.pockettts.codec_decoder import CodecDecoder
from polyvox.models.pockettts.config import CodecConfig
from polyvox.models.stream_state import StreamState
from polyvox.onnx_session import open_session
from polyvox.runtime.block_allocator import BlockLease
from polyvox.runtime.executors.cuda_graphs import Replay

_MASKED = -1e30


class Decoder(Protocol):
    """The decoder of latents, in PyTorch or as an ONNX graph."""

    config: CodecConfig

    def begin(self, batch: int) -> StreamState:
        """The state of streams before their first frame."""

    def __call__(self, latents: Tensor, state: StreamState) -> tuple[Tensor, StreamState]:
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

    def begin(self, batch: int) -> StreamState:
        kept = tuple(torch.zeros(batch, *shape) for shape in self._shapes)
        return StreamState(torch.zeros(batch, dtype=torch.long), kept)

    def __call__(self, latents: Tensor, state: StreamState) -> tuple[Tensor, StreamState]:
        count = latents.shape[1] * self.config.columns
        before = state.positions.numpy()
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
        return samples[:, 0], StreamState(state.positions + count, tuple(kept))


@dataclass(frozen=True, slots=True)
class CodecHop:
    """New latents [frames, latent] of the stream that has this slot; `first` begins the stream."""

    slot: BlockLease
    latents: Floats
    first: bool


class CodecStreams(DecoderStreams[CodecHop]):
    """Streams of latents; where calls are captured, the last hop of a stream is padded."""

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
        super().__init__(decoder.begin, slots, max_batch, decoder.config.frame, replay)
        self._decoder, self._mean, self._deviation = decoder, mean, deviation

    def key(self, hop: CodecHop) -> int:
        return len(hop.latents) if self._replay is None else call_frames(len(hop.latents))

    def _frames(self, hop: CodecHop) -> int:
        return len(hop.latents)

    def _table(self, hops: Sequence[CodecHop], batch: int, frames: int) -> Tensor:
        table = np.zeros((batch, 2 + frames * self._decoder.config.latent), np.float32)
        table[:, 0], table[:, 1] = SPARE, 1
        for row, hop in zip(table, hops, strict=False):
            row[0], row[1] = hop.slot.index, hop.first
            row[2 : 2 + hop.latents.size] = (hop.latents * self._deviation + self._mean).ravel()
        return torch.from_numpy(table).to(self._device)

    def _decoded(self, frames: Tensor, state: StreamState) -> tuple[Tensor, StreamState]:
        return self._decoder(frames.view(len(frames), -1, self._decoder.config.latent), state)
