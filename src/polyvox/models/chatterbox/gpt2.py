"""The GPT-2 decoder: absolute positions, layer norms with biases, the KV cache passed in and out."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import attend, causal_mask, merge_heads, split_heads
from polyvox.models.cache import LayerCache
from polyvox.models.loading import StateDict, renamed
from polyvox.models.lookup import lookup
from polyvox.models.qwen.model import QwenState

_NORM_EPS = 1e-5
_NAMES = (
    (r"^h\.", "layers."),
    (r"^ln_f\.", "norm."),
    (r"\.attn\.c_", ".c_"),
    (r"\.mlp\.c_proj\.", ".c_out."),
    (r"\.mlp\.c_fc\.", ".c_in."),
)
_INPUTS_FIRST = ("c_attn.weight", "c_proj.weight", "c_in.weight", "c_out.weight")


@dataclass(frozen=True, slots=True)
class Gpt2Config:
    """Sizes of one decoder; the defaults are GPT-2 medium's, with Chatterbox's positions."""

    hidden: int = 1024
    layers: int = 24
    heads: int = 16
    positions: int = 8196

    @property
    def key_heads(self) -> int:
        return self.heads

    @property
    def head_width(self) -> int:
        return self.hidden // self.heads


class Gpt2(nn.Module):
    """Embeddings in, hidden states after the final norm out."""

    def __init__(self, config: Gpt2Config) -> None:
        super().__init__()
        self.config = config
        self.wpe = lookup(config.positions, config.hidden)
        self.layers = nn.ModuleList(Gpt2Layer(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.hidden, _NORM_EPS)

    def forward(self, rows: Tensor, state: QwenState) -> tuple[Tensor, QwenState]:
        """Extend a batch of sequences of equal length by `rows` [batch, new, hidden]."""
        memory, end = LayerCache(state.kept), state.length + rows.shape[1]
        positions = torch.arange(state.length, end, device=rows.device)
        mask = causal_mask(rows.shape[1], end, rows.device)
        return self.decode(rows, memory, positions, mask), QwenState(memory.tensors(), end)

    def decode(self, rows: Tensor, memory: LayerCache, positions: Tensor, mask: Tensor | None) -> Tensor:
        """As `forward`, with the caller's KV cache, positions ([new] or [batch, new]) and attention mask."""
        rows = rows + functional.embedding(positions, self.wpe.weight)
        for layer in self.layers:
            rows = layer(rows, memory, mask)
        hidden: Tensor = self.norm(rows)
        return hidden


class Gpt2Layer(nn.Module):
    """One layer: attention, and the network behind it."""

    def __init__(self, config: Gpt2Config) -> None:
        super().__init__()
        hidden, self.heads = config.hidden, config.heads
        self.ln_1 = nn.LayerNorm(hidden, _NORM_EPS)
        self.c_attn = nn.Linear(hidden, 3 * hidden)
        self.c_proj = nn.Linear(hidden, hidden)
        self.ln_2 = nn.LayerNorm(hidden, _NORM_EPS)
        self.c_in = nn.Linear(hidden, 4 * hidden)
        self.c_out = nn.Linear(4 * hidden, hidden)

    def forward(self, rows: Tensor, memory: LayerCache, mask: Tensor | None) -> Tensor:
        query, key, value = (split_heads(each, self.heads) for each in self.c_attn(self.ln_1(rows)).chunk(3, dim=-1))
        attended = attend(query, memory.append(key), memory.append(value), mask)
        rows = rows + self.c_proj(merge_heads(attended))
        return rows + self.feed_forward(rows)

    def feed_forward(self, rows: Tensor) -> Tensor:
        """The part of the layer's second half that is added."""
        out: Tensor = self.c_out(functional.gelu(self.c_in(self.ln_2(rows)), approximate="tanh"))
        return out


def gpt2_weights(state: StateDict) -> dict[str, Tensor]:
    """A published state dict under our names; its matrices are stored inputs first."""
    return {
        name: each.T.contiguous() if name.endswith(_INPUTS_FIRST) else each
        for name, each in renamed(_NAMES, state).items()
    }
