"""Layers of CosyVoice's networks as nodes of an ONNX graph, and the caches of a stream as its inputs and outputs."""

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from torch import Tensor, nn

from polyvox.bundles.onnx_graphs.builder import FLOAT, GraphBuilder
from polyvox.engines.kit.onnx_export import as_array, build_linear
from polyvox.models.convolution import CausalConv

END = int(np.iinfo(np.int64).max)

Shape = Sequence[int | str]


class SelfAttention(Protocol):
    """The attention layer of both estimators."""

    heads: int
    to_q: nn.Linear
    to_k: nn.Linear
    to_v: nn.Linear
    to_out: nn.Linear


class NamedCache:
    """Caches as inputs and outputs of their own, numbered in the order in which the layers run.

    They are the tensors of a `LayerCache`. Those that grow with the stream are empty at its start.
    """

    def __init__(self, graph: GraphBuilder) -> None:
        self._graph = graph
        self.inputs: dict[str, tuple[int, Shape]] = {}
        self.outputs: dict[str, tuple[str, Shape]] = {}

    def left_context(self, new: str, channels: int, length: int, first: int | None = None) -> str:
        """`new` [batch, channels, time] behind its context, whose last `length` samples are kept.

        At the start of a stream the context is `first` zeros, where that is not `length`.
        """
        size = length if first is None else f"from_{first}_to_{length}"
        joined = self._graph.op("Concat", self._input(("batch", channels, size)), new, axis=2)
        self._output(self._graph.slice(joined, -length, END, 2), ("batch", channels, length))
        return joined

    def append(self, new: str, heads: int, width: int, rate: int) -> str:
        """Rows [1, heads, time, width] behind all cached ones, of which there are `rate` for each token."""
        joined = self._graph.op("Concat", self._input((1, heads, f"past_{rate}", width)), new, axis=2)
        self._output(joined, (1, heads, f"known_{rate}", width))
        return joined

    @property
    def next_input(self) -> str:
        """The name of the input that the next layer will read."""
        return f"cache_{len(self.inputs)}"

    def _input(self, shape: Shape) -> str:
        name = self.next_input
        self.inputs[name] = (FLOAT, shape)
        return name

    def _output(self, tensor: str, shape: Shape) -> None:
        self.outputs[f"next_{len(self.outputs)}"] = (tensor, shape)


class PackedStepCache:
    """One solver step's share of a `PackedCache`: left contexts in a flat tensor, keys and values of all layers in one.

    The batch is two: with the conditions, and without.
    """

    BATCH = 2

    def __init__(self, graph: GraphBuilder, heads: int, width: int) -> None:
        self._graph = graph
        self._heads, self._width = heads, width
        self._cursor = 0
        self._contexts: list[str] = []
        self._kv: list[str] = []

    def left_context(self, new: str, channels: int, length: int) -> str:
        graph, shape = self._graph, (self.BATCH, channels, length)
        start, self._cursor = self._cursor, self._cursor + math.prod(shape)
        before = graph.op("Reshape", graph.slice("contexts", start, self._cursor, 0), graph.integers(*shape))
        joined = graph.op("Concat", before, new, axis=2)
        self._contexts.append(graph.op("Reshape", graph.slice(joined, -length, END, 2), graph.integers(-1)))
        return joined

    def append(self, new: str) -> str:
        past = self._graph.op("Gather", "kv", self._graph.constant(len(self._kv), np.int64), axis=0)
        self._kv.append(self._graph.op("Unsqueeze", new, self._graph.integers(0)))
        return self._graph.op("Concat", past, new, axis=2)

    def inputs(self) -> dict[str, tuple[int, Shape]]:
        return {
            "contexts": (FLOAT, (self._cursor,)),
            "kv": (FLOAT, (len(self._kv), self.BATCH, self._heads, "past", self._width)),
        }

    def outputs(self) -> dict[str, tuple[str, Shape]]:
        """The next contexts, and the keys and values that this call adds."""
        return {
            "next_contexts": (self._graph.op("Concat", *self._contexts, axis=0), (self._cursor,)),
            "new_kv": (
                self._graph.op("Concat", *self._kv, axis=0),
                (len(self._kv), self.BATCH, self._heads, "frames", self._width),
            ),
        }


Cache = NamedCache | PackedStepCache


def build_conv(
    graph: GraphBuilder, samples: str, weight: Tensor, bias: Tensor | None, **attributes: int | Sequence[int]
) -> str:
    """A convolution without padding; attributes are those of ONNX's Conv."""
    given = () if bias is None else (graph.constant(as_array(bias)),)
    return graph.op("Conv", samples, graph.constant(as_array(weight)), *given, **attributes)


