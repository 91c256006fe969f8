"""The flow's front, speech tokens to mu, as an ONNX graph with its caches as inputs and outputs."""

import math
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
import onnx
from torch import Tensor, nn

from polyvox.bundles.onnx_graphs.builder import FLOAT, INT64, GraphBuilder
from polyvox.engines.cosyvoice.onnx_export.layers import (
    END,
    NamedCache,
    build_attention,
    build_causal_conv,
    build_conv,
    build_heads,
    build_mask,
    build_merge_heads,
    build_norm,
    build_positions,
    build_range,
    build_scores,
    build_silu,
    build_transpose,
)
from polyvox.engines.kit.onnx_export import as_array, build_linear
from polyvox.models.cosyvoice.conformer import Conformer, ConformerBlock, ConformerEmbed
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN, Flow
from polyvox.models.cosyvoice.flow_v2 import ConformerTokenEncoder
from polyvox.models.cosyvoice.flow_v3 import LookaheadTokenEncoder
from polyvox.models.cosyvoice.lookahead import Lookahead

_LEAK = 0.01
_LOWEST = int(np.iinfo(np.int64).min)


def token_encoder_graph(flow: Flow) -> onnx.ModelProto:
    """Tokens, with those after them as `context`, to mu. The length of the cache tells their positions."""
    graph, encoder = GraphBuilder(), flow.token_encoder
    assert isinstance(encoder, ConformerTokenEncoder | LookaheadTokenEncoder)
    cache = NamedCache(graph)
    table = graph.constant(as_array(encoder.input_embedding.weight))
    rows, context = (graph.op("Gather", table, ids, axis=0) for ids in ("tokens", "context"))
    if isinstance(encoder, LookaheadTokenEncoder):
        rows = _build_upsampled(graph, build_lookahead(graph, encoder.lookahead, rows, context, cache))
    else:
        conformer = _ConformerBuilder(graph, encoder.encoder, cache, flow.config.block)
        rows = build_linear(graph, encoder.encoder_proj, conformer.build(rows, context))
    inputs = {"tokens": (INT64, (1, "tokens")), "context": (INT64, (1, "context"))}
    mu = (build_transpose(graph, rows), (1, flow.config.bins, "frames"))
    return graph.model({**inputs, **cache.inputs}, {"mu": mu, **cache.outputs}, name="cosyvoice")


def build_lookahead(graph: GraphBuilder, layer: Lookahead, rows: str, context: str, cache: NamedCache) -> str:
    """Rows [batch, time, width] with those after them as `context`, zero-padded where it is short."""
    joined = build_transpose(graph, graph.op("Concat", rows, context, axis=1))
    missing = graph.op("Sub", graph.integers(layer.ahead), graph.size(context, 1))
    padded = graph.op("Pad", joined, graph.op("Concat", graph.integers(0, 0, 0, 0, 0), missing, axis=0))
    inner = graph.op("LeakyRelu", build_conv(graph, padded, layer.conv1.weight, layer.conv1.bias), alpha=_LEAK)
    out = build_causal_conv(graph, layer.conv2, inner, cache)
    return graph.op("Add", rows, build_transpose(graph, out))


def _build_upsampled(graph: GraphBuilder, rows: str) -> str:
    """Every row of [batch, time, width] twice."""
    wide = graph.op("Unsqueeze", rows, graph.integers(2))
    twice = graph.op("Concat", *[wide] * FRAMES_PER_TOKEN, axis=2)
    shape = graph.op("Concat", graph.size(rows, 0), graph.integers(-1), graph.size(rows, 2), axis=0)
    return graph.op("Reshape", twice, shape)


class _RelativeAttention(Protocol):
    width: int
    heads: int
    linear_q: nn.Linear
    linear_k: nn.Linear
    linear_v: nn.Linear
    linear_out: nn.Linear
    linear_pos: nn.Linear
    pos_bias_u: Tensor
    pos_bias_v: Tensor


@dataclass(frozen=True, slots=True)
class _Rate:
    """Tensors that all blocks at one rate share: the mask, and codes of the distances from a position to others."""

    rate: int
    queries: str
    keys: str
    mask: str
    new: str
    """Codes [queries, width] of the distances that no earlier call needed."""
    following: str
    """Codes of the distances to later positions."""


