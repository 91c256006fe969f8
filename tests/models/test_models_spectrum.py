"""Frames from spectra that no real signal has, as networks predict them."""

import math

import pytest
import torch
from torch import Tensor

from polyvox.models.spectrum import istft_frames, real_frames

SIZE = 32


def by_halves(spectra: Tensor, n: int) -> Tensor:
    """Inverse transform of a real signal as a complex one of half the length, as libraries for GPUs do at times."""
    half, rest = spectra[..., :-1], spectra.flip(-1)[..., :-1].conj()
    turns = torch.polar(torch.ones(n // 2), 2 * math.pi * torch.arange(n // 2) / n)
    pairs = torch.fft.ifft((half + rest) / 2 + 1j * (half - rest) / 2 * turns)
    return torch.view_as_real(pairs).flatten(-2)


@pytest.fixture
def spectra() -> Tensor:
    return torch.randn(3, 5, SIZE // 2 + 1, dtype=torch.complex64, generator=torch.Generator().manual_seed(1))


def test_a_transform_by_halves_tells_what_the_ends_of_a_spectrum_must_not(spectra: Tensor) -> None:
    real = torch.fft.rfft(torch.fft.irfft(spectra, n=SIZE))
    torch.testing.assert_close(by_halves(real, SIZE), torch.fft.irfft(real, n=SIZE))
    assert (by_halves(spectra, SIZE) - torch.fft.irfft(spectra, n=SIZE)).abs().max() > 1e-2


def test_frames_are_the_same_whatever_transform_computes_them(spectra: Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = torch.fft.irfft(spectra, n=SIZE)
    assert torch.equal(real_frames(spectra, SIZE), exact)
    magnitude, phase = spectra.abs().transpose(1, 2), spectra.angle().transpose(1, 2)
    windowed = istft_frames(magnitude, phase, SIZE)
    monkeypatch.setattr(torch.fft, "irfft", by_halves)
    torch.testing.assert_close(real_frames(spectra, SIZE), exact)
    torch.testing.assert_close(istft_frames(magnitude, phase, SIZE), windowed)