def build_causal_conv(graph: GraphBuilder, conv: CausalConv, samples: str, cache: Cache) -> str:
    if conv.context:
        samples = cache.left_context(samples, conv.weight.shape[1] * conv.groups, conv.context)
    return build_conv(graph, samples, conv.weight, conv.bias, dilations=[conv.dilation], group=conv.groups)


def build_norm(graph: GraphBuilder, norm: nn.LayerNorm, rows: str) -> str:
    scale, shift = (graph.constant(as_array(each)) for each in (norm.weight, norm.bias))
    return graph.op("LayerNormalization", rows, scale, shift, axis=-1, epsilon=norm.eps)


def build_mish(graph: GraphBuilder, values: str) -> str:
    return graph.op("Mul", values, graph.op("Tanh", graph.op("Softplus", values)))


def build_silu(graph: GraphBuilder, values: str) -> str:
    return graph.op("Mul", values, graph.op("Sigmoid", values))


def build_gelu(graph: GraphBuilder, values: str) -> str:
    erf = graph.op("Erf", graph.op("Mul", values, graph.scalar(math.sqrt(0.5))))
    return graph.op("Mul", graph.op("Mul", values, graph.scalar(0.5)), graph.op("Add", erf, graph.scalar(1.0)))


def build_tanh_gelu(graph: GraphBuilder, values: str) -> str:
    """The approximation of GELU by a hyperbolic tangent."""
    square = graph.op("Mul", values, values)
    inner = graph.op("Add", graph.op("Mul", square, graph.scalar(0.044715)), graph.scalar(1.0))
    angle = graph.op("Mul", graph.op("Mul", values, inner), graph.scalar(math.sqrt(2 / math.pi)))
    raised = graph.op("Add", graph.op("Tanh", angle), graph.scalar(1.0))
    return graph.op("Mul", graph.op("Mul", values, graph.scalar(0.5)), raised)


def build_heads(graph: GraphBuilder, linear: nn.Linear, rows: str, heads: int) -> str:
    """Project rows [batch, time, inputs] to [batch, heads, time, width]."""
    width = linear.weight.shape[0] // heads
    shaped = graph.op("Reshape", build_linear(graph, linear, rows), graph.integers(0, 0, heads, width))
    return graph.op("Transpose", shaped, perm=[0, 2, 1, 3])


def build_merge_heads(graph: GraphBuilder, rows: str) -> str:
    """[batch, heads, time, width] to [batch, time, heads * width]."""
    return graph.op("Reshape", graph.op("Transpose", rows, perm=[0, 2, 1, 3]), graph.integers(0, 0, -1))


def build_transpose(graph: GraphBuilder, values: str) -> str:
    """Swap the last two of three dimensions."""
    return graph.op("Transpose", values, perm=[0, 2, 1])


def build_scores(graph: GraphBuilder, query: str, key: str, width: int) -> str:
    """Scaled products of queries and keys."""
    scaled = graph.op("Mul", query, graph.scalar(1 / math.sqrt(width)))
    return graph.op("MatMul", scaled, graph.op("Transpose", key, perm=[0, 1, 3, 2]))


def build_attention(graph: GraphBuilder, scores: str, value: str, bias: str) -> str:
    """Values weighted by scores, to which `bias` is added: minus infinity where the mask hides a key."""
    weights = graph.op("Softmax", graph.op("Add", scores, bias), axis=-1)
    return graph.op("MatMul", weights, value)


def build_range(graph: GraphBuilder, count: str) -> str:
    """0 to `count` - 1; `count` is a vector of one element."""
    zero, one = graph.constant(0, np.int64), graph.constant(1, np.int64)
    return graph.op("Range", zero, graph.op("Squeeze", count, graph.integers(0)), one)


def build_positions(graph: GraphBuilder, count: str, end: str) -> str:
    """The last `count` positions before `end`; both are vectors of one element."""
    return graph.op("Add", build_range(graph, count), graph.op("Sub", end, count))


def build_mask(graph: GraphBuilder, queries: str, keys: str, end: str, block: int) -> str:
    """The bias [queries, keys] of a block-causal mask whose last position is `end` - 1."""
    blocks = graph.op("Div", build_positions(graph, keys, end), graph.integers(block))
    start = graph.op("Sub", keys, queries)
    own = graph.op("Slice", blocks, start, graph.integers(END), graph.integers(0))
    seen = graph.op("LessOrEqual", blocks, graph.op("Unsqueeze", own, graph.integers(1)))
    return graph.op("Where", seen, graph.scalar(0.0), graph.scalar(-math.inf))
