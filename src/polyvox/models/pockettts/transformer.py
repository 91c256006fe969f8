"""The transformer that the language model and both sides of the codec share, with rotations of adjacent pairs."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import attend, merge_heads, split_heads
from polyvox.models.pockettts.config import TransformerConfig

Rotation = tuple[Tensor, Tensor]


class PairAttention(nn.Module):
    """Attention without biases; keys are kept as they are after their rotation."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        queries, keys = config.heads * config.head_width, config.key_heads * config.head_width
        self.in_proj = nn.Linear(config.width, queries + 2 * keys, bias=False)
        self.out_proj = nn.Linear(queries, config.width, bias=False)

    def project(self, rows: Tensor, rotation: Rotation) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of rows [batch, time, width], [batch, heads, time, head width] each."""
        config = self.config
        sizes = [heads * config.head_width for heads in (config.heads, config.key_heads, config.key_heads)]
        query, key, value = self.in_proj(rows).split(sizes, dim=-1)
        return (
            rotated(split_heads(query, config.heads), rotation),
            rotated(split_heads(key, config.key_heads), rotation),
            split_heads(value, config.key_heads),
        )

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        out: Tensor = self.out_proj(merge_heads(attend(query, key, value, mask)))
        return out


class Layer(nn.Module):
    """One block: attention, then two linear layers, each behind a norm and added to what came in."""

    def __init__(self, config: TransformerConfig, *, scaled: bool) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(config.width), nn.LayerNorm(config.width)
        self.self_attn = PairAttention(config)
        self.linear1 = nn.Linear(config.width, config.feed_forward, bias=False)
        self.linear2 = nn.Linear(config.feed_forward, config.width, bias=False)
        self.scale1 = nn.Parameter(torch.empty(config.width)) if scaled else None
        self.scale2 = nn.Parameter(torch.empty(config.width)) if scaled else None

    def project(self, rows: Tensor, rotation: Rotation) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of rows that come in."""
        return self.self_attn.project(self.norm1(rows), rotation)

    def forward(self, rows: Tensor, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """The rows that come out, where the keys and values are those of all positions."""
        attended = self.self_attn.attend(query, key, value, mask)
        rows = rows + (attended if self.scale1 is None else self.scale1 * attended)
        inner: Tensor = self.linear2(functional.gelu(self.linear1(self.norm2(rows)), approximate="tanh"))
        return rows + (inner if self.scale2 is None else self.scale2 * inner)


def frequencies(config: TransformerConfig, device: torch.device | None = None) -> Tensor:
    """The angle of each pair of a head from one position to the next."""
    pairs = torch.arange(config.head_width // 2, device=device, dtype=torch.float32)
    return torch.exp(pairs * (-math.log(config.period) * 2 / config.head_width))


def rotation_at(positions: Tensor, config: TransformerConfig) -> Rotation:
    """Cosines and sines [batch, 1, time, pairs] at positions [batch, time]."""
    angles = positions[:, None, :, None].float() * frequencies(config, positions.device)
    return angles.cos(), angles.sin()


def rotated(heads: Tensor, rotation: Rotation) -> Tensor:
    """Rotate the pairs (0, 1), (2, 3), ... of heads [batch, heads, time, width]."""
    cosine, sine = rotation
    real, imaginary = heads[..., 0::2], heads[..., 1::2]
    turned = torch.stack((real * cosine - imaginary * sine, real * sine + imaginary * cosine), dim=-1)
    return turned.flatten(-2)
