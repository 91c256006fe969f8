"""Decoders that a fit's steps go through, as functions of the decoded curves and the acoustic style."""

from collections.abc import Callable

import torch
from torch import Tensor

from polyvox.models.kokoro.ragged import FrameSpans, Ragged
from polyvox.models.kokoro.wren import Wren
from polyvox.models.kokoro.wren_batch import wren_samples

Decode = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Ragged], Tensor]
"""Samples of text, pitch, energy, acoustic style and noise, with the lengths in frames, as of `Kokoro.waveform`."""


def wren_decode(wren: Wren) -> Decode:
    """Wren in the place of Kokoro's decoder; all frames are decoded."""

    def decode(text: Tensor, pitch: Tensor, energy: Tensor, style: Tensor, noise: Tensor, frames: Ragged) -> Tensor:
        ends = frames.scaled(2).ends
        spans = FrameSpans(torch.zeros_like(ends), ends, 2 * frames.longest)
        return wren_samples(wren, text, pitch, energy, style, noise[:, :, 0], frames, lambda _: spans)

    return decode
