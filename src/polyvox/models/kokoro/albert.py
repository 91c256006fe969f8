"""ALBERT's encoder: one transformer layer, run many times over the tokens of a text."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import attend, merge_heads, split_heads
from polyvox.models.kokoro.ragged import Ragged
from polyvox.models.lookup import lookup

_EPS = 1e-12
NAMES = (
    (r"^encoder\.albert_layer_groups\.0\.albert_layers\.0\.", "layer."),
    (r"^encoder\.embedding_hidden_mapping_in\.", "widen."),
    (r"^embeddings\.(word|position)_embeddings\.", r"\1."),
    (r"^embeddings\.token_type_embeddings\.", "kind."),
    (r"^embeddings\.LayerNorm\.", "norm."),
)
"""Published names to those of `Albert`."""


@dataclass(frozen=True, slots=True)
class AlbertConfig:
    """The sizes of the encoder; the defaults are those of Kokoro's release."""

    tokens: int = 178
    embedding: int = 128
    hidden: int = 768
    feed_forward: int = 2048
    heads: int = 12
    layers: int = 12
    positions: int = 512


class Albert(nn.Module):
    """Tokens in the light of all others."""

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.config = config
        self.word = lookup(config.tokens, config.embedding)
        self.position = lookup(config.positions, config.embedding)
        self.kind = lookup(2, config.embedding)
        self.norm = nn.LayerNorm(config.embedding, eps=_EPS)
        self.widen = nn.Linear(config.embedding, config.hidden)
        self.layer = _Layer(config)

    def forward(self, ids: Tensor, ragged: Ragged) -> Tensor:
        """Ids [batch, time] as [batch, time, hidden]."""
        places = torch.arange(ids.shape[1], device=ids.device)
        rows = self.widen(self.norm(self.word(ids) + self.position(places) + self.kind.weight[0]))
        keys = None if ragged.mask is None else ragged.mask[:, None].bool()
        for _ in range(self.config.layers):
            rows = self.layer(rows, keys)
        out: Tensor = rows
        return out


class _Layer(nn.Module):
    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.attention = _Attention(config)
        self.ffn = nn.Linear(config.hidden, config.feed_forward)
        self.ffn_output = nn.Linear(config.feed_forward, config.hidden)
        self.full_layer_layer_norm = nn.LayerNorm(config.hidden, eps=_EPS)

    def forward(self, rows: Tensor, keys: Tensor | None) -> Tensor:
        rows = self.attention(rows, keys)
        inner = functional.gelu(self.ffn(rows), approximate="tanh")
        out: Tensor = self.full_layer_layer_norm(rows + self.ffn_output(inner))
        return out


class _Attention(nn.Module):
    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.query, self.key, self.value, self.dense = (nn.Linear(config.hidden, config.hidden) for _ in range(4))
        self.LayerNorm = nn.LayerNorm(config.hidden, eps=_EPS)

    def forward(self, rows: Tensor, keys: Tensor | None) -> Tensor:
        query, key, value = (split_heads(part(rows), self.heads) for part in (self.query, self.key, self.value))
        out: Tensor = self.LayerNorm(rows + self.dense(merge_heads(attend(query, key, value, keys))))
        return out
