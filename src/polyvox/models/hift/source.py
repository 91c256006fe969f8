"""What HiFT's filter shapes into speech: harmonics of the pitch where there is one, noise where there is none."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.convolution import CausalConv, CenteredConv, RightConv
from polyvox.models.memory import Memory


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """Pitch and harmonics; the defaults are the released ones."""

    bins: int = 80
    channels: int = 512
    harmonics: int = 9
    """The pitch itself and its overtones."""
    sample_rate: int = 24_000
    level: float = 0.1
    voiced_noise: float = 0.003
    voiced_above: float = 10.0
    samples_per_frame: int = 480


class Pitch(nn.Module):
    """The pitch of mel frames, in hertz."""

    def __init__(self, config: SourceConfig, *, causal: bool) -> None:
        super().__init__()
        width = config.channels
        self.ahead = 3 if causal else 0
        first = RightConv(config.bins, width, 4) if causal else CenteredConv(config.bins, width, 3)
        kind = CausalConv if causal else CenteredConv
        self.convs = nn.ModuleList([first, *(kind(width, width, 3) for _ in range(4))])
        self.classifier = nn.Linear(width, 1)

    def forward(self, mel: Tensor, memory: Memory) -> Tensor:
        """Mel [batch, bins, frames + ahead] as pitch [batch, frames]."""
        rows = mel.to(self.classifier.weight.dtype)
        for conv in self.convs:
            rows = functional.elu(conv(rows, memory))
        pitch: Tensor = self.classifier(rows.transpose(1, 2))[..., 0]
        return pitch.abs()


class Source(nn.Module):
    """Pitch to excitation. The noise is the caller's; the original's random first phase never reaches a sample."""

    def __init__(self, config: SourceConfig, *, smooth: bool) -> None:
        super().__init__()
        self.config = config
        self.smooth = smooth
        self.mix = nn.Linear(config.harmonics, 1)

    def turns(self, pitch: Tensor, before: Tensor | None = None) -> Tensor:
        """How often each harmonic has turned by each frame, [batch, frames, harmonics], going on from `before`.

        Summed in double precision and used in single: phases reach 1e5 radians, where the order of rounding is heard.
        """
        count = torch.arange(1, self.config.harmonics + 1, device=pitch.device, dtype=torch.float32)
        turns = (pitch.float()[..., None] * count / self.config.sample_rate % 1).double().cumsum(dim=1)
        return turns if before is None else turns + before

    def forward(self, pitch: Tensor, turns: Tensor, noise: Tensor) -> Tensor:
        """Excitation [batch, 480 frames] of pitch [batch, frames]; `noise` [batch, 480 frames, harmonics]."""
        spread = self.config.samples_per_frame
        phase = (turns.float() * (2 * math.pi) * spread).transpose(1, 2)
        if self.smooth:
            phase = functional.interpolate(phase, scale_factor=float(spread), mode="linear")
        else:
            phase = phase.repeat_interleave(spread, dim=2)
        voiced = (pitch > self.config.voiced_above).float().repeat_interleave(spread, dim=1)[..., None]
        loudness = voiced * self.config.voiced_noise + (1 - voiced) * self.config.level / 3
        waves = phase.sin().transpose(1, 2) * self.config.level * voiced + loudness * noise
        return torch.tanh(self.mix(waves))[..., 0]
