"""Kokoro's front and Wren's decoder in PyTorch on one device: chunks of many sessions in batches."""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from polyvox.engines.kokoro.native.lanes import Lane
from polyvox.engines.kokoro.native.network import GraphShapes, NativeKokoro, TimedInput
from polyvox.engines.kokoro.wren.decoder import USUAL_SAMPLES, normal_noise
from polyvox.engines.kokoro.wren.heard import AUDIBLE_ENERGY, END_MARGIN, LEAD_FRAMES, MARGIN
from polyvox.models.kokoro.model import FRAME, Kokoro
from polyvox.models.kokoro.ragged import FrameSpans, Ragged, StaticRagged
from polyvox.models.kokoro.wren import Wren
from polyvox.models.kokoro.wren_batch import wren_samples
from polyvox.models.kokoro.wren_blocks import ConvNeXtBlock


class NativeWren(NativeKokoro):
    """Wren behind Kokoro's front: whole chunks, with the noise that ONNX Runtime's path has."""

    prefix = "Wren in "

    def __init__(self, network: Kokoro, wren: Wren, batch: int, shapes: GraphShapes | None = None) -> None:
        """Of `network` everything but the decoder is used."""
        self.wren = wren
        super().__init__(network, batch, shapes)
        self._usual_noise = torch.from_numpy(normal_noise(USUAL_SAMPLES)).to(self.device)

    def with_shapes(self, shapes: GraphShapes) -> "NativeWren":
        return NativeWren(self.network, self.wren, self.batch, shapes)

    def _decoder_dtype(self) -> torch.dtype:
        block = self.wren.blocks[0]
        assert isinstance(block, ConvNeXtBlock)
        return block.expand.weight.dtype

    def _decode_eagerly(self, timed: Sequence[TimedInput], lane: Lane) -> Tensor:
        lengths = [each.tokens.frames for each in timed]
        batch = self._frame_batch(lane, len(timed), max(lengths), timed)
        # Lengths that the host knows: cuDNN runs an LSTM in one call, a kernel of ours is launched for each step.
        return self._decode_rows(Ragged(lengths, self.device), batch.encoding, batch.style, batch.noise)

    def _decode_batch(self, ends: Tensor, encoding: Tensor, style: Tensor, noise: Tensor) -> Tensor:
        return self._decode_rows(StaticRagged(ends, encoding.shape[1]), encoding, style, noise)

    def _decode_rows(self, frames: Ragged, encoding: Tensor, style: Tensor, noise: Tensor) -> Tensor:
        text, pitch, energy = self.network.frame_features(encoding, style, frames)
        heard = partial(_heard_frames, first_frames=encoding[:, 0, -1].long(), ends=2 * frames.ends)
        acoustic = style.chunk(2, dim=1)[0].float()
        return wren_samples(self.wren, text, pitch.float(), energy.float(), acoustic, noise, frames, heard)

    def _noise(self, lane: Lane, rows: int, length: int, timed: Sequence[TimedInput]) -> Tensor:
        """One sequence for all."""
        samples = length * FRAME
        if samples > USUAL_SAMPLES:
            return self._sent(normal_noise(samples))
        return self._usual_noise[:samples]


def _heard_frames(energy: Tensor, first_frames: Tensor, ends: Tensor) -> FrameSpans:
    """`heard_frames` of a batch: energy [batch, n], durations of the first ids, and the rows' ends in frames."""
    positions = torch.arange(energy.shape[1], device=energy.device)
    audible = (energy > AUDIBLE_ENERGY) & (positions < ends[:, None])
    first, last = 2 * first_frames - LEAD_FRAMES, torch.where(audible, positions, -1).amax(dim=1)
    start = torch.minimum(first, torch.where(audible, positions, energy.shape[1]).amin(dim=1))
    end = torch.where(last < 0, ends, last + 1)
    return FrameSpans((start - MARGIN).clamp(min=0), torch.minimum(end + END_MARGIN, ends), energy.shape[1])
