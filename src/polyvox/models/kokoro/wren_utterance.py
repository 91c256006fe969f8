"""Wren's view of a whole utterance: the mean and deviation over time of a small network's outputs.

Kokoro's instance norms divide by statistics of the utterance, so that every sample depends on all of it: the first half
of a sentence decoded alone is up to 3 dB quieter than within the sentence, and has other phases above 1 kHz. A plan of
the whole utterance exists before any of it is decoded, so this does not stand in the way of decoding it in pieces.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.kokoro.wren_source import VOICED_ABOVE_HZ

SPREAD_FRAMES = 192
"""Frames of text, evenly spread over an utterance, that stand for all of them."""
_INNER = 256
_REFERENCE_PITCH, _ENERGY_SCALE = 150.0, 5.0
_CURVES = 7


def spread_indices(count: Tensor) -> Tensor:
    """Indices [batch, SPREAD_FRAMES], evenly spread over `count` [batch] frames, some repeated or left out."""
    position = (torch.arange(SPREAD_FRAMES, device=count.device) + 0.5) / SPREAD_FRAMES
    return (position * count[:, None]).long()


def utterance_frames(text: Tensor, pitch: Tensor, energy: Tensor, count: Tensor) -> Tensor:
    """Rows [batch, n, text_dim + 7] for `UtteranceEncoder` of chosen frames of utterances with `count` frames in all.

    Takes text [batch, n, text_dim], and pitch and energy [batch, n, 2], since a frame of text is two frames long.
    """
    voiced = (pitch > VOICED_ABOVE_HZ).float()
    log_pitch = torch.log(pitch.clamp(min=VOICED_ABOVE_HZ) / _REFERENCE_PITCH) * voiced
    duration = torch.log(count.float() / SPREAD_FRAMES)[:, None, None].expand(-1, text.shape[1], 1)
    return torch.cat((text.float(), log_pitch, voiced, energy / _ENERGY_SCALE, duration), dim=2)


class UtteranceEncoder(nn.Module):
    """Frames spread over an utterance, and its style, to one vector."""

    def __init__(self, text_dim: int, style_dim: int, outputs: int) -> None:
        super().__init__()
        self.frame_in = nn.Linear(text_dim + _CURVES, _INNER)
        self.style_in = nn.Linear(style_dim, _INNER)
        self.inner = nn.Linear(_INNER, _INNER)
        self.pooled_in = nn.Linear(2 * _INNER, _INNER)
        self.output = nn.Linear(_INNER, outputs)
        with torch.no_grad():
            self.pooled_in.weight.mul_(math.sqrt(2))

    def forward(self, frames: Tensor, style: Tensor) -> Tensor:
        """Frames [batch, n, text_dim + 7] and style [batch, style_dim] to [batch, outputs]."""
        rows = functional.gelu(self.frame_in(frames) + self.style_in(style)[:, None])
        rows = functional.gelu(self.inner(rows)).float()
        mean = rows.mean(dim=1)
        deviation = torch.sqrt((rows - mean[:, None]).square().mean(dim=1) + 1e-5)
        out: Tensor = self.output(functional.gelu(self.pooled_in(torch.cat((mean, deviation), dim=1))))
        return out
