"""w2v-bert 2.0: features of speech to the hidden states of one of its layers."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import attend, merge_heads, split_heads

FEATURES = 160
PAST, FUTURE = 64, 8
"""Distances that attention tells apart; those beyond count as these."""

_KERNEL = 31


@dataclass(frozen=True, slots=True)
class W2vBertConfig:
    """Sizes; the defaults are the release's, up to the layer that NeuCodec takes (the release has 24)."""

    hidden: int = 1024
    feed_forward: int = 4096
    heads: int = 16
    layers: int = 16


class W2vBert(nn.Module):
    """A conformer with bidirectional attention and causal convolutions. Names are those of the published weights."""

    def __init__(self, config: W2vBertConfig) -> None:
        super().__init__()
        self.config = config
        self.feature_projection = _FeatureProjection(config.hidden)
        self.encoder = nn.ModuleDict({"layers": nn.ModuleList(_Layer(config) for _ in range(config.layers))})

    def forward(self, features: Tensor) -> Tensor:
        """Features [batch, time, 160] to the last layer's output [batch, time, hidden]. All rows are of full length."""
        rows: Tensor = self.feature_projection(features)
        steps = torch.arange(rows.shape[1], device=rows.device)
        distances = (steps - steps[:, None]).clamp(-PAST, FUTURE) + PAST
        layers = self.encoder["layers"]
        assert isinstance(layers, nn.ModuleList)
        for layer in layers:
            rows = layer(rows, distances)
        return rows


class _FeatureProjection(nn.Module):
    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.layer_norm = nn.LayerNorm(FEATURES)
        self.projection = nn.Linear(FEATURES, hidden)

    def forward(self, features: Tensor) -> Tensor:
        out: Tensor = self.projection(self.layer_norm(features))
        return out


class _Layer(nn.Module):
    """Half a feed-forward, attention, convolution, and the other half."""

    def __init__(self, config: W2vBertConfig) -> None:
        super().__init__()
        hidden = config.hidden
        self.ffn1_layer_norm = nn.LayerNorm(hidden)
        self.ffn1 = _FeedForward(hidden, config.feed_forward)
        self.self_attn_layer_norm = nn.LayerNorm(hidden)
        self.self_attn = _Attention(hidden, config.heads)
        self.conv_module = _Convolution(hidden)
        self.ffn2_layer_norm = nn.LayerNorm(hidden)
        self.ffn2 = _FeedForward(hidden, config.feed_forward)
        self.final_layer_norm = nn.LayerNorm(hidden)

    def forward(self, rows: Tensor, distances: Tensor) -> Tensor:
        rows = rows + 0.5 * self.ffn1(self.ffn1_layer_norm(rows))
        rows = rows + self.self_attn(self.self_attn_layer_norm(rows), distances)
        rows = rows + self.conv_module(rows)
        out: Tensor = self.final_layer_norm(rows + 0.5 * self.ffn2(self.ffn2_layer_norm(rows)))
        return out


class _FeedForward(nn.Module):
    def __init__(self, hidden: int, inner: int) -> None:
        super().__init__()
        self.intermediate_dense = nn.Linear(hidden, inner)
        self.output_dense = nn.Linear(inner, hidden)

    def forward(self, rows: Tensor) -> Tensor:
        out: Tensor = self.output_dense(functional.silu(self.intermediate_dense(rows)))
        return out


class _Attention(nn.Module):
    """Attention whose scores add those of the queries with an embedding of the distance, shared by the heads."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.linear_q, self.linear_k, self.linear_v, self.linear_out = (nn.Linear(hidden, hidden) for _ in range(4))
        self.distance_embedding = nn.Embedding(PAST + FUTURE + 1, hidden // heads)

    def forward(self, rows: Tensor, distances: Tensor) -> Tensor:
        query, key, value = (
            split_heads(map_(rows), self.heads) for map_ in (self.linear_q, self.linear_k, self.linear_v)
        )
        by_distance = query @ self.distance_embedding.weight.T / math.sqrt(query.shape[-1])
        scores = by_distance.gather(3, distances.expand(*query.shape[:2], -1, -1))
        out: Tensor = self.linear_out(merge_heads(attend(query, key, value, scores)))
        return out


class _Convolution(nn.Module):
    """Gated causal depthwise convolution."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.layer_norm = nn.LayerNorm(hidden)
        self.pointwise_conv1 = nn.Conv1d(hidden, 2 * hidden, 1, bias=False)
        self.depthwise_conv = nn.Conv1d(hidden, hidden, _KERNEL, groups=hidden, bias=False)
        self.depthwise_layer_norm = nn.LayerNorm(hidden)
        self.pointwise_conv2 = nn.Conv1d(hidden, hidden, 1, bias=False)

    def forward(self, rows: Tensor) -> Tensor:
        gated = functional.glu(self.pointwise_conv1(self.layer_norm(rows).transpose(1, 2)), dim=1)
        mixed = self.depthwise_conv(functional.pad(gated, (_KERNEL - 1, 0))).transpose(1, 2)
        activated = functional.silu(self.depthwise_layer_norm(mixed))
        out: Tensor = self.pointwise_conv2(activated.transpose(1, 2)).transpose(1, 2)
        return out
