"""CosyVoice 2's token encoder: attention with relative positions, then twice the frame rate, then more attention."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import Sight, attend_with_distance, merge_heads, split_heads
from polyvox.models.convolution import CausalConv
from polyvox.models.cosyvoice.lookahead import Lookahead
from polyvox.models.memory import Memory

RENAMED = (
    (r"^encoder\.pre_lookahead_layer\.", "encoder.lookahead."),
    (r"^encoder\.up_layer\.conv\.", "encoder.up_conv."),
    (r"embed\.out\.0\.", "embed.linear."),
    (r"embed\.out\.1\.", "embed.norm."),
    (r"\.feed_forward\.w_1\.", ".ff_in."),
    (r"\.feed_forward\.w_2\.", ".ff_out."),
)
"""Published names and ours."""

_BLOCK_EPS = 1e-12
_SCALE = 2
"""Frames for each token."""


@dataclass(frozen=True, slots=True)
class ConformerConfig:
    """The sizes of the encoder; the defaults are the released ones."""

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
        self.embed = _Embed(config.width)
        self.lookahead = Lookahead(config.width, config.width, config.ahead)
        self.encoders = nn.ModuleList(_Block(config) for _ in range(config.blocks))
        self.up_conv = CausalConv(config.width, config.width, 2 * _SCALE + 1)
        self.up_embed = _Embed(config.width)
        self.up_encoders = nn.ModuleList(_Block(config) for _ in range(config.up_blocks))
        self.after_norm = nn.LayerNorm(config.width)

    def forward(self, tokens: Tensor, context: Tensor, memory: Memory, sight: Sight) -> Tensor:
        """Continue by tokens that `context` follows; `sight` counts tokens."""
        rows = self.lookahead(self.embed(tokens), self.embed(context), memory)
        for layer in self.encoders:
            rows = layer(rows, memory, sight)
        frames = rows.transpose(1, 2).repeat_interleave(_SCALE, dim=2)
        rows = self.up_embed(self.up_conv(frames, memory).transpose(1, 2))
        up_sight = sight.scaled(_SCALE)
        for layer in self.up_encoders:
            rows = layer(rows, memory, up_sight)
        out: Tensor = self.after_norm(rows)
        return out


class _Embed(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.scale = math.sqrt(width)

    def forward(self, rows: Tensor) -> Tensor:
        out: Tensor = self.norm(self.linear(rows)) * self.scale
        return out


class _Block(nn.Module):
    def __init__(self, config: ConformerConfig) -> None:
        super().__init__()
        self.norm_mha = nn.LayerNorm(config.width, eps=_BLOCK_EPS)
        self.self_attn = _RelativeAttention(config.width, config.heads)
        self.norm_ff = nn.LayerNorm(config.width, eps=_BLOCK_EPS)
        self.ff_in = nn.Linear(config.width, config.feed_forward)
        self.ff_out = nn.Linear(config.feed_forward, config.width)

    def forward(self, rows: Tensor, memory: Memory, sight: Sight) -> Tensor:
        rows = rows + self.self_attn(self.norm_mha(rows), memory, sight)
        out: Tensor = rows + self.ff_out(functional.silu(self.ff_in(self.norm_ff(rows))))
        return out


class _RelativeAttention(nn.Module):
    """Attention whose scores add a term for the distance between query and key."""

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

    def forward(self, rows: Tensor, memory: Memory, sight: Sight) -> Tensor:
        query = split_heads(self.linear_q(rows), self.heads)
        key = memory.history(split_heads(self.linear_k(rows), self.heads))
        value = memory.history(split_heads(self.linear_v(rows), self.heads))
        distances = self._distances(query, key, memory)
        mask = sight.mask(query, key)
        content, place = query + self.pos_bias_u[:, None], query + self.pos_bias_v[:, None]
        out: Tensor = self.linear_out(merge_heads(attend_with_distance(content, place, key, value, distances, mask)))
        return out

    def _distances(self, query: Tensor, key: Tensor, memory: Memory) -> Tensor:
        """The projected distances from the farthest key behind the last query to the last key ahead of the first.

        Those backwards are the same in every call, only more of them: they are kept, so that a call's cost does not
        grow with what was spoken before it.
        """
        queries, keys = query.shape[-2], key.shape[-2]
        back = memory.table(keys, lambda start, stop: self._project(torch.arange(start, stop, device=query.device)))
        ahead = self._project(-torch.arange(1, queries, device=query.device))
        return torch.cat((back.flip(-2), ahead), dim=-2)

    def _project(self, distances: Tensor) -> Tensor:
        code = sinusoids(distances, self.width).to(self.linear_pos.weight.dtype)
        return split_heads(self.linear_pos(code)[None], self.heads)


def sinusoids(distances: Tensor, width: int) -> Tensor:
    """The code of each distance: sines and cosines of falling frequency, alternating."""
    steps = torch.arange(0, width, 2, device=distances.device, dtype=torch.float32)
    angles = distances[:, None].float() * torch.exp(steps * -(math.log(10_000.0) / width))
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)
