"""CosyVoice 2's U-Net as nodes of an ONNX graph."""

from collections.abc import Sequence
from typing import Protocol, cast

import numpy as np
from torch import nn

from polyvox.bundles.onnx_graphs.builder import GraphBuilder
from polyvox.engines.cosyvoice.onnx_export.layers import (
    PackedStepCache,
    SelfAttention,
    build_attention,
    build_causal_conv,
    build_conv,
    build_gelu,
    build_heads,
    build_merge_heads,
    build_mish,
    build_norm,
    build_scores,
    build_transpose,
)
from polyvox.engines.kit.onnx_export import build_linear
from polyvox.models.convolution import CausalConv
from polyvox.models.cosyvoice.unet import UNet


class _ConvBlock(Protocol):
    conv: CausalConv
    norm: nn.LayerNorm


class _Residual(Protocol):
    block1: _ConvBlock
    block2: _ConvBlock
    res_conv: nn.Conv1d


class _Transformer(Protocol):
    norm1: nn.LayerNorm
    attn1: SelfAttention
    norm3: nn.LayerNorm
    ff_in: nn.Linear
    ff_out: nn.Linear


class _Level(Protocol):
    residual: _Residual
    transformers: Sequence[_Transformer]


def build_unet(graph: GraphBuilder, network: UNet, inputs: str, time: str, cache: PackedStepCache, mask: str) -> str:
    """The velocity [batch, bins, frames] of inputs [batch, 4 * bins, frames]."""
    builder = _UNetBuilder(graph, time, cache, mask)
    return builder.build(network, inputs)


class _UNetBuilder:
    """Builds the network level by level."""

    def __init__(self, graph: GraphBuilder, time: str, cache: PackedStepCache, mask: str) -> None:
        self._graph, self._time, self._cache, self._mask = graph, time, cache, mask

    def build(self, network: UNet, inputs: str) -> str:
        graph, cache = self._graph, self._cache
        skip = self._level(cast(_Level, network.down), inputs, 0)
        frames = build_causal_conv(graph, network.down_conv, skip, cache)
        for index, level in enumerate(network.middle):
            frames = self._level(cast(_Level, level), frames, 1 + index)
        joined = graph.op("Concat", frames, skip, axis=1)
        frames = self._level(cast(_Level, network.up), joined, 1 + len(network.middle))
        frames = build_causal_conv(graph, network.up_conv, frames, cache)
        final = self._conv_block(cast(_ConvBlock, network.final), frames)
        return build_conv(graph, final, network.final_proj.weight, network.final_proj.bias)

    def _level(self, level: _Level, frames: str, index: int) -> str:
        graph, residual = self._graph, level.residual
        moment = graph.op("Gather", self._time, graph.constant(index, np.int64), axis=0)
        inner = graph.op(
            "Add", self._conv_block(residual.block1, frames), graph.op("Unsqueeze", moment, graph.integers(1))
        )
        shortcut = build_conv(graph, frames, residual.res_conv.weight, residual.res_conv.bias)
        rows = build_transpose(graph, graph.op("Add", self._conv_block(residual.block2, inner), shortcut))
        for transformer in level.transformers:
            rows = self._transformer(transformer, rows)
        return build_transpose(graph, rows)

    def _conv_block(self, block: _ConvBlock, frames: str) -> str:
        graph = self._graph
        rows = build_transpose(graph, build_causal_conv(graph, block.conv, frames, self._cache))
        return build_transpose(graph, build_mish(graph, build_norm(graph, block.norm, rows)))

    def _transformer(self, block: _Transformer, rows: str) -> str:
        graph = self._graph
        rows = graph.op("Add", rows, self._attention(block.attn1, build_norm(graph, block.norm1, rows)))
        inner = build_gelu(graph, build_linear(graph, block.ff_in, build_norm(graph, block.norm3, rows)))
        return graph.op("Add", rows, build_linear(graph, block.ff_out, inner))

    def _attention(self, attention: SelfAttention, rows: str) -> str:
        graph, heads = self._graph, attention.heads
        query, key, value = (
            build_heads(graph, linear, rows, heads) for linear in (attention.to_q, attention.to_k, attention.to_v)
        )
        key, value = self._cache.append(key), self._cache.append(value)
        scores = build_scores(graph, query, key, attention.to_q.weight.shape[0] // heads)
        attended = build_attention(graph, scores, value, self._mask)
        return build_linear(graph, attention.to_out, build_merge_heads(graph, attended))
