"""The ConvNeXt block that all of Wren is made of."""

from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

_INITIAL_LAYER_SCALE = 0.1


class Condition(NamedTuple):
    """Condition of every block: the style [batch, 1, condition_dim], and the utterance [batch, 1, utterance_dim]."""

    style: Tensor
    utterance: Tensor | None = None


class BlockKernel(Protocol):
    """Computes a block in a few kernels, its products in the precision of `ConvNeXtBlock.expand`'s weight."""

    def __call__(self, block: "ConvNeXtBlock", hidden: Tensor, film: Tensor, mask: Tensor) -> Tensor: ...


class ConvNeXtBlock(nn.Module):
    """Depthwise convolution, layer norm with FiLM, and an inverted bottleneck with layer scale.

    FiLM by style and FiLM by the utterance are two layers, so that weights from before the latter fit.
    """

    kernel: BlockKernel | None = None

    def __init__(
        self, width: int, kernel_size: int, expansion: int, condition_dim: int, utterance_dim: int = 0
    ) -> None:
        super().__init__()
        inner = expansion * width
        self.depthwise = nn.Conv1d(width, width, kernel_size, padding=kernel_size // 2, groups=width)
        self.film = nn.Linear(condition_dim, 2 * width)
        self.utterance_film = nn.Linear(utterance_dim, 2 * width, bias=False) if utterance_dim else None
        self.expand = nn.Linear(width, inner)
        self.contract = nn.Linear(inner, width)
        self.layer_scale = nn.Parameter(torch.full((width,), _INITIAL_LAYER_SCALE))
        nn.init.zeros_(self.film.weight)
        nn.init.zeros_(self.film.bias)
        if self.utterance_film is not None:
            nn.init.zeros_(self.utterance_film.weight)

    def forward(self, hidden: Tensor, condition: Condition, mask: Tensor | None) -> Tensor:
        """[batch, frames, width] to the same."""
        film = self.film(condition.style)
        if self.utterance_film is not None:
            film = film + self.utterance_film(condition.utterance)
        if self.kernel is not None and mask is not None:
            return self.kernel(self, hidden, film, mask)
        visible = hidden if mask is None else hidden * mask
        mixed = self.depthwise(visible.transpose(1, 2)).transpose(1, 2)
        scale, shift = film.chunk(2, dim=2)
        normed = functional.layer_norm(mixed, mixed.shape[-1:]) * (1 + scale) + shift
        out: Tensor = hidden + self.layer_scale * self.contract(functional.gelu(self.expand(normed)))
        return out