class _ConformerBuilder:
    """Builds the conformer: its blocks at the rate of tokens, then those at the rate of frames."""

    def __init__(self, graph: GraphBuilder, network: Conformer, cache: NamedCache, block: int) -> None:
        self._graph, self._network, self._cache, self._block = graph, network, cache, block

    def build(self, rows: str, context: str) -> str:
        graph, network = self._graph, self._network
        rows, context = (self._embed(network.embed, each) for each in (rows, context))
        rows = build_lookahead(graph, network.lookahead, rows, context, self._cache)
        rows = self._blocks(network.encoders, rows, 1)
        frames = build_transpose(graph, _build_upsampled(graph, rows))
        rows = build_transpose(graph, build_causal_conv(graph, network.up_conv, frames, self._cache))
        rows = self._blocks(network.up_encoders, self._embed(network.up_embed, rows), FRAMES_PER_TOKEN)
        return build_norm(graph, network.after_norm, rows)

    def _embed(self, layer: ConformerEmbed, rows: str) -> str:
        graph = self._graph
        normed = build_norm(graph, layer.norm, build_linear(graph, layer.linear, rows))
        return graph.op("Mul", normed, graph.scalar(layer.scale))

    def _blocks(self, blocks: nn.ModuleList, rows: str, rate: int) -> str:
        graph, shared = self._graph, self._shared(rows, rate)
        for block in blocks:
            assert isinstance(block, ConformerBlock)
            attention = cast(_RelativeAttention, block.self_attn)
            rows = graph.op("Add", rows, self._attention(attention, build_norm(graph, block.norm_mha, rows), shared))
            inner = build_silu(graph, build_linear(graph, block.ff_in, build_norm(graph, block.norm_ff, rows)))
            rows = graph.op("Add", rows, build_linear(graph, block.ff_out, inner))
        return rows

    def _shared(self, rows: str, rate: int) -> _Rate:
        graph, width = self._graph, self._network.after_norm.normalized_shape[0]
        queries = graph.size(rows, 1)
        keys = graph.op("Add", graph.size(self._cache.next_input, 2), queries)
        later = graph.op("Slice", build_range(graph, queries), graph.integers(1), graph.integers(END))
        return _Rate(
            rate,
            queries,
            keys,
            build_mask(graph, queries, keys, keys, rate * self._block),
            self._codes(build_positions(graph, queries, keys), width),
            self._codes(graph.op("Neg", later), width),
        )

    def _codes(self, distances: str, width: int) -> str:
        """Sines and cosines of falling frequency, interleaved, [distances, width]."""
        graph = self._graph
        steps = np.arange(0, width, 2, dtype=np.float32) * np.float32(-(math.log(10_000.0) / width))
        rows = graph.op("Unsqueeze", graph.op("Cast", distances, to=FLOAT), graph.integers(1))
        angles = graph.op("Mul", rows, graph.constant(np.exp(steps)))
        sides = (graph.op("Unsqueeze", graph.op(kind, angles), graph.integers(2)) for kind in ("Sin", "Cos"))
        return graph.op("Reshape", graph.op("Concat", *sides, axis=2), graph.integers(-1, width))

    def _attention(self, attention: _RelativeAttention, rows: str, shared: _Rate) -> str:
        graph, heads, width = self._graph, attention.heads, attention.width // attention.heads
        query, key, value = (
            build_heads(graph, linear, rows, heads)
            for linear in (attention.linear_q, attention.linear_k, attention.linear_v)
        )
        key = self._cache.append(key, heads, width, shared.rate)
        value = self._cache.append(value, heads, width, shared.rate)
        by_content, by_position = (
            graph.op("Add", query, graph.constant(as_array(bias)[:, None]))
            for bias in (attention.pos_bias_u, attention.pos_bias_v)
        )
        distances = self._distances(attention, heads, width, shared)
        shifted = self._shift(build_scores(graph, by_position, distances, width), heads, shared)
        scores = graph.op("Add", build_scores(graph, by_content, key, width), shifted)
        attended = build_attention(graph, scores, value, shared.mask)
        return build_linear(graph, attention.linear_out, build_merge_heads(graph, attended))

    def _distances(self, attention: _RelativeAttention, heads: int, width: int, shared: _Rate) -> str:
        """Projected codes, from the largest distance down; those to earlier positions are cached."""
        graph = self._graph

        def projected(codes: str) -> str:
            return build_heads(graph, attention.linear_pos, graph.op("Unsqueeze", codes, graph.integers(0)), heads)

        back = self._cache.append(projected(shared.new), heads, width, shared.rate)
        ends = graph.integers(-1), graph.integers(_LOWEST), graph.integers(2), graph.integers(-1)
        return graph.op("Concat", graph.op("Slice", back, *ends), projected(shared.following), axis=2)

    def _shift(self, by_distance: str, heads: int, shared: _Rate) -> str:
        """Scores by falling distance, [1, heads, queries, keys + queries - 1], as scores by key."""
        graph = self._graph
        padded = graph.op("Pad", by_distance, graph.integers(0, 0, 0, 1, 0, 0, 0, 0))
        flat = graph.op("Reshape", padded, graph.integers(1, heads, -1))
        cut = graph.op("Slice", flat, shared.queries, graph.integers(END), graph.integers(2))
        shape = graph.op("Concat", graph.integers(1, heads), shared.queries, graph.integers(-1), axis=0)
        rows = graph.op("Reshape", cut, shape)
        return graph.op("Slice", rows, graph.integers(0), shared.keys, graph.integers(3))
