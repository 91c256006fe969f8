"""ALBERT encoder: one transformer layer, applied many times."""

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
    (r"^encoder\.embedding_hidden_mapping_in\.", "embedding_proj."),
    (r"^embeddings\.(word|position)_embeddings\.", r"\1."),
    (r"^embeddings\.token_type_embeddings\.", "token_type."),
    (r"^embeddings\.LayerNorm\.", "norm."),
)
"""Regular expressions that rename published weights to those of `Albert`."""


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
    """Token ids to contextual embeddings."""

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.config = config
        self.word = lookup(config.tokens, config.embedding)
        self.position = lookup(config.positions, config.embedding)
        self.token_type = lookup(2, config.embedding)
        self.norm = nn.LayerNorm(config.embedding, eps=_EPS)
        self.embedding_proj = nn.Linear(config.embedding, config.hidden)
        self.layer = _Layer(config)

    def forward(self, ids: Tensor, ragged: Ragged) -> Tensor:
        """Ids [batch, time] to [batch, time, hidden]."""
        positions = torch.arange(ids.shape[1], device=ids.device)
        rows = self.embedding_proj(self.norm(self.word(ids) + self.position(positions) + self.token_type.weight[0]))
        mask = None if ragged.mask is None else ragged.mask[:, None].bool()
        for _ in range(self.config.layers):
            rows = self.layer(rows, mask)
        out: Tensor = rows
        return out


class _Layer(nn.Module):
    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.attention = _Attention(config)
        self.ffn = nn.Linear(config.hidden, config.feed_forward)
        self.ffn_output = nn.Linear(config.feed_forward, config.hidden)
        self.full_layer_layer_norm = nn.LayerNorm(config.hidden, eps=_EPS)

    def forward(self, rows: Tensor, mask: Tensor | None) -> Tensor:
        rows = self.attention(rows, mask)
        inner = functional.gelu(self.ffn(rows), approximate="tanh")
        out: Tensor = self.full_layer_layer_norm(rows + self.ffn_output(inner))
        return out


class _Attention(nn.Module):
    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.query, self.key, self.value, self.dense = (nn.Linear(config.hidden, config.hidden) for _ in range(4))
        self.LayerNorm = nn.LayerNorm(config.hidden, eps=_EPS)

    def forward(self, rows: Tensor, mask: Tensor | None) -> Tensor:
        query, key, value = (split_heads(part(rows), self.heads) for part in (self.query, self.key, self.value))
        out: Tensor = self.LayerNorm(rows + self.dense(merge_heads(attend(query, key, value, mask))))
        return out
