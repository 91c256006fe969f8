"""The Zipformer as nodes of an ONNX graph, with the weights of a loaded network.

All rows of a call have the same length: the published graphs have no padding mask, so neither have these.
"""

import math
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from polyvox.bundles.onnx_graphs.builder import FLOAT, GraphBuilder
from polyvox.engines.kit.onnx_export import as_array, build_linear
from polyvox.models.zipvoice.zipformer import (
    SLOPE,
    SWOOSH_R,
    Attention,
    Convolution,
    FeedForward,
    Zipformer,
    ZipformerLayer,
    ZipformerStack,
)


@dataclass(frozen=True, slots=True)
class LastFrameMask:
    """Hides the last frame from the others: added to attention scores [frames], multiplied with frames [frames, 1]."""

    scores: str
    frames: str


@dataclass(frozen=True, slots=True)
class _StackContext:
    """Tensors that all layers of a stack share: positions [1, 2 * frames, width] and time bias [batch, 1, width]."""

    positions: str
    time_bias: str | None
    mask: LastFrameMask | None


def build_zipformer(
    graph: GraphBuilder, network: Zipformer, rows: str, time: str | None = None, mask: LastFrameMask | None = None
) -> str:
    """Rows [batch, frames, inputs] and, in a decoder, the time embedding [1, width]: [batch, frames, outputs]."""
    rows = build_linear(graph, network.in_proj, rows)
    for stack in network.stacks:
        assert isinstance(stack, ZipformerStack)
        rows = _StackBuilder(graph, stack).build(rows, time, mask)
    return build_linear(graph, network.out_proj, rows)


def build_swoosh_r(graph: GraphBuilder, rows: str) -> str:
    shift, offset = SWOOSH_R
    activated = _build_shifted_swoosh(graph, graph.op("Sub", rows, graph.scalar(shift)))
    return graph.op("Sub", activated, graph.scalar(SLOPE * shift + offset))


class _StackBuilder:
    """Builds one stack of the network."""

    def __init__(self, graph: GraphBuilder, stack: ZipformerStack) -> None:
        self._graph = graph
        self._stack = stack

    def build(self, rows: str, time: str | None, mask: LastFrameMask | None) -> str:
        graph, stack = self._graph, self._stack
        time_bias = None if time is None else build_linear(graph, stack.time, build_swoosh_r(graph, time))
        if stack.factor == 1:
            return self._layers(rows, time_bias, mask)
        assert mask is None  # the mask is not downsampled
        short = self._layers(self._downsample(rows), time_bias, None)
        return _build_lerp(graph, rows, self._upsample(short, rows), stack.bypass_scale)

    def _downsample(self, rows: str) -> str:
        """A weighted mean of every `factor` frames; the last frame is repeated to fill its group."""
        graph, factor = self._graph, self._stack.factor
        groups = self._groups(rows)
        missing = graph.op("Sub", graph.op("Mul", groups, graph.integers(factor)), graph.size(rows, 1))
        last = graph.slice(rows, -1, np.iinfo(np.int64).max, 1)
        padding = graph.op("Tile", last, graph.op("Concat", graph.integers(1), missing, graph.integers(1), axis=0))
        full = graph.op("Concat", rows, padding, axis=1)
        shape = graph.op("Concat", graph.integers(0), groups, graph.integers(factor, -1), axis=0)
        weights = graph.constant(as_array(self._stack.downsample_bias.softmax(dim=0)[:, None]))
        weighted = graph.op("Mul", graph.op("Reshape", full, shape), weights)
        return graph.op("ReduceSum", weighted, graph.integers(2), keepdims=0)

    def _upsample(self, short: str, rows: str) -> str:
        """Every frame `factor` times, cut to the length of `rows`."""
        graph, factor = self._graph, self._stack.factor
        wide = graph.op("Tile", short, graph.integers(1, 1, factor))
        width = len(self._stack.bypass_scale)
        long = graph.op("Reshape", wide, graph.integers(0, -1, width))
        return graph.op("Slice", long, graph.integers(0), graph.size(rows, 1), graph.integers(1))

    def _groups(self, rows: str) -> str:
        graph, factor = self._graph, self._stack.factor
        rounded_up = graph.op("Add", graph.size(rows, 1), graph.integers(factor - 1))
        return graph.op("Div", rounded_up, graph.integers(factor))

    def _layers(self, rows: str, time_bias: str | None, mask: LastFrameMask | None) -> str:
        positions = _build_relative_positions(self._graph, self._graph.size(rows, 1), self._stack.position)
        context = _StackContext(positions, time_bias, mask)
        for layer in self._stack.layers:
            assert isinstance(layer, ZipformerLayer)
            rows = _LayerBuilder(self._graph, layer, context).build(rows)
        return rows


