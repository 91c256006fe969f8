"""CosyVoice 3's diffusion transformer as nodes of an ONNX graph."""

from typing import Protocol, cast

import numpy as np
from torch import nn

from polyvox.bundles.onnx_graphs.builder import FLOAT, GraphBuilder
from polyvox.engines.cosyvoice.onnx_export.layers import (
    PackedStepCache,
    SelfAttention,
    build_attention,
    build_causal_conv,
    build_heads,
    build_merge_heads,
    build_mish,
    build_scores,
    build_tanh_gelu,
    build_transpose,
)
from polyvox.engines.kit.onnx_export import as_array, build_linear
from polyvox.models.cosyvoice.dit import DiT

_EPS = 1e-6
"""Of the layer norms, as in the network."""


class _Block(Protocol):
    attn: SelfAttention
    ff_in: nn.Linear
    ff_out: nn.Linear


def build_dit(
    graph: GraphBuilder, network: DiT, inputs: str, time: str, positions: str, cache: PackedStepCache, mask: str
) -> str:
    """The velocity [batch, bins, frames] of inputs [batch, 4 * bins, frames]."""
    builder = _DiTBuilder(graph, time, cache, mask, _rotation(graph, network, positions))
    return builder.build(network, inputs)


def _rotation(graph: GraphBuilder, network: DiT, positions: str) -> tuple[str, str, str]:
    """Cosines and signed sines [frames, width] of the rotary positions, and the index of each element's pair."""
    rates = np.repeat(as_array(network.rates), 2)
    rows = graph.op("Unsqueeze", graph.op("Cast", positions, to=FLOAT), graph.integers(1))
    angles = graph.op("Mul", rows, graph.constant(rates))
    signs = graph.constant(np.tile(np.array([-1.0, 1.0], np.float32), len(rates) // 2))
    other = graph.constant(np.arange(len(rates)) ^ 1, np.int64)
    return graph.op("Cos", angles), graph.op("Mul", graph.op("Sin", angles), signs), other


class _DiTBuilder:
    """Builds the network block by block."""

    def __init__(
        self, graph: GraphBuilder, time: str, cache: PackedStepCache, mask: str, rotation: tuple[str, str, str]
    ) -> None:
        self._graph, self._cache, self._mask = graph, cache, mask
        self._time = time
        self._cos, self._sin, self._other = rotation

    def build(self, network: DiT, inputs: str) -> str:
        graph = self._graph
        frames = build_transpose(graph, build_linear(graph, network.input_proj, build_transpose(graph, inputs)))
        inner = build_mish(graph, build_causal_conv(graph, network.input_conv1, frames, self._cache))
        embedded = build_mish(graph, build_causal_conv(graph, network.input_conv2, inner, self._cache))
        rows = build_transpose(graph, graph.op("Add", frames, embedded))
        for index, block in enumerate(network.blocks):
            rows = self._block(cast(_Block, block), rows, 6 * index)
        scale, shift = self._vectors(6 * len(network.blocks), 2)
        return build_transpose(graph, build_linear(graph, network.proj_out, self._modulate(rows, shift, scale)))

    def _block(self, block: _Block, rows: str, first: int) -> str:
        graph = self._graph
        shift, scale, gate, ff_shift, ff_scale, ff_gate = self._vectors(first, 6)
        attended = self._attention(block.attn, self._modulate(rows, shift, scale))
        rows = graph.op("Add", rows, graph.op("Mul", gate, attended))
        inner = build_tanh_gelu(graph, build_linear(graph, block.ff_in, self._modulate(rows, ff_shift, ff_scale)))
        return graph.op("Add", rows, graph.op("Mul", ff_gate, build_linear(graph, block.ff_out, inner)))

    def _vectors(self, first: int, count: int) -> list[str]:
        """Vectors of the time conditioning."""
        graph = self._graph
        return [
            graph.op("Gather", self._time, graph.constant(first + index, np.int64), axis=0) for index in range(count)
        ]

    def _modulate(self, rows: str, shift: str, scale: str) -> str:
        return self._graph.op("LayerNormalization", rows, scale, shift, axis=-1, epsilon=_EPS)

    def _attention(self, attention: SelfAttention, rows: str) -> str:
        graph, heads = self._graph, attention.heads
        query, key, value = (
            build_heads(graph, linear, rows, heads) for linear in (attention.to_q, attention.to_k, attention.to_v)
        )
        query, key = self._rotate(query, heads), self._rotate(key, heads)
        key, value = self._cache.append(key), self._cache.append(value)
        scores = build_scores(graph, query, key, attention.to_q.weight.shape[0] // heads)
        attended = build_attention(graph, scores, value, self._mask)
        return build_linear(graph, attention.to_out, build_merge_heads(graph, attended))

    def _rotate(self, rows: str, heads: int) -> str:
        """Apply rotary positions to the first head, as the network does."""
        graph = self._graph
        first = graph.slice(rows, 0, 1, 1)
        swapped = graph.op("Gather", first, self._other, axis=3)
        rotated = graph.op("Add", graph.op("Mul", first, self._cos), graph.op("Mul", swapped, self._sin))
        return rotated if heads == 1 else graph.op("Concat", rotated, graph.slice(rows, 1, heads, 1), axis=1)
