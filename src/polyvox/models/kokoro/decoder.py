"""Kokoro's decoder: aligned text, pitch and energy to the features that its generator sounds."""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from polyvox.models.kokoro.adain import AdainBlock
from polyvox.models.kokoro.istftnet import IstftNet, IstftNetConfig
from polyvox.models.kokoro.ragged import Ragged

NAMES = (
    (r"^asr_res\.0\.", "reminder."),
    (r"^generator\.m_source\.l_linear\.", "generator.source.mix."),
)
"""Published names to those of `Decoder`."""


@dataclass(frozen=True, slots=True)
class DecoderConfig:
    """The sizes of the decoder; the defaults are those of the release."""

    width: int = 1024
    reminder: int = 64
    blocks: int = 4
    generator: IstftNetConfig = field(default_factory=IstftNetConfig)


class Decoder(nn.Module):
    """Residual blocks that are reminded of text, pitch and energy before each; the last doubles the rate."""

    def __init__(self, config: DecoderConfig, text: int, style: int) -> None:
        super().__init__()
        width, reminded = config.width, config.width + config.reminder + 2
        self.F0_conv = nn.Conv1d(1, 1, 3, stride=2, padding=1)
        self.N_conv = nn.Conv1d(1, 1, 3, stride=2, padding=1)
        self.reminder = nn.Conv1d(text, config.reminder, 1)
        self.encode = AdainBlock(text + 2, width, style)
        self.decode = nn.ModuleList(
            (
                *(AdainBlock(reminded, width, style) for _ in range(config.blocks - 1)),
                AdainBlock(reminded, config.generator.channels, style, doubling=True),
            )
        )
        self.generator = IstftNet(config.generator, style)

    def features(self, text: Tensor, pitch: Tensor, energy: Tensor, style: Tensor, ragged: Ragged) -> Tensor:
        """[batch, channels, 2 frames] of text [batch, width, frames], pitch and energy [batch, 2 frames]."""
        doubled = ragged.scaled(2)
        curves = [
            conv(doubled.masked(curve[:, None]))
            for conv, curve in ((self.F0_conv, pitch.to(text.dtype)), (self.N_conv, energy.to(text.dtype)))
        ]
        reminder = torch.cat((self.reminder(text), *curves), dim=1)
        rows = self.encode(torch.cat((text, *curves), dim=1), style, ragged)
        for block in self.decode:
            rows = block(torch.cat((rows, reminder), dim=1), style, ragged)
        out: Tensor = rows
        return out
