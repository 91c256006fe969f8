"""The vocoder's neural filter as an ONNX graph: mel frames and the source's spectra to the spectra of speech."""

from typing import Protocol, cast

import numpy as np
import onnx
from torch import Tensor, nn

from polyvox.bundles.onnx_graphs.builder import FLOAT, GraphBuilder
from polyvox.engines.cosyvoice.onnx_export.layers import END, NamedCache, build_causal_conv, build_conv
from polyvox.engines.kit.onnx_export import as_array
from polyvox.models.convolution import (
    CausalConv,
    CausalDownsample,
    CausalUpsample,
    CenteredConv,
    CenteredDownsample,
    LookaheadConv,
    TransposedUpsample,
)
from polyvox.models.hift.filter import HiftFilter

_LEAK, _LAST_LEAK = 0.1, 0.01
_SNAKE_EPS = 1e-9
_LOUDEST = 1e2


class _Snake(Protocol):
    alpha: Tensor


class _ResBlock(Protocol):
    convs1: nn.ModuleList
    convs2: nn.ModuleList
    activations1: nn.ModuleList
    activations2: nn.ModuleList


def filter_graph(network: HiftFilter) -> onnx.ModelProto:
    """Magnitudes and phases from mel frames and spectra of the source.

    The first call of a stream has one spectrum more than its frames account for, and the graph tells it by that.
    Version 2 has no cache: each of its calls is a first one.
    """
    graph, config = GraphBuilder(), network.config
    cache = NamedCache(graph)
    spectra = _FilterBuilder(graph, cache).build(network)
    bins = config.fft // 2 + 1
    limit = graph.scalar(_LOUDEST)
    magnitude = graph.op("Min", graph.op("Exp", graph.slice(spectra, 0, bins, 1)), limit)
    phase = graph.op("Sin", graph.slice(spectra, bins, END, 1))
    shape = ("batch", bins, "spectra")
    return graph.model(
        {
            "mel": (FLOAT, ("batch", config.bins, "frames")),
            "source": (FLOAT, ("batch", 2 * bins, "spectra")),
            **cache.inputs,
        },
        {"magnitude": (magnitude, shape), "phase": (phase, shape), **cache.outputs},
        name="cosyvoice",
    )


class _FilterBuilder:
    """Builds the filter stage by stage."""

    def __init__(self, graph: GraphBuilder, cache: NamedCache) -> None:
        self._graph, self._cache = graph, cache

    def build(self, network: HiftFilter) -> str:
        graph, kinds = self._graph, len(network.config.kernels)
        frames = self._conv(network.conv_pre, "mel")
        for stage, up in enumerate(network.ups):
            frames = self._up(up, graph.op("LeakyRelu", frames, alpha=_LEAK))
            if stage == len(network.ups) - 1:
                frames = self._with_first(frames)
            source = self._conv(network.source_downs[stage], "source")
            frames = graph.op("Add", frames, self._res_block(network.source_resblocks[stage], source))
            blocks = network.resblocks[stage * kinds : (stage + 1) * kinds]
            total = graph.op("Sum", *(self._res_block(block, frames) for block in blocks))
            frames = graph.op("Div", total, graph.scalar(kinds))
        return self._conv(network.conv_post, graph.op("LeakyRelu", frames, alpha=_LAST_LEAK))

    def _with_first(self, frames: str) -> str:
        """In a first call, the second frame stands before the first as well."""
        graph = self._graph
        more = graph.op("Sub", graph.size("source", 2), graph.size(frames, 2))
        end = graph.op("Add", more, graph.integers(1))
        return graph.op("Concat", graph.op("Slice", frames, graph.integers(1), end, graph.integers(2)), frames, axis=2)

    def _conv(self, conv: nn.Module, samples: str) -> str:
        graph = self._graph
        if isinstance(conv, CenteredDownsample):
            samples = self._padded(samples, conv.stride // 2)
            return build_conv(graph, samples, conv.weight, conv.bias, strides=[conv.stride])
        if isinstance(conv, CausalDownsample):
            samples = self._cache.left_context(samples, conv.weight.shape[1], conv.stride, first=conv.stride - 1)
            return build_conv(graph, samples, conv.weight, conv.bias, strides=[conv.stride])
        if isinstance(conv, CausalConv):
            return build_causal_conv(graph, conv, samples, self._cache)
        assert isinstance(conv, CenteredConv | LookaheadConv)
        if isinstance(conv, CenteredConv):
            samples = self._padded(samples, conv.context // 2)
        return build_conv(graph, samples, conv.weight, conv.bias, dilations=[conv.dilation])

    def _padded(self, samples: str, count: int) -> str:
        return self._graph.op("Pad", samples, self._graph.integers(0, 0, count, 0, 0, count))

    def _up(self, up: nn.Module, samples: str) -> str:
        graph = self._graph
        if isinstance(up, TransposedUpsample):
            weight, bias = (graph.constant(as_array(each)) for each in (up.weight, up.bias))
            return graph.op("ConvTranspose", samples, weight, bias, strides=[up.rate], pads=[up.cut, up.cut])
        assert isinstance(up, CausalUpsample)
        wide = graph.op("Unsqueeze", samples, graph.integers(3))
        repeated = graph.op("Tile", wide, graph.integers(1, 1, 1, up.rate))
        channels = up.weight.shape[1]
        flat = graph.op("Reshape", repeated, graph.integers(0, channels, -1))
        return build_conv(graph, self._cache.left_context(flat, channels, up.context), up.weight, up.bias)

    def _res_block(self, module: nn.Module, samples: str) -> str:
        graph, block = self._graph, cast(_ResBlock, module)
        for first, second, before, between in zip(
            block.convs1, block.convs2, block.activations1, block.activations2, strict=True
        ):
            inner = self._conv(first, self._snake(before, samples))
            samples = graph.op("Add", samples, self._conv(second, self._snake(between, inner)))
        return samples

    def _snake(self, module: nn.Module, samples: str) -> str:
        graph = self._graph
        rate = as_array(cast(_Snake, module).alpha)[:, None]
        wave = graph.op("Sin", graph.op("Mul", samples, graph.constant(rate)))
        scale = graph.constant(np.float32(1) / (rate + np.float32(_SNAKE_EPS)))
        return graph.op("Add", samples, graph.op("Mul", graph.op("Mul", wave, wave), scale))