class _LayerBuilder:
    """Builds one layer of a stack, operation by operation as in the network."""

    def __init__(self, graph: GraphBuilder, layer: ZipformerLayer, context: _StackContext) -> None:
        self._graph = graph
        self._layer = layer
        self._context = context

    def build(self, rows: str) -> str:
        graph, layer = self._graph, self._layer
        weights = self._attention_weights(rows)
        out = self._add_time(rows)
        out = graph.op("Add", out, self._feed_forward(layer.feed_forward1, out))
        out = graph.op("Add", out, self._gated_attention(out, weights))
        out = graph.op("Add", out, self._attention(layer.self_attn1, out, weights))
        out = self._add_time(out)
        out = graph.op("Add", out, self._convolution(layer.conv_module1, out))
        out = graph.op("Add", out, self._feed_forward(layer.feed_forward2, out))
        out = _build_lerp(graph, rows, out, layer.bypass_mid)
        out = graph.op("Add", out, self._attention(layer.self_attn2, out, weights))
        out = self._add_time(out)
        out = graph.op("Add", out, self._convolution(layer.conv_module2, out))
        out = graph.op("Add", out, self._feed_forward(layer.feed_forward3, out))
        return _build_lerp(graph, rows, self._norm(out), layer.bypass)

    def _add_time(self, rows: str) -> str:
        time_bias = self._context.time_bias
        return rows if time_bias is None else self._graph.op("Add", rows, time_bias)

    def _attention_weights(self, rows: str) -> str:
        """[batch, heads, frames, frames], a softmax over the last axis."""
        graph, module = self._graph, self._layer.self_attn_weights
        sizes = graph.integers(*(module.heads * size for size in module.sizes))
        query, key, position = graph.ops("Split", build_linear(graph, module.in_proj, rows), sizes, count=3, axis=2)
        scores = graph.op("MatMul", self._by_head(query, module.heads), self._by_head(key, module.heads, (0, 2, 3, 1)))
        relative = graph.op("MatMul", self._context.positions, graph.constant(as_array(module.linear_pos.weight.T)))
        by_position = graph.op(
            "MatMul", self._by_head(position, module.heads), self._by_head(relative, module.heads, (0, 2, 3, 1))
        )
        scores = graph.op("Add", scores, self._by_key(by_position, rows))
        if self._context.mask is not None:
            scores = graph.op("Add", scores, self._context.mask.scores)
        return graph.op("Softmax", scores, axis=-1)

    def _by_head(self, rows: str, heads: int, order: tuple[int, ...] = (0, 2, 1, 3)) -> str:
        """[batch, n, heads * width] with its four axes (batch, n, heads, width) in another order."""
        parts = self._graph.op("Reshape", rows, self._graph.integers(0, 0, heads, -1))
        return self._graph.op("Transpose", parts, perm=order)

    def _by_key(self, by_position: str, rows: str) -> str:
        """Scores by relative position [batch, heads, frames, 2 * frames] as scores by key, [..., frames].

        Positions run from the farthest before to one beyond the farthest after. Flattened without its first frames - 1
        values and its last, and reshaped to rows shorter by one, each row begins one position earlier.
        """
        graph, heads = self._graph, self._layer.self_attn_weights.heads
        frames = graph.size(rows, 1)
        shorter = graph.op("Sub", frames, graph.integers(1))
        flat = graph.op("Reshape", by_position, graph.integers(0, heads, -1))
        inner = graph.op("Slice", flat, shorter, graph.integers(-1), graph.integers(2))
        shape = graph.op("Concat", graph.integers(0, heads), frames, graph.integers(-1), axis=0)
        return graph.op("Slice", graph.op("Reshape", inner, shape), graph.integers(0), frames, graph.integers(3))

    def _attention(self, module: Attention, rows: str, weights: str) -> str:
        graph, heads = self._graph, self._layer.self_attn_weights.heads
        values = self._by_head(build_linear(graph, module.in_proj, rows), heads)
        attended = graph.op("Transpose", graph.op("MatMul", weights, values), perm=(0, 2, 1, 3))
        joined = graph.op("Reshape", attended, graph.integers(0, 0, module.out_proj.in_features))
        return build_linear(graph, module.out_proj, joined)

    def _gated_attention(self, rows: str, weights: str) -> str:
        graph, module = self._graph, self._layer.nonlin_attention
        hidden = module.out_proj.in_features
        wide = build_linear(graph, module.in_proj, rows)
        gate, values, after = graph.ops("Split", wide, graph.integers(hidden, hidden, hidden), count=3, axis=2)
        first = graph.op("Squeeze", graph.slice(weights, 0, 1, 1), graph.integers(1))
        attended = graph.op("MatMul", first, graph.op("Mul", values, graph.op("Tanh", gate)))
        return build_linear(graph, module.out_proj, graph.op("Mul", attended, after))

    def _feed_forward(self, module: FeedForward, rows: str) -> str:
        activated = _build_shifted_swoosh(self._graph, build_linear(self._graph, module.in_proj, rows))
        return build_linear(self._graph, module.out_proj, activated)

    def _convolution(self, module: Convolution, rows: str) -> str:
        graph, conv = self._graph, module.depthwise_conv
        width, _, kernel = conv.weight.shape
        wide = build_linear(graph, module.in_proj, rows)
        values, gate = graph.ops("Split", wide, graph.integers(width, width), count=2, axis=2)
        gated = graph.op("Mul", values, graph.op("Sigmoid", gate))
        if self._context.mask is not None:
            gated = graph.op("Mul", gated, self._context.mask.frames)
        # As an image of height 1: ONNX Runtime has its fastest convolutions for those.
        image = graph.op("Unsqueeze", graph.op("Transpose", gated, perm=(0, 2, 1)), graph.integers(2))
        weight, bias = graph.constant(as_array(conv.weight[:, :, None])), graph.constant(as_array(conv.bias))
        pads = (0, kernel // 2, 0, kernel // 2)
        convolved = graph.op("Conv", image, weight, bias, group=width, kernel_shape=(1, kernel), pads=pads)
        out = graph.op("Transpose", graph.op("Squeeze", convolved, graph.integers(2)), perm=(0, 2, 1))
        return build_linear(graph, module.out_proj, _build_shifted_swoosh(graph, out))

    def _norm(self, rows: str) -> str:
        graph, norm = self._graph, self._layer.norm
        centred = graph.op("Sub", rows, graph.constant(as_array(norm.bias)))
        power = graph.op("ReduceMean", graph.op("Mul", centred, centred), axes=[-1], keepdims=1)
        scale = graph.op("Div", graph.scalar(norm.log_scale.exp().item()), graph.op("Sqrt", power))
        return graph.op("Mul", rows, scale)


def _build_shifted_swoosh(graph: GraphBuilder, rows: str) -> str:
    """Softplus as max(x, 0) - log(sigmoid(|x|)): ONNX Runtime's own takes four times as long as these together."""
    soft = graph.op("Log", graph.op("Sigmoid", graph.op("Abs", rows)))
    # The rest of softplus(x) - 0.08 x is 0.92 x above 0 and -0.08 x below.
    linear = graph.op("LeakyRelu", rows, alpha=-SLOPE / (1 - SLOPE))
    return graph.op("Sub", graph.op("Mul", linear, graph.scalar(1 - SLOPE)), soft)


def _build_lerp(graph: GraphBuilder, start: str, end: str, weight: Tensor) -> str:
    change = graph.op("Mul", graph.op("Sub", end, start), graph.constant(as_array(weight)))
    return graph.op("Add", start, change)


def _build_relative_positions(graph: GraphBuilder, frames: str, width: int) -> str:
    """The encoding of every relative position from -(frames - 1) to frames, one to spare, [1, 2 * frames, width]."""
    axis = graph.integers(0)
    least = graph.op("Sub", graph.integers(1), frames)
    end = graph.op("Add", frames, graph.integers(1))
    one = graph.op("Squeeze", graph.integers(1), axis)
    positions = graph.op("Range", graph.op("Squeeze", least, axis), graph.op("Squeeze", end, axis), one)
    distance = graph.op("Cast", positions, to=FLOAT)
    scale = math.sqrt(width)
    logarithm = graph.op("Log", graph.op("Add", graph.op("Abs", distance), graph.scalar(scale)))
    magnitude = graph.op("Sub", logarithm, graph.scalar(math.log(scale)))
    compressed = graph.op("Mul", graph.op("Sign", distance), magnitude)
    angle = graph.op("Atan", graph.op("Mul", compressed, graph.scalar(scale * 2 * math.pi / width)))
    frequencies = graph.constant(np.arange(1, width // 2 + 1, dtype=np.float32))
    angles = graph.op("Mul", graph.op("Unsqueeze", angle, graph.integers(1)), frequencies)
    pairs = [graph.op("Unsqueeze", graph.op(wave, angles), graph.integers(2)) for wave in ("Cos", "Sin")]
    encoding = graph.op("Reshape", graph.op("Concat", *pairs, axis=2), graph.integers(1, -1, width))
    # The last column is 1 at every position.
    last = np.arange(width) == width - 1
    return graph.op("Where", graph.constant(last), graph.scalar(1.0), encoding)
