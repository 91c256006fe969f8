"""The Zipformer as operations of an ONNX graph, with the weights of the network it is drawn from.

All rows of a call are as long as each other: the published graphs have no mask, so neither have these.
"""

import math
from dataclasses import dataclass

import numpy as np
from torch import Tensor, nn

from polyvox.engines.zipvoice.drawing import FLOAT, Drawing
from polyvox.models.zipvoice.zipformer import (
    SLOPE,
    SWOOSH_R,
    Attention,
    Convolution,
    FeedForward,
    Layer,
    Stack,
    Zipformer,
)


@dataclass(frozen=True, slots=True)
class Closing:
    """The last frame is not heard by others: what is added to scores [frames], and how frames count [frames, 1]."""

    scores: str
    counts: str


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What the layers of a stack have in common: distances [1, 2 * frames, width] and a time [batch, 1, width]."""

    distances: str
    moment: str | None
    closing: Closing | None


def drawn_zipformer(
    drawing: Drawing, network: Zipformer, rows: str, time: str | None = None, closing: Closing | None = None
) -> str:
    """Rows [batch, frames, inputs] and, where the network knows time, `time` [1, width]: [batch, frames, outputs]."""
    rows = drawn_linear(drawing, network.in_proj, rows)
    for stack in network.stacks:
        assert isinstance(stack, Stack)
        rows = _DrawnStack(drawing, stack).drawn(rows, time, closing)
    return drawn_linear(drawing, network.out_proj, rows)


def drawn_linear(drawing: Drawing, linear: nn.Linear, rows: str) -> str:
    product = drawing.op("MatMul", rows, drawing.weight(_array(linear.weight.T)))
    return product if linear.bias is None else drawing.op("Add", product, drawing.weight(_array(linear.bias)))


def drawn_swoosh_r(drawing: Drawing, rows: str) -> str:
    shift, offset = SWOOSH_R
    bent = _drawn_shifted_swoosh(drawing, drawing.op("Sub", rows, drawing.scalar(shift)))
    return drawing.op("Sub", bent, drawing.scalar(SLOPE * shift + offset))


class _DrawnStack:
    """One stack of the network."""

    def __init__(self, drawing: Drawing, stack: Stack) -> None:
        self._drawing = drawing
        self._stack = stack

    def drawn(self, rows: str, time: str | None, closing: Closing | None) -> str:
        draw, stack = self._drawing, self._stack
        moment = None if time is None else drawn_linear(draw, stack.time, drawn_swoosh_r(draw, time))
        if stack.rate == 1:
            return self._deepened(rows, moment, closing)
        assert closing is None  # frames that are pooled all count
        pooled = self._deepened(self._pooled(rows), moment, None)
        return _drawn_mix(draw, rows, self._repeated(pooled, rows), stack.mixing)

    def _pooled(self, rows: str) -> str:
        """A weighted mean of every `rate` frames; the last frame is repeated to fill its group."""
        draw, rate = self._drawing, self._stack.rate
        groups = self._groups(rows)
        missing = draw.op("Sub", draw.op("Mul", groups, draw.whole(rate)), draw.size(rows, 1))
        last = draw.cut(rows, -1, np.iinfo(np.int64).max, 1)
        filling = draw.op("Tile", last, draw.op("Concat", draw.whole(1), missing, draw.whole(1), axis=0))
        full = draw.op("Concat", rows, filling, axis=1)
        shape = draw.op("Concat", draw.whole(0), groups, draw.whole(rate, -1), axis=0)
        weights = draw.weight(_array(self._stack.pooling.softmax(dim=0)[:, None]))
        weighted = draw.op("Mul", draw.op("Reshape", full, shape), weights)
        return draw.op("ReduceSum", weighted, draw.whole(2), keepdims=0)

    def _repeated(self, pooled: str, rows: str) -> str:
        """Every frame `rate` times, as many as there were."""
        draw, rate = self._drawing, self._stack.rate
        wide = draw.op("Tile", pooled, draw.whole(1, 1, rate))
        width = len(self._stack.mixing)
        long = draw.op("Reshape", wide, draw.whole(0, -1, width))
        return draw.op("Slice", long, draw.whole(0), draw.size(rows, 1), draw.whole(1))

    def _groups(self, rows: str) -> str:
        draw, rate = self._drawing, self._stack.rate
        filled = draw.op("Add", draw.size(rows, 1), draw.whole(rate - 1))
        return draw.op("Div", filled, draw.whole(rate))

    def _deepened(self, rows: str, moment: str | None, closing: Closing | None) -> str:
        distances = _drawn_distances(self._drawing, self._drawing.size(rows, 1), self._stack.position)
        surroundings = _Surroundings(distances, moment, closing)
        for layer in self._stack.layers:
            assert isinstance(layer, Layer)
            rows = _DrawnLayer(self._drawing, layer, surroundings).drawn(rows)
        return rows


class _DrawnLayer:
    """One layer of a stack, operation for operation as the network has it."""

    def __init__(self, drawing: Drawing, layer: Layer, surroundings: _Surroundings) -> None:
        self._drawing = drawing
        self._layer = layer
        self._surroundings = surroundings

    def drawn(self, rows: str) -> str:
        draw, layer = self._drawing, self._layer
        weights = self._weights(rows)
        out = self._timed(rows)
        out = draw.op("Add", out, self._feed_forward(layer.feed_forward1, out))
        out = draw.op("Add", out, self._gated_attention(out, weights))
        out = draw.op("Add", out, self._attention(layer.self_attn1, out, weights))
        out = self._timed(out)
        out = draw.op("Add", out, self._convolution(layer.conv_module1, out))
        out = draw.op("Add", out, self._feed_forward(layer.feed_forward2, out))
        out = _drawn_mix(draw, rows, out, layer.bypass_mid)
        out = draw.op("Add", out, self._attention(layer.self_attn2, out, weights))
        out = self._timed(out)
        out = draw.op("Add", out, self._convolution(layer.conv_module2, out))
        out = draw.op("Add", out, self._feed_forward(layer.feed_forward3, out))
        return _drawn_mix(draw, rows, self._normed(out), layer.bypass)

    def _timed(self, rows: str) -> str:
        moment = self._surroundings.moment
        return rows if moment is None else self._drawing.op("Add", rows, moment)

    def _weights(self, rows: str) -> str:
        """How much each frame heeds each other, [batch, heads, frames, frames]."""
        draw, module = self._drawing, self._layer.self_attn_weights
        sizes = draw.whole(*(module.heads * size for size in module.sizes))
        query, key, place = draw.ops("Split", drawn_linear(draw, module.in_proj, rows), sizes, count=3, axis=2)
        scores = draw.op("MatMul", self._by_head(query, module.heads), self._by_head(key, module.heads, (0, 2, 3, 1)))
        far = draw.op("MatMul", self._surroundings.distances, draw.weight(_array(module.linear_pos.weight.T)))
        by_distance = draw.op(
            "MatMul", self._by_head(place, module.heads), self._by_head(far, module.heads, (0, 2, 3, 1))
        )
        scores = draw.op("Add", scores, self._by_key(by_distance, rows))
        if self._surroundings.closing is not None:
            scores = draw.op("Add", scores, self._surroundings.closing.scores)
        return draw.op("Softmax", scores, axis=-1)

    def _by_head(self, rows: str, heads: int, order: tuple[int, ...] = (0, 2, 1, 3)) -> str:
        """[batch, n, heads * width] with its four axes (batch, n, heads, width) in another order."""
        parts = self._drawing.op("Reshape", rows, self._drawing.whole(0, 0, heads, -1))
        return self._drawing.op("Transpose", parts, perm=order)

    def _by_key(self, by_distance: str, rows: str) -> str:
        """Scores by distance [batch, heads, frames, 2 * frames] by key, [..., frames].

        Distances run from the farthest before to one beyond the farthest after. Laid out in one line without its first
        frames - 1 and its last value, and folded to rows shorter by one, each row begins one distance earlier.
        """
        draw, heads = self._drawing, self._layer.self_attn_weights.heads
        frames = draw.size(rows, 1)
        shorter = draw.op("Sub", frames, draw.whole(1))
        line = draw.op("Reshape", by_distance, draw.whole(0, heads, -1))
        inner = draw.op("Slice", line, shorter, draw.whole(-1), draw.whole(2))
        shape = draw.op("Concat", draw.whole(0, heads), frames, draw.whole(-1), axis=0)
        return draw.op("Slice", draw.op("Reshape", inner, shape), draw.whole(0), frames, draw.whole(3))

    def _attention(self, module: Attention, rows: str, weights: str) -> str:
        draw, heads = self._drawing, self._layer.self_attn_weights.heads
        values = self._by_head(drawn_linear(draw, module.in_proj, rows), heads)
        heard = draw.op("Transpose", draw.op("MatMul", weights, values), perm=(0, 2, 1, 3))
        joined = draw.op("Reshape", heard, draw.whole(0, 0, module.out_proj.in_features))
        return drawn_linear(draw, module.out_proj, joined)

    def _gated_attention(self, rows: str, weights: str) -> str:
        draw, module = self._drawing, self._layer.nonlin_attention
        hidden = module.out_proj.in_features
        wide = drawn_linear(draw, module.in_proj, rows)
        gate, values, after = draw.ops("Split", wide, draw.whole(hidden, hidden, hidden), count=3, axis=2)
        first = draw.op("Squeeze", draw.cut(weights, 0, 1, 1), draw.whole(1))
        heard = draw.op("MatMul", first, draw.op("Mul", values, draw.op("Tanh", gate)))
        return drawn_linear(draw, module.out_proj, draw.op("Mul", heard, after))

    def _feed_forward(self, module: FeedForward, rows: str) -> str:
        draw = self._drawing
        bent = _drawn_shifted_swoosh(draw, drawn_linear(draw, module.in_proj, rows))
        return drawn_linear(draw, module.out_proj, bent)

    def _convolution(self, module: Convolution, rows: str) -> str:
        draw, conv = self._drawing, module.depthwise_conv
        width, _, kernel = conv.weight.shape
        wide = drawn_linear(draw, module.in_proj, rows)
        values, gate = draw.ops("Split", wide, draw.whole(width, width), count=2, axis=2)
        gated = draw.op("Mul", values, draw.op("Sigmoid", gate))
        if self._surroundings.closing is not None:
            gated = draw.op("Mul", gated, self._surroundings.closing.counts)
        # As a picture one pixel high: ONNX Runtime has its quickest convolutions for those.
        picture = draw.op("Unsqueeze", draw.op("Transpose", gated, perm=(0, 2, 1)), draw.whole(2))
        weight, bias = draw.weight(_array(conv.weight[:, :, None])), draw.weight(_array(conv.bias))
        pads = (0, kernel // 2, 0, kernel // 2)
        near = draw.op("Conv", picture, weight, bias, group=width, kernel_shape=(1, kernel), pads=pads)
        straight = draw.op("Transpose", draw.op("Squeeze", near, draw.whole(2)), perm=(0, 2, 1))
        return drawn_linear(draw, module.out_proj, _drawn_shifted_swoosh(draw, straight))

    def _normed(self, rows: str) -> str:
        draw, norm = self._drawing, self._layer.norm
        apart = draw.op("Sub", rows, draw.weight(_array(norm.bias)))
        power = draw.op("ReduceMean", draw.op("Mul", apart, apart), axes=[-1], keepdims=1)
        scale = draw.op("Div", draw.scalar(norm.log_scale.exp().item()), draw.op("Sqrt", power))
        return draw.op("Mul", rows, scale)


def _drawn_shifted_swoosh(drawing: Drawing, rows: str) -> str:
    """Softplus as max(x, 0) - log(sigmoid(|x|)): ONNX Runtime's own takes four times as long as these together."""
    soft = drawing.op("Log", drawing.op("Sigmoid", drawing.op("Abs", rows)))
    # What is left of softplus(x) - 0.08 x is 0.92 x above 0 and -0.08 x below.
    straight = drawing.op("LeakyRelu", rows, alpha=-SLOPE / (1 - SLOPE))
    return drawing.op("Sub", drawing.op("Mul", straight, drawing.scalar(1 - SLOPE)), soft)


