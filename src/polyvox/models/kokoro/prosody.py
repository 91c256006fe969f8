"""Prosody predictor: a duration for each token, then pitch and energy for each half frame."""

from typing import cast

import torch
from torch import Tensor, nn

from polyvox.models.kokoro.adain import AdainBlock, AdaLayerNorm
from polyvox.models.kokoro.lstm import BidirectionalLstm, run_lstm
from polyvox.models.kokoro.ragged import Ragged

NAMES = ((r"^duration_proj\.linear_layer\.", "duration_proj."),)
"""Regular expressions that rename published weights to those of `ProsodyPredictor`."""


class ProsodyPredictor(nn.Module):
    """Durations of tokens; then pitch and energy of the tokens expanded to their durations."""

    def __init__(self, width: int, style: int, layers: int, max_frames: int) -> None:
        super().__init__()
        self.text_encoder = _StyledEncoder(width, style, layers)
        self.lstm = BidirectionalLstm(width + style, width)
        self.duration_proj = nn.Linear(width, max_frames)
        self.shared = BidirectionalLstm(width + style, width)
        self.F0 = _contour(width, style)
        self.N = _contour(width, style)
        self.F0_proj = nn.Conv1d(width // 2, 1, 1)
        self.N_proj = nn.Conv1d(width // 2, 1, 1)

    def encode(self, rows: Tensor, style: Tensor, ragged: Ragged) -> Tensor:
        """Encode tokens [batch, time, width] with their style, to [batch, time, width + style]."""
        out: Tensor = self.text_encoder(rows, style, ragged)
        return out

    def durations(self, rows: Tensor, ragged: Ragged) -> Tensor:
        """Frames of each token that `encode` gives at speed 1, [batch, time], not yet rounded."""
        logits = self.duration_proj(run_lstm(self.lstm, rows, ragged))
        return torch.sigmoid(logits.to(torch.promote_types(logits.dtype, torch.float32))).sum(dim=2)

    def contours(self, rows: Tensor, style: Tensor, ragged: Ragged) -> tuple[Tensor, Tensor]:
        """Pitch in hertz and energy, [batch, 2 frames] each, of what `encode` gives, expanded to frames."""
        shared = run_lstm(self.shared, rows, ragged).transpose(1, 2)
        pitch, energy = (self._contour(part, shared, style, ragged) for part in (self.F0, self.N))
        return self.F0_proj(pitch)[:, 0], self.N_proj(energy)[:, 0]

    def _contour(self, blocks: nn.ModuleList, rows: Tensor, style: Tensor, ragged: Ragged) -> Tensor:
        for block in blocks:
            rows = block(rows, style, ragged)
            ragged = ragged if rows.shape[2] == ragged.longest else ragged.scaled(2)
        return rows


class _StyledEncoder(nn.Module):
    """LSTMs over tokens concatenated with the style, each followed by an adaptive layer norm."""

    def __init__(self, width: int, style: int, layers: int) -> None:
        super().__init__()
        self.lstms = nn.ModuleList(
            part
            for _ in range(layers)
            for part in (BidirectionalLstm(width + style, width), AdaLayerNorm(style, width))
        )

    def forward(self, rows: Tensor, style: Tensor, ragged: Ragged) -> Tensor:
        expanded = style[:, None].expand(-1, rows.shape[1], -1)
        for lstm, norm in zip(self.lstms[::2], self.lstms[1::2], strict=True):
            rows = norm(run_lstm(cast(BidirectionalLstm, lstm), torch.cat((rows, expanded), dim=2), ragged), style)
        return torch.cat((rows, expanded), dim=2)


def _contour(width: int, style: int) -> nn.ModuleList:
    narrow = width // 2
    return nn.ModuleList(
        (
            AdainBlock(width, width, style),
            AdainBlock(width, narrow, style, upsample=True),
            AdainBlock(narrow, narrow, style),
        )
    )
