"""Losses: multi-resolution spectra, and the least-squares GAN with feature matching."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.wren.source import SAMPLE_RATE

_LOG_FLOOR, _LOG_MEL_FLOOR = 5e-4, 1e-3
_COMPRESSION = 0.3
"""Exponent of magnitudes where quiet bins should count beside loud ones."""

DiscriminatorOutputs = Sequence[tuple[Tensor, Sequence[Tensor]]]
"""Per discriminator, its logits and its feature maps."""


def stft(samples: Tensor, size: int) -> Tensor:
    """Complex spectra [batch, frames, bins] of all whole frames of samples [batch, time]; the hop is size / 4."""
    frames = samples.unfold(1, size, size // 4)
    out: Tensor = torch.fft.rfft(frames * torch.hann_window(size, device=samples.device))
    return out


def compress(spectrum: Tensor) -> Tensor:
    """Power-compressed spectrum as real and imaginary channels, [batch, 2, frames, bins]."""
    real, imaginary = spectrum.real, spectrum.imag
    gain = (real.square() + imaginary.square() + 1e-6).pow((_COMPRESSION - 1) / 2)
    return torch.stack((real * gain, imaginary * gain), dim=1)


class SpectralLoss(nn.Module):
    """Log-magnitudes and spectral convergence at five FFT sizes, mel at two, complex spectra at three."""

    sizes = (128, 256, 512, 1024, 2048)
    complex_sizes = (256, 512, 1024)
    mel_sizes = ((1024, 100), (2048, 160))

    def __init__(self) -> None:
        super().__init__()
        for size, bands in self.mel_sizes:
            self.register_buffer(f"mel{size}", mel_filterbank(size, bands), persistent=False)

    def forward(self, predicted: Tensor, target: Tensor) -> Tensor:
        """Scalar loss of samples [batch, time] at 24 kHz."""
        total = predicted.new_zeros(())
        mel_sizes = dict(self.mel_sizes)
        for size in self.sizes:
            spectrum = stft(predicted, size)
            with torch.no_grad():
                target_spectrum = stft(target, size)
                target_magnitude = _magnitude(target_spectrum)
            magnitude = _magnitude(spectrum)
            total = total + _log_l1(magnitude, target_magnitude, _LOG_FLOOR) / 5
            total = total + (magnitude - target_magnitude).norm() / (target_magnitude.norm() + 1e-6) / 5
            if size in self.complex_sizes:
                wanted = compress(target_spectrum).detach()
                total = total + (compress(spectrum) - wanted).abs().mean() / (wanted.abs().mean() + 1e-6) / 5
            if size in mel_sizes:
                bank: Tensor = getattr(self, f"mel{size}")
                mel, target_mel = torch.matmul(magnitude, bank), torch.matmul(target_magnitude, bank)
                total = total + _log_l1(mel, target_mel, _LOG_MEL_FLOOR) / 3
        return total


def _magnitude(spectrum: Tensor) -> Tensor:
    return torch.sqrt(spectrum.real.square() + spectrum.imag.square() + 1e-9)


def _log_l1(predicted: Tensor, target: Tensor, floor: float) -> Tensor:
    return functional.l1_loss(torch.log(predicted + floor), torch.log(target + floor))


def mel_filterbank(size: int, bands: int) -> Tensor:
    """Triangular mel filters [bins, bands] from 20 Hz to 12 kHz, each of unit sum, or zero where none has a bin."""

    def mel(hertz: float) -> float:
        return 2595 * math.log10(1 + hertz / 700)

    edges = 700 * (10 ** (torch.linspace(mel(20.0), mel(SAMPLE_RATE / 2), bands + 2) / 2595) - 1)
    hertz = torch.linspace(0, SAMPLE_RATE / 2, size // 2 + 1)[:, None]
    rising = (hertz - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - hertz) / (edges[2:] - edges[1:-1])
    triangles = torch.minimum(rising, falling).clamp(min=0)
    return triangles / triangles.sum(dim=0).clamp(min=1e-3)


def discriminator_loss(real: DiscriminatorOutputs, fake: DiscriminatorOutputs) -> Tensor:
    """Least-squares loss with targets 1 for the teacher and 0 for the student, averaged over discriminators."""
    parts = [
        (1 - true.float()).square().mean() + false.float().square().mean()
        for (true, _), (false, _) in zip(real, fake, strict=True)
    ]
    return torch.stack(parts).mean()


def generator_losses(real: DiscriminatorOutputs, fake: DiscriminatorOutputs) -> tuple[Tensor, Tensor]:
    """Adversarial loss of the student, and the relative L1 distance of feature maps."""
    adversarial = torch.stack([(1 - false.float()).square().mean() for false, _ in fake]).mean()
    distances = [
        (ours.float() - theirs.detach().float()).abs().mean() / (theirs.detach().float().abs().mean() + 1e-3)
        for (_, real_maps), (_, fake_maps) in zip(real, fake, strict=True)
        for theirs, ours in zip(real_maps, fake_maps, strict=True)
    ]
    return adversarial, torch.stack(distances).mean()
