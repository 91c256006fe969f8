"""Source-filter synthesis: pulse train, modulated noise, and time-varying filters by overlap-add."""

import math

import torch
from torch import Tensor
from torch.nn import functional

SAMPLE_RATE = 24_000
HOP = 300
VOICED_ABOVE_HZ = 10.0
"""Kokoro's harmonic source takes a lower pitch for unvoiced."""
_HIGHEST_HARMONIC_HZ, _LOWEST_PITCH = 11_500.0, 40.0
_NEAR_ZERO = 1e-4


def phase_cycles(pitch: Tensor, hop: int = HOP) -> Tensor:
    """Phase of the pitch [batch, frames] at the centre of each frame, in cycles within [0, 1).

    It is a sum over the whole utterance, in double precision: a chunk must take its part of this, not its own sum.
    """
    return (pitch.double() * (hop / SAMPLE_RATE)).cumsum(dim=1).remainder(1.0).float()


def sample_phases(pitch: Tensor, phase: Tensor, hop: int) -> Tensor:
    """Phase in cycles at every sample, [batch, frames, hop], linear between the centres of frames."""
    advance = pitch * (hop / SAMPLE_RATE)
    next_advance = functional.pad(advance[:, 1:], (0, 1))
    position = (torch.arange(hop, device=pitch.device) + 0.5) / hop - 0.5
    return phase[:, :, None] + position * torch.where(position < 0, advance[:, :, None], next_advance[:, :, None])


def pulse_train(phases: Tensor, pitch: Tensor) -> Tensor:
    """All harmonics of the pitch below 11.5 kHz at equal amplitude and zero phase, normalised to unit power."""
    count = (_HIGHEST_HARMONIC_HZ / pitch.clamp(min=_LOWEST_PITCH)).floor()[:, :, None]
    half = math.pi * (phases - phases.round())
    sine = half.sin()
    near_zero = sine.abs() < _NEAR_ZERO
    # The Dirichlet kernel, a closed form of the sum of cosines.
    kernel = torch.where(near_zero, 2 * count + 1, ((2 * count + 1) * half).sin() / torch.where(near_zero, 1.0, sine))
    return 0.5 * (kernel - 1) * torch.sqrt(2 / count)


def noise_modulation(coefficients: Tensor, phases: Tensor) -> Tensor:
    """Relative amplitude modulation [batch, samples] from cosine, then sine coefficients of harmonics per frame."""
    count, hop = coefficients.shape[2] // 2, phases.shape[2]
    smooth = functional.interpolate(coefficients.transpose(1, 2), scale_factor=float(hop), mode="linear")
    harmonics = torch.arange(1, count + 1, device=phases.device)
    angles = 2 * math.pi * harmonics[:, None] * (phases - phases.round()).flatten(1)[:, None]
    return (smooth * torch.cat((angles.cos(), angles.sin()), dim=1)).sum(dim=1)


def filter_frames(samples: Tensor, response: Tensor, window: int, fft: int) -> Tensor:
    """Filter samples [batch, time] by responses [batch, 2 time / window, bins], cross-faded by Hann windows.

    An impulse response is centred at 0. Its circular wrap-around is not prevented; the network learns around it.
    """
    hop = window // 2
    before = (window - hop) // 2
    frames = functional.pad(samples, (before, window - hop - before)).unfold(1, window, hop)
    hann = torch.hann_window(window, device=samples.device)
    filtered = torch.fft.irfft(torch.fft.rfft(frames * hann, fft) * response, fft)
    taps = (fft - window) // 2
    return overlap_add(filtered.roll(taps, dims=2), hop)[:, before + taps :][:, : samples.shape[1]]


def overlap_add(frames: Tensor, hop: int) -> Tensor:
    """Add frames [batch, n, size] at distances of `hop`."""
    batch, count, size = frames.shape
    pieces = -(-size // hop)
    parts = functional.pad(frames, (0, pieces * hop - size)).view(batch, count, pieces, hop)
    shifted = [functional.pad(parts[:, :, index], (0, 0, index, pieces - 1 - index)) for index in range(pieces)]
    return torch.stack(shifted).sum(dim=0).flatten(1)


def band_interpolation(bands: int, bins: int) -> Tensor:
    """Matrix [bands, bins] that interpolates linearly from equally spaced bands to FFT bins."""
    positions = torch.linspace(0, bands - 1, bins)
    return (1 - (positions - torch.arange(bands)[:, None]).abs()).clamp(min=0)
