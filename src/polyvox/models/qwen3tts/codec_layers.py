"""Layers that the tokenizer's encoder and decoder share."""

import torch
from torch import Tensor, nn

from polyvox.models.attention import attend, merge_heads, split_heads
from polyvox.models.cache import LayerCache
from polyvox.models.loading import StateDict, WeightsError
from polyvox.models.qwen.model import rotary
from polyvox.models.qwen3tts.codec_config import TransformerConfig

_LEAST_USAGE = 1e-5
Rotation = tuple[Tensor, Tensor]


class RotaryAttention(nn.Module):
    """Attention with rotary positions and without biases, to cached keys and the new ones."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        width = config.heads * config.head_width
        self.heads = config.heads
        self.q_proj = nn.Linear(config.hidden, width, bias=False)
        self.k_proj = nn.Linear(config.hidden, width, bias=False)
        self.v_proj = nn.Linear(config.hidden, width, bias=False)
        self.o_proj = nn.Linear(width, config.hidden, bias=False)

    def forward(self, rows: Tensor, cache: LayerCache, rotation: Rotation, mask: Tensor | None) -> Tensor:
        query, key, value = (split_heads(each(rows), self.heads) for each in (self.q_proj, self.k_proj, self.v_proj))
        key, value = cache.append(_rotated(key, rotation)), cache.append(value)
        out: Tensor = self.o_proj(merge_heads(attend(_rotated(query, rotation), key, value, mask)))
        return out


class LayerScale(nn.Module):
    """A learned factor for each channel of a residual branch."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.empty(width))

    def forward(self, rows: Tensor) -> Tensor:
        return rows * self.scale


def rotation_at(positions: Tensor, config: TransformerConfig) -> Rotation:
    """The rotation of heads at positions [n] or [batch, n]."""
    return rotary(positions, config.head_width, config.rope_theta, torch.float32)


def _rotated(heads: Tensor, rotation: Rotation) -> Tensor:
    low, high = heads.chunk(2, dim=-1)
    return heads * rotation[0] + torch.cat((-high, low), dim=-1) * rotation[1]


def codebooks(state: StateDict, names: list[str], total: str) -> Tensor:
    """Codebooks [n, codes, width]: the sums of what each row stood for, divided by how often it did.

    `names` are those of the codebooks without their last part; `total` is that of the sums.
    """
    missing = [name for each in names for name in (f"{each}.{total}", f"{each}.cluster_usage") if name not in state]
    if missing:
        raise WeightsError(f"The tokenizer's weights lack {missing[0]}.")
    tables = [
        state[f"{each}.{total}"] / state[f"{each}.cluster_usage"].clamp(min=_LEAST_USAGE)[:, None] for each in names
    ]
    return torch.stack(tables)
