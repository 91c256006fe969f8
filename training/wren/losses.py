"""Losses: multi-resolution spectra, and the least-squares GAN with feature matching."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.kokoro.wren_source import SAMPLE_RATE

_LOG_FLOOR, _LOG_MEL_FLOOR = 5e-4, 1e-3
_RELATIVE_FLOOR = 1e-3
"""Mean magnitude that is added to a target's, where distances are relative to it."""
_WEIGHTING_HZ = 2000.0
_COHERENT_HZ = (1500.0, 3000.0)
_LEVEL_FRAMES = 12
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
    """Log-magnitudes and spectral convergence at five FFT sizes, mel at two, complex spectra at three.

    The balanced loss weighs bins roughly as hearing does. Spectral convergence and complex spectra are quieter than the
    target at their minimum where the phase cannot be predicted (by 2 dB the former, towards silence the latter), so
    they end there, and the levels of mel bands are compared besides.
    """

    sizes = (128, 256, 512, 1024, 2048)
    complex_sizes = (256, 512, 1024)
    mel_sizes = ((1024, 100), (2048, 160))

    def __init__(self, *, balanced: bool = True) -> None:
        super().__init__()
        self.balanced = balanced
        for size, bands in self.mel_sizes:
            self.register_buffer(f"mel{size}", mel_filterbank(size, bands), persistent=False)
        for size in self.sizes:
            flat = torch.ones(size // 2 + 1)
            self.register_buffer(f"weights{size}", perceptual_weights(size) if balanced else flat, persistent=False)
            self.register_buffer(f"coherence{size}", coherence_weights(size) if balanced else flat, persistent=False)

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
            weights: Tensor = getattr(self, f"weights{size}")
            coherence: Tensor = getattr(self, f"coherence{size}")
            total = total + (_log_distance(magnitude, target_magnitude, _LOG_FLOOR) * weights).mean() / 5
            error = (magnitude - target_magnitude) * coherence
            total = total + error.norm() / ((target_magnitude * coherence).norm() + 1e-6) / 5
            if size in self.complex_sizes:
                wanted = compress(target_spectrum).detach() * coherence
                complex_error = compress(spectrum) * coherence - wanted
                total = total + complex_error.abs().mean() / (wanted.abs().mean() + 1e-6) / 5
            if size in mel_sizes:
                bank: Tensor = getattr(self, f"mel{size}")
                mel, target_mel = torch.matmul(magnitude, bank), torch.matmul(target_magnitude, bank)
                total = total + _log_distance(mel, target_mel, _LOG_MEL_FLOOR).mean() / 3
                if self.balanced:
                    level, target_level = (_level(part, bank) for part in (magnitude, target_magnitude))
                    total = total + _log_distance(level, target_level, _LOG_MEL_FLOOR).mean()
        return total


def _magnitude(spectrum: Tensor) -> Tensor:
    return torch.sqrt(spectrum.real.square() + spectrum.imag.square() + 1e-9)


def _log_distance(predicted: Tensor, target: Tensor, floor: float) -> Tensor:
    return (torch.log(predicted + floor) - torch.log(target + floor)).abs()


def _level(magnitude: Tensor, bank: Tensor) -> Tensor:
    """Root mean square of mel bands over several frames, [batch, bands, frames]."""
    power = torch.matmul(magnitude.square(), bank).transpose(1, 2)
    pooled: Tensor = functional.avg_pool1d(power, min(_LEVEL_FRAMES, power.shape[2]), _LEVEL_FRAMES // 2)
    # The root of 0, in bands without a bin, has no finite gradient.
    return torch.sqrt(pooled + 1e-9)


def coherence_weights(size: int) -> Tensor:
    """1 for the bins of an FFT where the student can predict the teacher's phase, falling to 0 above them."""
    low, high = _COHERENT_HZ
    hertz = torch.linspace(0, SAMPLE_RATE / 2, size // 2 + 1)
    return ((high - hertz) / (high - low)).clamp(0, 1)


def perceptual_weights(size: int) -> Tensor:
    """Weights of the bins of an FFT with a mean of 1, falling with frequency as the mel scale's slope does."""
    weights = 1 / (1 + torch.linspace(0, SAMPLE_RATE / 2, size // 2 + 1) / _WEIGHTING_HZ)
    return weights / weights.mean()


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
        relative_l1(ours, theirs.detach())
        for (_, real_maps), (_, fake_maps) in zip(real, fake, strict=True)
        for theirs, ours in zip(real_maps, fake_maps, strict=True)
    ]
    return adversarial, torch.stack(distances).mean()


def relative_l1(predicted: Tensor, target: Tensor) -> Tensor:
    """L1 distance relative to the L1 norm of the target, in float32; only `predicted` gets a gradient."""
    distance: Tensor = _RelativeL1.apply(predicted, target)  # type: ignore[no-untyped-call]
    return distance


class _RelativeL1(torch.autograd.Function):
    """Reads bfloat16 maps as they are. Autograd would convert each to float32, and move five times as many bytes."""

    @staticmethod
    def forward(context: Any, predicted: Tensor, target: Tensor) -> Tensor:  # noqa: ANN401 - PyTorch has no type
        difference = predicted - target
        norm: Tensor = torch.linalg.vector_norm(target, 1, dtype=torch.float32)
        scale = 1 / (norm + _RELATIVE_FLOOR * target.numel())
        context.save_for_backward(difference, scale)
        distance: Tensor = torch.linalg.vector_norm(difference, 1, dtype=torch.float32)
        return distance * scale

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401 - PyTorch has no type
        difference, scale = context.saved_tensors
        return difference.sign().mul_((gradient * scale).to(difference.dtype)), None
