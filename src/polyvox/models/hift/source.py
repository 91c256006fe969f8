"""Excitation of HiFT's source-filter model: harmonics of F0 in voiced frames, noise in unvoiced ones."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.cache import LayerCache
from polyvox.models.convolution import CausalConv, CenteredConv, LookaheadConv


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """Sizes and levels of the source; the defaults are those of the released models."""

    bins: int = 80
    channels: int = 512
    harmonics: int = 9
    """F0 and its overtones."""
    sample_rate: int = 24_000
    level: float = 0.1
    voiced_noise: float = 0.003
    voiced_above: float = 10.0
    samples_per_frame: int = 480
    per_sample: bool = False
    """True if phases are summed sample by sample from a random start, as in version 1 and in Chatterbox."""


class F0Predictor(nn.Module):
    """Predicts F0 in hertz from mel frames."""

    def __init__(self, config: SourceConfig, *, causal: bool) -> None:
        super().__init__()
        width = config.channels
        self.ahead = 3 if causal else 0
        first = LookaheadConv(config.bins, width, 4) if causal else CenteredConv(config.bins, width, 3)
        kind = CausalConv if causal else CenteredConv
        self.convs = nn.ModuleList([first, *(kind(width, width, 3) for _ in range(4))])
        self.classifier = nn.Linear(width, 1)

    def forward(self, mel: Tensor, cache: LayerCache) -> Tensor:
        """F0 [batch, frames] of mel [batch, bins, frames + ahead]."""
        rows = mel.to(self.classifier.weight.dtype)
        for conv in self.convs:
            rows = functional.elu(conv(rows, cache))
        pitch: Tensor = self.classifier(rows.transpose(1, 2))[..., 0]
        return pitch.abs()


class HarmonicSource(nn.Module):
    """F0 to excitation. The caller gives the noise; the original's random initial phase never reaches a sample."""

    def __init__(self, config: SourceConfig, *, interpolate: bool) -> None:
        super().__init__()
        self.config = config
        self.interpolate = interpolate
        self.mix = nn.Linear(config.harmonics, 1)

    def cycles(self, pitch: Tensor, before: Tensor | None = None) -> Tensor:
        """Accumulated phase of each harmonic in cycles, [batch, frames, harmonics], continued from `before`.

        Summed in double precision and used in single: phases reach 1e5 radians, where the order of rounding is audible.
        """
        count = torch.arange(1, self.config.harmonics + 1, device=pitch.device, dtype=torch.float32)
        cycles = (pitch.float()[..., None] * count / self.config.sample_rate % 1).double().cumsum(dim=1)
        return cycles if before is None else cycles + before

    def forward(self, pitch: Tensor, cycles: Tensor, noise: Tensor) -> Tensor:
        """Excitation [batch, 480 frames] of F0 [batch, frames]; `noise` [batch, 480 frames, harmonics]."""
        waves = self.waves(pitch, cycles, noise)
        return torch.tanh(self.mix(waves))[..., 0]

    def waves(self, pitch: Tensor, cycles: Tensor, noise: Tensor) -> Tensor:
        """Each harmonic with its share of the noise, [batch, 480 frames, harmonics]."""
        voiced = (pitch > self.config.voiced_above).float()
        voiced = voiced.repeat_interleave(self.config.samples_per_frame, dim=1)[..., None]
        noise_level = voiced * self.config.voiced_noise + (1 - voiced) * self.config.level / 3
        return self._phase(cycles).sin().transpose(1, 2) * self.config.level * voiced + noise_level * noise

    def _phase(self, cycles: Tensor) -> Tensor:
        """Phases in radians, [batch, harmonics, 480 frames]."""
        upsampling = self.config.samples_per_frame
        phase = (cycles.float() * (2 * math.pi) * upsampling).transpose(1, 2)
        if self.interpolate:
            return functional.interpolate(phase, scale_factor=float(upsampling), mode="linear")
        return phase.repeat_interleave(upsampling, dim=2)


class SampledHarmonicSource(HarmonicSource):
    """The source of version 1 and of Chatterbox: phases are summed by sample, and where they begin is heard."""

    def __init__(self, config: SourceConfig) -> None:
        super().__init__(config, interpolate=False)

    def cycles(self, pitch: Tensor, before: Tensor | None = None) -> Tensor:
        """The phase of each harmonic in cycles, [batch, samples, harmonics], from `before` [batch, 1, harmonics] on.

        Summed in double precision, where the original's single precision loses the phase of long speech.
        """
        count = torch.arange(1, self.config.harmonics + 1, device=pitch.device, dtype=torch.float32)
        steps = pitch.float()[..., None] * count / self.config.sample_rate
        cycles = steps.double().repeat_interleave(self.config.samples_per_frame, dim=1).cumsum(dim=1) % 1
        return cycles if before is None else cycles + before

    def _phase(self, cycles: Tensor) -> Tensor:
        return (cycles * (2 * math.pi)).float().transpose(1, 2)