def _drawn_mix(drawing: Drawing, before: str, after: str, share: Tensor) -> str:
    change = drawing.op("Mul", drawing.op("Sub", after, before), drawing.weight(_array(share)))
    return drawing.op("Add", before, change)


def _drawn_distances(drawing: Drawing, frames: str, width: int) -> str:
    """Every distance from -(frames - 1) to frames as cosines and sines, [1, 2 * frames, width]: one to spare."""
    draw = drawing
    axis = draw.whole(0)
    least = draw.op("Sub", draw.whole(1), frames)
    most = draw.op("Add", frames, draw.whole(1))
    one = draw.op("Squeeze", draw.whole(1), axis)
    places = draw.op("Range", draw.op("Squeeze", least, axis), draw.op("Squeeze", most, axis), one)
    distance = draw.op("Cast", places, to=FLOAT)
    scale = math.sqrt(width)
    logarithm = draw.op("Log", draw.op("Add", draw.op("Abs", distance), draw.scalar(scale)))
    bent = draw.op("Mul", draw.op("Sign", distance), draw.op("Sub", logarithm, draw.scalar(math.log(scale))))
    angle = draw.op("Atan", draw.op("Mul", bent, draw.scalar(scale * 2 * math.pi / width)))
    rates = draw.weight(np.arange(1, width // 2 + 1, dtype=np.float32))
    angles = draw.op("Mul", draw.op("Unsqueeze", angle, draw.whole(1)), rates)
    pairs = [draw.op("Unsqueeze", draw.op(wave, angles), draw.whole(2)) for wave in ("Cos", "Sin")]
    code = draw.op("Reshape", draw.op("Concat", *pairs, axis=2), draw.whole(1, -1, width))
    # The last column is 1, whatever the distance.
    last = np.arange(width) == width - 1
    return draw.op("Where", draw.weight(last), draw.scalar(1.0), code)


def _array(tensor: Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return tensor.detach().cpu().float().numpy()
