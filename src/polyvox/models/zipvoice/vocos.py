"""Vocos: mel frames to samples by way of short spectra, many lengths in one batch, each as if it were alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from polyvox.models.loading import StateDict, load, renamed
from polyvox.models.spectrum import istft_frames, overlap_add, squared_window
from polyvox.models.zipvoice.zipformer import ChannelConv, Extent

_NAMES = ((r"^backbone\.", ""), (r"^head\.out\.", "head."), (r"^convnext\.", "blocks."))
# Tables that are computed here.
_DERIVED = ("feature_extractor.", "head.istft.")
_KERNEL = 7
_EPS = 1e-6
_LOUDEST = 100.0


@dataclass(frozen=True, slots=True)
class VocosConfig:
    """The sizes of the vocoder; the defaults are those of the release for 24 kHz."""

    bins: int = 100
    width: int = 512
    hidden: int = 1536
    blocks: int = 8
    fft: int = 1024
    hop: int = 256


class Vocos(nn.Module):
    """Each frame of a mel becomes a spectrum; the spectra overlap to samples."""

    def __init__(self, config: VocosConfig) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Conv1d(config.bins, config.width, _KERNEL, padding=_KERNEL // 2)
        self.norm = nn.LayerNorm(config.width, eps=_EPS)
        self.blocks = nn.ModuleList(_Block(config.width, config.hidden) for _ in range(config.blocks))
        self.final_layer_norm = nn.LayerNorm(config.width, eps=_EPS)
        self.head = nn.Linear(config.width, config.fft + 2)

    def forward(self, mels: Sequence[Tensor]) -> list[Tensor]:
        """Mels [frames, bins], natural logarithm, as samples [(frames - 1) * hop] each."""
        lengths = [len(mel) for mel in mels]
        rows = pad_sequence(list(mels), batch_first=True)
        extent = Extent.of(lengths, rows.shape[1], rows.device)
        samples = self.sounded(self.head(self.backbone(rows.to(self.head.weight.dtype), extent)), extent)
        return [row[: (length - 1) * self.config.hop] for row, length in zip(samples, lengths, strict=True)]

    def backbone(self, rows: Tensor, extent: Extent) -> Tensor:
        """[batch, frames, bins] as [batch, frames, width]."""
        rows = self.norm(self.embed(rows.transpose(1, 2)).transpose(1, 2))
        for block in self.blocks:
            rows = block(rows, extent.padding)
        out: Tensor = self.final_layer_norm(rows)
        return out

    def sounded(self, rows: Tensor, extent: Extent) -> Tensor:
        """Logarithms of magnitudes beside phases, [batch, frames, fft + 2], as samples, half a frame cut at the start.

        Where windows overlap, the sum is divided by the sum of their squares: of a row's own frames only.
        """
        fft, hop = self.config.fft, self.config.hop
        magnitude, phase = rows.float().transpose(1, 2).chunk(2, dim=1)
        frames = istft_frames(magnitude.exp().clamp(max=_LOUDEST), phase, fft)
        squares = squared_window(frames)
        if extent.padding is not None:
            outside = extent.padding[:, :, None]
            frames, squares = frames.masked_fill(outside, 0.0), squares.masked_fill(outside, 0.0)
        inner = slice(fft // 2, (extent.frames - 1) * hop + fft // 2)
        return overlap_add(frames, hop)[:, inner] / overlap_add(squares, hop)[:, inner].clamp(min=1e-11)


class _Block(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.dwconv = ChannelConv(width, _KERNEL)
        self.norm = nn.LayerNorm(width, eps=_EPS)
        self.pwconv1 = nn.Linear(width, hidden)
        self.pwconv2 = nn.Linear(hidden, width)
        self.gamma = nn.Parameter(torch.empty(width))

    def forward(self, rows: Tensor, padding: Tensor | None) -> Tensor:
        if padding is not None:
            rows = rows.masked_fill(padding[:, :, None], 0.0)
        near = self.norm(self.dwconv(rows))
        return torch.addcmul(rows, self.gamma, self.pwconv2(functional.gelu(self.pwconv1(near))))


def load_vocos(config: VocosConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> Vocos:
    """The vocoder of a published state dict."""
    learned = {name: tensor for name, tensor in state.items() if not name.startswith(_DERIVED)}
    return load(lambda: Vocos(config), renamed(_NAMES, learned), dtype)
