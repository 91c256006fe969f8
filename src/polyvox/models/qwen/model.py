"""The Qwen2, Qwen3 and Llama decoders: grouped-query attention, rotary positions, the KV cache passed in and out."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import attend, causal_mask, merge_heads, split_heads
from polyvox.models.cache import CachedTensors, LayerCache
from polyvox.models.lookup import lookup


@dataclass(frozen=True, slots=True)
class RopeScaling:
    """Llama 3's slower rotation: by `factor` where a turn is longer than `positions / low`, not where it is shorter
    than `positions / high`, and in between in part."""

    factor: float = 8.0
    low: float = 1.0
    high: float = 4.0
    positions: int = 8192

    def scaled(self, frequencies: Tensor) -> Tensor:
        """Radians a position, of those without scaling."""
        turns = self.positions * frequencies / (2 * math.pi)
        kept = ((turns - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
        return (1 - kept) * frequencies / self.factor + kept * frequencies


@dataclass(frozen=True, slots=True)
class QwenConfig:
    """Sizes of one decoder; the defaults are Qwen2-0.5B's."""

    vocabulary: int = 151_936
    hidden: int = 896
    feed_forward: int = 4_864
    layers: int = 24
    heads: int = 14
    key_heads: int = 2
    head_width: int = 64
    rope_theta: float = 1e6
    norm_eps: float = 1e-6
    qkv_bias: bool = True
    """Qwen2 has biases on queries, keys and values; Qwen3 has none."""
    qk_norm: bool = False
    """Qwen3 normalises each head's queries and keys before they are rotated."""
    rope_scaling: RopeScaling | None = None
    """Llama 3 rotates slowly turning pairs more slowly still."""

    def rotation(self, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """`rotary` of this decoder's heads."""
        return rotary(positions, self.head_width, self.rope_theta, dtype, self.rope_scaling)


@dataclass(frozen=True, slots=True)
class QwenState:
    """KV cache of all positions so far, layer by layer."""

    kept: CachedTensors = ()
    length: int = 0


class Qwen(nn.Module):
    """Embeddings in, hidden states after the final norm out."""

    def __init__(self, config: QwenConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = lookup(config.vocabulary, config.hidden)
        self.layers = nn.ModuleList(_Layer(config) for _ in range(config.layers))
        self.norm = nn.RMSNorm(config.hidden, config.norm_eps)

    def embed(self, ids: Tensor) -> Tensor:
        """Input embeddings of token ids."""
        return functional.embedding(ids, self.embed_tokens.weight)

    def forward(self, rows: Tensor, state: QwenState) -> tuple[Tensor, QwenState]:
        """Extend a batch of sequences of equal length by `rows` [batch, new, hidden]."""
        memory = LayerCache(state.kept)
        end = state.length + rows.shape[1]
        positions = torch.arange(state.length, end, device=rows.device)
        mask = causal_mask(rows.shape[1], end, rows.device)
        return self.decode(rows, memory, positions, mask), QwenState(memory.tensors(), end)

    def decode(self, rows: Tensor, memory: LayerCache, positions: Tensor, mask: Tensor | None) -> Tensor:
        """As `forward`, with the caller's KV cache, positions ([new] or [batch, new]) and attention mask."""
        rotation = self.config.rotation(positions, rows.dtype)
        for layer in self.layers:
            rows = layer(rows, memory, rotation, mask)
        hidden: Tensor = self.norm(rows)
        return hidden


def rotary(
    positions: Tensor, width: int, theta: float, dtype: torch.dtype, scaling: RopeScaling | None = None
) -> tuple[Tensor, Tensor]:
    """Cosines and sines of rotary embeddings for heads of this width, [..., 1, time, width]."""
    exponents = torch.arange(0, width, 2, device=positions.device, dtype=torch.float32) / width
    frequencies = 1.0 / theta**exponents
    if scaling is not None:
        frequencies = scaling.scaled(frequencies)
    angles = (positions[..., None].float() * frequencies).unsqueeze(-3)
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def _rotated(heads: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    low, high = heads.chunk(2, dim=-1)
    return heads * rotation[0] + torch.cat((-high, low), dim=-1) * rotation[1]


class _Layer(nn.Module):
    def __init__(self, config: QwenConfig) -> None:
        super().__init__()
        self.input_layernorm = nn.RMSNorm(config.hidden, config.norm_eps)
        self.self_attn = _Attention(config)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden, config.norm_eps)
        self.mlp = _FeedForward(config)

    def forward(self, rows: Tensor, memory: LayerCache, rotation: tuple[Tensor, Tensor], mask: Tensor | None) -> Tensor:
        rows = rows + self.self_attn(self.input_layernorm(rows), memory, rotation, mask)
        out: Tensor = rows + self.mlp(self.post_attention_layernorm(rows))
        return out


class _Attention(nn.Module):
    def __init__(self, config: QwenConfig) -> None:
        super().__init__()
        self.heads, self.key_heads = config.heads, config.key_heads
        width = config.heads * config.head_width
        key_width = config.key_heads * config.head_width
        self.q_proj = nn.Linear(config.hidden, width, bias=config.qkv_bias)
        self.k_proj = nn.Linear(config.hidden, key_width, bias=config.qkv_bias)
        self.v_proj = nn.Linear(config.hidden, key_width, bias=config.qkv_bias)
        self.o_proj = nn.Linear(width, config.hidden, bias=False)
        if config.qk_norm:
            self.q_norm: nn.Module = nn.RMSNorm(config.head_width, config.norm_eps)
            self.k_norm: nn.Module = nn.RMSNorm(config.head_width, config.norm_eps)
        else:
            self.q_norm, self.k_norm = nn.Identity(), nn.Identity()

    def forward(self, rows: Tensor, memory: LayerCache, rotation: tuple[Tensor, Tensor], mask: Tensor | None) -> Tensor:
        query = self.q_norm(split_heads(self.q_proj(rows), self.heads))
        key = self.k_norm(split_heads(self.k_proj(rows), self.key_heads))
        value = split_heads(self.v_proj(rows), self.key_heads)
        key = memory.append(_rotated(key, rotation))
        value = memory.append(value)
        out: Tensor = self.o_proj(merge_heads(attend(_rotated(query, rotation), key, value, mask)))
        return out


class _FeedForward(nn.Module):
    def __init__(self, config: QwenConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden, config.feed_forward, bias=False)
        self.up_proj = nn.Linear(config.hidden, config.feed_forward, bias=False)
        self.down_proj = nn.Linear(config.feed_forward, config.hidden, bias=False)

    def forward(self, rows: Tensor) -> Tensor:
        out: Tensor = self.down_proj(functional.silu(self.gate_proj(rows)) * self.up_proj(rows))
        return out
