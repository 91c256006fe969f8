"""CosyVoice's conformers: relative attention at the token rate and, in version 2, upsampling by two and more of it."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import BlockCausalMask, merge_heads, split_heads
from polyvox.models.cache import LayerCache
from polyvox.models.convolution import CausalConv
from polyvox.models.cosyvoice.lookahead import Lookahead

RENAMED = (
    (r"^encoder\.pre_lookahead_layer\.", "encoder.lookahead."),
    (r"^encoder\.up_layer\.conv\.", "encoder.up_conv."),
    (r"embed\.out\.0\.", "embed.linear."),
    (r"embed\.out\.1\.", "embed.norm."),
    (r"\.feed_forward\.w_1\.", ".ff_in."),
    (r"\.feed_forward\.w_2\.", ".ff_out."),
)
"""Parameter names: published and ours."""

BLOCK_EPS = 1e-12
_SCALE = 2
"""Frames for each token."""


@dataclass(frozen=True, slots=True)
class ConformerConfig:
    """Sizes of the encoder; the defaults are those of the released model."""

    width: int = 512
    heads: int = 8
    feed_forward: int = 2048
    blocks: int = 6
    up_blocks: int = 4
    ahead: int = 3


class Conformer(nn.Module):
    """Embedded tokens [batch, n, width] in, [batch, 2 n, width] out."""

    def __init__(self, config: ConformerConfig) -> None:
        super().__init__()
        self.embed = ConformerEmbed(config.width, config.width)
        self.lookahead = Lookahead(config.width, config.width, config.ahead)
        self.encoders = nn.ModuleList(_block(config) for _ in range(config.blocks))
        self.up_conv = CausalConv(config.width, config.width, 2 * _SCALE + 1)
        self.up_embed = ConformerEmbed(config.width, config.width)
        self.up_encoders = nn.ModuleList(_block(config) for _ in range(config.up_blocks))
        self.after_norm = nn.LayerNorm(config.width)

    def forward(self, tokens: Tensor, context: Tensor, cache: LayerCache, mask: BlockCausalMask) -> Tensor:
        """Encode the next tokens, given those after them as `context`; `mask` is at the token rate."""
        rows = self.lookahead(self.embed(tokens), self.embed(context), cache)
        for layer in self.encoders:
            rows = layer(rows, cache, mask)
        frames = rows.transpose(1, 2).repeat_interleave(_SCALE, dim=2)
        rows = self.up_embed(self.up_conv(frames, cache).transpose(1, 2))
        upsampled_mask = mask.scaled(_SCALE)
        for layer in self.up_encoders:
            rows = layer(rows, cache, upsampled_mask)
        out: Tensor = self.after_norm(rows)
        return out


@dataclass(frozen=True, slots=True)
class ConformerEncoderConfig:
    """Sizes of version 1's conformers; the defaults are those of its flow."""

    inputs: int = 512
    width: int = 512
    heads: int = 8
    feed_forward: int = 2048
    blocks: int = 6


class ConformerEncoder(nn.Module):
    """Version 1's conformer, which keeps the rate of its input: [batch, n, inputs] to [batch, n, width]."""

    def __init__(self, config: ConformerEncoderConfig) -> None:
        super().__init__()
        self.embed = ConformerEmbed(config.inputs, config.width)
        self.encoders = nn.ModuleList(
            ConformerBlock(config.width, config.heads, config.feed_forward) for _ in range(config.blocks)
        )
        self.after_norm = nn.LayerNorm(config.width)

    def forward(self, rows: Tensor, mask: BlockCausalMask) -> Tensor:
        rows = self.embed(rows)
        for layer in self.encoders:
            rows = layer(rows, LayerCache(update=False), mask)
        out: Tensor = self.after_norm(rows)
        return out


def _block(config: ConformerConfig) -> "ConformerBlock":
    return ConformerBlock(config.width, config.heads, config.feed_forward)


class ConformerEmbed(nn.Module):
    """Input layer: a projection to the encoder's width, normalised and scaled."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, width)
        self.norm = nn.LayerNorm(width)
        self.scale = math.sqrt(width)

    def forward(self, rows: Tensor) -> Tensor:
        out: Tensor = self.norm(self.linear(rows)) * self.scale
        return out


class ConformerBlock(nn.Module):
    """Relative attention and a feed-forward layer, each behind its norm; CosyVoice's have no convolution."""

    def __init__(self, width: int, heads: int, feed_forward: int) -> None:
        super().__init__()
        self.norm_mha = nn.LayerNorm(width, eps=BLOCK_EPS)
        self.self_attn = _RelativeAttention(width, heads)
        self.norm_ff = nn.LayerNorm(width, eps=BLOCK_EPS)
        self.ff_in = nn.Linear(width, feed_forward)
        self.ff_out = nn.Linear(feed_forward, width)

    def forward(self, rows: Tensor, cache: LayerCache, mask: BlockCausalMask) -> Tensor:
        rows = rows + self.self_attn(self.norm_mha(rows), cache, mask)
        out: Tensor = rows + self.ff_out(functional.silu(self.ff_in(self.norm_ff(rows))))
        return out


class _RelativeAttention(nn.Module):
    """Attention with relative positions: scores add a term for the distance between query and key."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.width, self.heads = width, heads
        self.linear_q = nn.Linear(width, width)
        self.linear_k = nn.Linear(width, width)
        self.linear_v = nn.Linear(width, width)
        self.linear_out = nn.Linear(width, width)
        self.linear_pos = nn.Linear(width, width, bias=False)
        self.pos_bias_u = nn.Parameter(torch.empty(heads, width // heads))
        self.pos_bias_v = nn.Parameter(torch.empty(heads, width // heads))

    def forward(self, rows: Tensor, cache: LayerCache, mask: BlockCausalMask) -> Tensor:
        query = split_heads(self.linear_q(rows), self.heads)
        key, value = (split_heads(linear(rows), self.heads) for linear in (self.linear_k, self.linear_v))
        queries = query + self.pos_bias_u[:, None], query + self.pos_bias_v[:, None]
        out: Tensor = self.linear_out(merge_heads(cache.attend_relative(queries, key, value, self._project, mask)))
        return out

    def _project(self, distances: Tensor) -> Tensor:
        code = sinusoidal_embedding(distances, self.width).to(self.linear_pos.weight.dtype)
        return split_heads(self.linear_pos(code)[None], self.heads)


def sinusoidal_embedding(distances: Tensor, width: int) -> Tensor:
    """Embed each distance by sines and cosines of falling frequency, interleaved."""
    steps = torch.arange(0, width, 2, device=distances.device, dtype=torch.float32)
    angles = distances[:, None].float() * torch.exp(steps * -(math.log(10_000.0) / width))
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)
