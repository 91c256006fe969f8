"""Differentiable audio front end of CAM++: a resampler, and Kaldi's log mel filter banks."""

import math
from fractions import Fraction

import torch
from torch import Tensor
from torch.nn import functional

from polyvox.audio.features import (
    FRAME_SECONDS,
    HOP_SECONDS,
    LEAST_ENERGY,
    PRE_EMPHASIS,
    kaldi_filters,
    povey_window,
)

# Zero crossings of the filter on either side, and its cutoff as a share of Nyquist: as steep a filter, at the same
# frequency, as the one that recordings go through. Predicted MOS depends on the last tenth below Nyquist.
_CROSSINGS, _ROLL_OFF = 92, 0.957
_KAISER = 13.0


class Resampler:
    """Resample [batch, time] with a Kaiser-windowed sinc, one filter for each phase of the output."""

    def __init__(self, source_rate: int, target_rate: int, device: torch.device | None = None) -> None:
        ratio = Fraction(target_rate, source_rate)
        self._up, self._down = ratio.numerator, ratio.denominator
        cutoff = min(1.0, float(ratio)) * _ROLL_OFF
        self._reach = math.ceil(_CROSSINGS / cutoff)
        offsets = torch.arange(-self._reach, self._reach + self._down + 1, dtype=torch.float64)
        positions = torch.arange(self._up, dtype=torch.float64)[:, None] * self._down / self._up
        distance = (offsets - positions) * cutoff
        inside = (1 - (distance / _CROSSINGS).square()).clamp(min=0).sqrt()
        window = torch.special.i0(_KAISER * inside) / torch.special.i0(torch.tensor(_KAISER, dtype=torch.float64))
        window = window * (distance.abs() <= _CROSSINGS)
        self._filters = (torch.sinc(distance) * window * cutoff).float()[:, None].to(device)

    def __call__(self, samples: Tensor) -> Tensor:
        padded = functional.pad(samples, (self._reach, self._reach + self._down))
        phases = functional.conv1d(padded[:, None], self._filters.to(samples), stride=self._down)
        count = samples.shape[1] * self._up // self._down
        return phases.transpose(1, 2).flatten(1)[:, :count]


class Fbank:
    """Samples [batch, time] to `kaldi_fbank`'s features [batch, frames, bins], less each bin's mean over time."""

    def __init__(self, sample_rate: int, bins: int = 80, device: torch.device | None = None) -> None:
        self._length, self._hop = round(FRAME_SECONDS * sample_rate), round(HOP_SECONDS * sample_rate)
        self._size = 1 << (self._length - 1).bit_length()
        filters = torch.from_numpy(kaldi_filters(sample_rate, self._size, bins))
        self._filters = filters.float().T.contiguous().to(device)
        self._window = torch.from_numpy(povey_window(self._length)).to(device)

    def __call__(self, samples: Tensor) -> Tensor:
        frames = samples.unfold(1, self._length, self._hop)
        frames = frames - frames.mean(dim=2, keepdim=True)
        before = torch.cat((frames[:, :, :1], frames[:, :, :-1]), dim=2)
        spectra = torch.fft.rfft((frames - PRE_EMPHASIS * before) * self._window.to(samples), self._size)
        power = spectra.real.square() + spectra.imag.square()
        energies: Tensor = (power @ self._filters.to(samples)).clamp(min=float(LEAST_ENERGY)).log()
        return energies - energies.mean(dim=1, keepdim=True)
