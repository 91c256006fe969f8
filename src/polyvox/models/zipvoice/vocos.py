"""Vocos: mel frames to samples by an inverse STFT. Rows of different lengths share a batch without influence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from polyvox.models.loading import StateDict, load, renamed
from polyvox.models.spectrum import istft_frames, overlap_add, squared_window
from polyvox.models.zipvoice.zipformer import ConvKernel, DepthwiseConv, PaddingMask

_NAMES = ((r"^backbone\.", ""), (r"^head\.out\.", "head."), (r"^convnext\.", "blocks."))
# Buffers that are computed here.
_DERIVED = ("feature_extractor.", "head.istft.")
_KERNEL = 7
_EPS = 1e-6
_MAX_MAGNITUDE = 100.0


@dataclass(frozen=True, slots=True)
class VocosConfig:
    """The sizes of the vocoder; the defaults are those of the release for 24 kHz."""

    bins: int = 100
    width: int = 512
    hidden: int = 1536
    blocks: int = 8
    fft: int = 1024
    hop: int = 256


class ProductKernels(Protocol):
    """Kernels for a block's products and what follows each of them, as in `product_kernels`."""

    def dense(self, rows: Tensor, weight: Tensor, bias: Tensor, *, gelu: bool = False) -> Tensor: ...

    def scaled_onto(self, origin: Tensor, rows: Tensor, weight: Tensor, bias: Tensor, scale: Tensor) -> Tensor: ...


class Vocos(nn.Module):
    """A ConvNeXt backbone that predicts a spectrum for each mel frame, and an inverse STFT."""

    def __init__(self, config: VocosConfig) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Conv1d(config.bins, config.width, _KERNEL, padding=_KERNEL // 2)
        self.norm = nn.LayerNorm(config.width, eps=_EPS)
        self.blocks = nn.ModuleList(_ConvNeXtBlock(config.width, config.hidden) for _ in range(config.blocks))
        self.final_layer_norm = nn.LayerNorm(config.width, eps=_EPS)
        self.head = nn.Linear(config.width, config.fft + 2)

    def forward(self, mels: Sequence[Tensor]) -> list[Tensor]:
        """Mels [frames, bins], natural logarithm, as samples [(frames - 1) * hop] each."""
        lengths = [len(mel) for mel in mels]
        rows = pad_sequence(list(mels), batch_first=True)
        samples = self._vocode(rows, PaddingMask.of(lengths, rows.shape[1], rows.device))
        return [row[: (length - 1) * self.config.hop] for row, length in zip(samples, lengths, strict=True)]

    def use_kernel(self, kernel: ConvKernel | None) -> None:
        """Let all blocks use a kernel for their convolution, or PyTorch's."""
        for module in self.modules():
            if isinstance(module, DepthwiseConv):
                module.kernel = kernel

    def use_products(self, products: ProductKernels | None) -> None:
        """Let all blocks use kernels for their products, or PyTorch's."""
        for module in self.modules():
            if isinstance(module, _ConvNeXtBlock):
                module.products = products

    def vocode_padded(self, mels: Tensor, lengths: Tensor) -> Tensor:
        """Mels [batch, frames, bins], anything behind `lengths` [batch], as samples [batch, (frames - 1) * hop]."""
        padding = PaddingMask.static(lengths, mels.shape[1])
        assert padding.mask is not None
        return self._vocode(mels.masked_fill(padding.mask[:, :, None], 0.0), padding)

    def _vocode(self, rows: Tensor, padding: PaddingMask) -> Tensor:
        return self.istft(self.head(self.backbone(rows.to(self.head.weight.dtype), padding)), padding)

    def backbone(self, rows: Tensor, padding: PaddingMask) -> Tensor:
        """[batch, frames, bins] as [batch, frames, width]."""
        rows = self.norm(self.embed(rows.transpose(1, 2)).transpose(1, 2))
        for block in self.blocks:
            rows = block(rows, padding.mask)
        out: Tensor = self.final_layer_norm(rows)
        return out

    def istft(self, rows: Tensor, padding: PaddingMask) -> Tensor:
        """Log magnitudes beside phases, [batch, frames, fft + 2], as samples, half a frame cut at the start.

        The overlap-added frames are divided by the sum of the squared windows: of a row's own frames only.
        """
        fft, hop = self.config.fft, self.config.hop
        magnitude, phase = rows.float().transpose(1, 2).chunk(2, dim=1)
        frames = istft_frames(magnitude.exp().clamp(max=_MAX_MAGNITUDE), phase, fft)
        squares = squared_window(frames)
        if padding.mask is not None:
            outside = padding.mask[:, :, None]
            frames, squares = frames.masked_fill(outside, 0.0), squares.masked_fill(outside, 0.0)
        inner = slice(fft // 2, (padding.frames - 1) * hop + fft // 2)
        return overlap_add(frames, hop)[:, inner] / overlap_add(squares, hop)[:, inner].clamp(min=1e-11)


class _ConvNeXtBlock(nn.Module):
    products: ProductKernels | None = None

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.dwconv = DepthwiseConv(width, _KERNEL)
        self.norm = nn.LayerNorm(width, eps=_EPS)
        self.pwconv1 = nn.Linear(width, hidden)
        self.pwconv2 = nn.Linear(hidden, width)
        self.gamma = nn.Parameter(torch.empty(width))

    def forward(self, rows: Tensor, mask: Tensor | None) -> Tensor:
        if mask is not None:
            rows = rows.masked_fill(mask[:, :, None], 0.0)
        out = self.norm(self.dwconv(rows))
        if self.products is not None:
            hidden = self.products.dense(out, self.pwconv1.weight, self.pwconv1.bias, gelu=True)
            return self.products.scaled_onto(rows, hidden, self.pwconv2.weight, self.pwconv2.bias, self.gamma)
        return torch.addcmul(rows, self.gamma, self.pwconv2(functional.gelu(self.pwconv1(out))))


def load_vocos(config: VocosConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> Vocos:
    """Build the vocoder from a published state dict."""
    learned = {name: tensor for name, tensor in state.items() if not name.startswith(_DERIVED)}
    return load(lambda: Vocos(config), renamed(_NAMES, learned), dtype)
