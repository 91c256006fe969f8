"""Kokoro's decoder: aligned text, pitch and energy to the features of its iSTFTNet generator."""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from polyvox.models.kokoro.adain import AdainBlock
from polyvox.models.kokoro.istftnet import IstftNet, IstftNetConfig
from polyvox.models.kokoro.ragged import Ragged

NAMES = (
    (r"^asr_res\.0\.", "text_residual."),
    (r"^generator\.m_source\.l_linear\.", "generator.source.mix."),
)
"""Regular expressions that rename published weights to those of `KokoroDecoder`."""


@dataclass(frozen=True, slots=True)
class DecoderConfig:
    """The sizes of the decoder; the defaults are those of the release."""

    width: int = 1024
    text_residual: int = 64
    blocks: int = 4
    generator: IstftNetConfig = field(default_factory=IstftNetConfig)


class KokoroDecoder(nn.Module):
    """AdaIN blocks, each given text, pitch and energy again as a residual; the last upsamples by 2."""

    def __init__(self, config: DecoderConfig, text: int, style: int) -> None:
        super().__init__()
        width, inner = config.width, config.width + config.text_residual + 2
        self.F0_conv = nn.Conv1d(1, 1, 3, stride=2, padding=1)
        self.N_conv = nn.Conv1d(1, 1, 3, stride=2, padding=1)
        self.text_residual = nn.Conv1d(text, config.text_residual, 1)
        self.encode = AdainBlock(text + 2, width, style)
        self.decode = nn.ModuleList(
            (
                *(AdainBlock(inner, width, style) for _ in range(config.blocks - 1)),
                AdainBlock(inner, config.generator.channels, style, upsample=True),
            )
        )
        self.generator = IstftNet(config.generator, style)

    def features(self, text: Tensor, pitch: Tensor, energy: Tensor, style: Tensor, ragged: Ragged) -> Tensor:
        """Features [batch, channels, 2 frames] of text [batch, width, frames], pitch and energy [batch, 2 frames]."""
        doubled = ragged.scaled(2)
        curves = [
            conv(doubled.masked(curve[:, None]))
            for conv, curve in ((self.F0_conv, pitch.to(text.dtype)), (self.N_conv, energy.to(text.dtype)))
        ]
        residual = torch.cat((self.text_residual(text), *curves), dim=1)
        rows = self.encode(torch.cat((text, *curves), dim=1), style, ragged)
        for block in self.decode:
            rows = block(torch.cat((rows, residual), dim=1), style, ragged)
        out: Tensor = rows
        return out
