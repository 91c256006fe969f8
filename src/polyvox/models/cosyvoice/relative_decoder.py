"""CosyVoice 1's decoder: causal attention with relative positions, the KV cache passed in and out."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import attend, causal_mask, merge_heads, split_heads
from polyvox.models.cache import LayerCache
from polyvox.models.cosyvoice.conformer import BLOCK_EPS, sinusoidal_embedding
from polyvox.models.loading import StateDict
from polyvox.models.qwen.model import QwenState

RENAMED = (
    (r"embed\.out\.0\.", "embed.linear."),
    (r"embed\.out\.1\.", "embed.norm."),
    (r"\.feed_forward\.w_1\.", ".ff_in."),
    (r"\.feed_forward\.w_2\.", ".ff_out."),
    (r"^after_norm\.", "norm."),
)
"""Parameter names: published and ours."""

_POSITIONS = ".self_attn.linear_pos.weight"


@dataclass(frozen=True, slots=True)
class RelativeDecoderConfig:
    """Sizes of the decoder; the defaults are those of the released model."""

    inputs: int = 1024
    hidden: int = 1024
    feed_forward: int = 4096
    layers: int = 14
    heads: int = 16
    positions: int = 4096
    """Longest distance between two positions, for which embeddings are kept."""

    @property
    def key_heads(self) -> int:
        return self.heads

    @property
    def head_width(self) -> int:
        return self.hidden // self.heads


class RelativeDecoder(nn.Module):
    """Input embeddings in, hidden states after the final norm out."""

    def __init__(self, config: RelativeDecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.embed = _Embed(config)
        self.encoders = nn.ModuleList(_Layer(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.hidden)

    def forward(self, rows: Tensor, state: QwenState) -> tuple[Tensor, QwenState]:
        """Extend a batch of sequences of equal length by `rows` [batch, new, inputs]."""
        memory, end = LayerCache(state.kept), state.length + rows.shape[1]
        positions = torch.arange(state.length, end, device=rows.device)
        mask = causal_mask(rows.shape[1], end, rows.device)
        return self.decode(rows, memory, positions, mask), QwenState(memory.tensors(), end)

    def decode(self, rows: Tensor, memory: LayerCache, positions: Tensor, mask: Tensor | None) -> Tensor:
        """As `forward`, with the caller's KV cache, positions ([new] or [batch, new]) and attention mask."""
        rows = self.embed(rows)
        for layer in self.encoders:
            rows = layer(rows, memory, positions, mask)
        hidden: Tensor = self.norm(rows)
        return hidden


class _Embed(nn.Module):
    def __init__(self, config: RelativeDecoderConfig) -> None:
        super().__init__()
        self.linear = nn.Linear(config.inputs, config.hidden)
        self.norm = nn.LayerNorm(config.hidden)
        self.scale = math.sqrt(config.hidden)

    def forward(self, rows: Tensor) -> Tensor:
        return functional.relu(self.norm(self.linear(rows))) * self.scale


class _Layer(nn.Module):
    def __init__(self, config: RelativeDecoderConfig) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(config.hidden, eps=BLOCK_EPS)
        self.self_attn = _Attention(config)
        self.norm2 = nn.LayerNorm(config.hidden, eps=BLOCK_EPS)
        self.ff_in = nn.Linear(config.hidden, config.feed_forward)
        self.ff_out = nn.Linear(config.feed_forward, config.hidden)

    def forward(self, rows: Tensor, memory: LayerCache, positions: Tensor, mask: Tensor | None) -> Tensor:
        rows = rows + self.self_attn(self.norm1(rows), memory, positions, mask)
        out: Tensor = rows + self.ff_out(functional.relu(self.ff_in(self.norm2(rows))))
        return out


class _Attention(nn.Module):
    """Scores add a term for the distance from query to key, looked up in a table of embedded distances.

    A table lets sequences of one batch stand at different positions; it takes the place of a published projection.
    """

    def __init__(self, config: RelativeDecoderConfig) -> None:
        super().__init__()
        width, self.heads = config.hidden, config.heads
        self.linear_q = nn.Linear(width, width)
        self.linear_k = nn.Linear(width, width)
        self.linear_v = nn.Linear(width, width)
        self.linear_out = nn.Linear(width, width)
        self.pos_bias_u = nn.Parameter(torch.empty(config.heads, config.head_width))
        self.pos_bias_v = nn.Parameter(torch.empty(config.heads, config.head_width))
        self.distances = nn.Parameter(torch.empty(config.heads, config.positions, config.head_width))

    def forward(self, rows: Tensor, memory: LayerCache, positions: Tensor, mask: Tensor | None) -> Tensor:
        query = split_heads(self.linear_q(rows), self.heads)
        key = memory.append(split_heads(self.linear_k(rows), self.heads))
        value = memory.append(split_heads(self.linear_v(rows), self.heads))
        scores = self._position_scores(query + self.pos_bias_v[:, None], positions, key.shape[-2])
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        out: Tensor = self.linear_out(merge_heads(attend(query + self.pos_bias_u[:, None], key, value, scores)))
        return out

    def _position_scores(self, query: Tensor, positions: Tensor, keys: int) -> Tensor:
        """Scores [batch, heads, new, keys] of the distances from queries at `positions` back to the keys."""
        by_distance = query @ self.distances[:, :keys].transpose(-2, -1) / math.sqrt(query.shape[-1])
        back = positions[..., None] - torch.arange(keys, device=query.device)
        back = back.clamp(0, keys - 1).expand(query.shape[0], *back.shape[-2:])[:, None]
        return by_distance.gather(-1, back.expand_as(by_distance))


def with_distances(config: RelativeDecoderConfig, state: StateDict) -> dict[str, Tensor]:
    """A state dict with a table of embedded distances in place of each projection of positions."""
    tabled = dict(state)
    for name in [name for name in state if name.endswith(_POSITIONS)]:
        weight = tabled.pop(name)
        distances = torch.arange(config.positions, device=weight.device)
        table = functional.linear(sinusoidal_embedding(distances, weight.shape[1]), weight.float())
        tabled[name.removesuffix("linear_pos.weight") + "distances"] = split_heads(table[None], config.heads)[0]
    return tabled
