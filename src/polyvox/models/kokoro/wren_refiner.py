"""The refiner: a small network that corrects short spectra of the source-filter signal, 240 times a second.

Kokoro's speech above 2 kHz is neither periodic nor noise: nearly all of it follows from the features and the phase of
the pitch. A pulse train and noise through filters that change 80 times a second cannot imitate its texture. The refiner
sees what they made, noise included, and turns, scales and adds to every bin of it. A new refiner changes nothing.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.kokoro.wren_blocks import Condition, ConvNeXtBlock
from polyvox.models.kokoro.wren_source import overlap_add
from polyvox.models.spectrum import real_frames

_OVERLAP = 4
"""Spectra that cover one sample."""
_WINDOW_POWER = 1.5
"""Sum of squared Hann windows at this overlap."""
_CORRECTION_SCALE = 0.25
"""Keeps the first steps of a new refiner small: all inputs of its last layer have unit variance."""


@dataclass(frozen=True, slots=True)
class RefinerConfig:
    """Sizes of the refiner; `blocks` is 0 where there is none, and `per_frame` spectra fall on one frame."""

    width: int = 256
    blocks: int = 0
    kernel_size: int = 7
    expansion: int = 2
    per_frame: int = 3


class Refiner(nn.Module):
    """ConvNeXt blocks from spectra of samples to corrections of them, given hidden states and style."""

    window: Tensor

    def __init__(
        self, config: RefinerConfig, hop: int, hidden_width: int, condition_dim: int, utterance_dim: int
    ) -> None:
        super().__init__()
        self.config = config
        self.hop = hop // config.per_frame
        self.fft = _OVERLAP * self.hop
        self.bins = self.fft // 2 + 1
        self.spectra_in = nn.Linear(2 * self.bins, config.width)
        self.hidden_in = nn.Linear(hidden_width, config.per_frame * config.width)
        self.blocks = nn.ModuleList(
            ConvNeXtBlock(config.width, config.kernel_size, config.expansion, condition_dim, utterance_dim)
            for _ in range(config.blocks)
        )
        self.corrections = nn.Linear(config.width, 4 * self.bins)
        nn.init.zeros_(self.corrections.weight)
        nn.init.zeros_(self.corrections.bias)
        self.register_buffer("window", torch.hann_window(self.fft), persistent=False)

    @property
    def reach_frames(self) -> int:
        """Frames on either side that a refined sample depends on."""
        spectra = self.config.blocks * (self.config.kernel_size // 2) + 2 * _OVERLAP
        return math.ceil(spectra / self.config.per_frame)

    def forward(self, samples: Tensor, hidden: Tensor, condition: Condition, mask: Tensor | None = None) -> Tensor:
        """Refine samples [batch, time] given hidden states [batch, frames, hidden width].

        `mask` [batch, frames, 1] is 0 in padding, where the refined samples are undefined.
        """
        per_frame = self.config.per_frame
        if mask is not None:
            samples = samples * mask.expand(-1, -1, per_frame * self.hop).flatten(1)
            mask = mask.repeat_interleave(per_frame, dim=1)
        spectra = _compress(self._analyse(samples))
        rows = self.hidden_in(functional.layer_norm(hidden, hidden.shape[-1:]))
        rows = rows.unflatten(2, (per_frame, -1)).flatten(1, 2) + self.spectra_in(spectra.flatten(2))
        for block in self.blocks:
            rows = block(rows, condition, mask)
        # In float32 under autocast: a correction of 1 % is audible in a vowel.
        with torch.autocast(samples.device.type, enabled=False):
            normed = functional.layer_norm(rows.float(), rows.shape[-1:])
            corrections = _CORRECTION_SCALE * self.corrections(normed)
            corrected = _correct(spectra.float(), corrections.unflatten(2, (4, self.bins)))
            return self._synthesize(corrected if mask is None else corrected * mask)

    def _analyse(self, samples: Tensor) -> Tensor:
        """Complex spectra [batch, frames * per_frame, bins], the first centred half a hop behind the start."""
        edge = (self.fft - self.hop) // 2
        frames = functional.pad(samples.float(), (edge, edge)).unfold(1, self.fft, self.hop)
        out: Tensor = torch.fft.rfft(frames * self.window)
        return out

    def _synthesize(self, spectra: Tensor) -> Tensor:
        edge = (self.fft - self.hop) // 2
        frames = real_frames(spectra, self.fft) * (self.window / _WINDOW_POWER)
        return overlap_add(frames, self.hop)[:, edge : edge + spectra.shape[1] * self.hop]


def _compress(spectra: Tensor) -> Tensor:
    """Spectra divided by the root of their magnitudes, real over imaginary parts [batch, spectra, 2, bins]."""
    real, imaginary = spectra.real, spectra.imag
    gain = (real.square() + imaginary.square() + 1e-8).pow(-0.25)
    return torch.stack((real * gain, imaginary * gain), dim=2)


def _correct(compressed: Tensor, corrections: Tensor) -> Tensor:
    """Multiply by a complex number near 1, add another, and expand to complex spectra [batch, spectra, bins]."""
    real, imaginary = compressed.unbind(2)
    scale, turn, more_real, more_imaginary = corrections.unbind(2)
    new_real = real * (1 + scale) - imaginary * turn + more_real
    new_imaginary = imaginary * (1 + scale) + real * turn + more_imaginary
    magnitude = torch.sqrt(new_real.square() + new_imaginary.square() + 1e-8)
    return torch.complex(new_real * magnitude, new_imaginary * magnitude)
