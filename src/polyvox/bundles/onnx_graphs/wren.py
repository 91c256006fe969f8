"""Wren's decoder as three ONNX graphs: `plan` once for an utterance, `filters` and `refiner` for each piece of it.

The blocks of the last two take and return their state, the last rows that a depthwise convolution still needs, so a
piece costs no more than its own frames and equals that part of the whole. A block's output is three rows behind its
input. At either end of an utterance stand three rows of zeros: as the first state, and as `tail` behind the last piece.

What the graphs take and give has no batch axis: rows are [frames, width]. What lies between the graphs, Fourier
transforms and overlap-add, is cheaper outside of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from polyvox.bundles.checkpoint import Weights
from polyvox.bundles.onnx_graphs.builder import FLOAT, GraphBuilder, serialize

Precision = Literal["float32", "int8"]
Array = npt.NDArray[np.float32]
Ranges = Mapping[str, tuple[float, float]]
"""Least and greatest input of a layer, by its name."""

KERNEL = 7
"""Rows of a depthwise convolution."""
_NO_RANGES: Ranges = MappingProxyType({})
_EPSILON = 1e-5
_BLOCK = 128
"""Inputs that share one scale in 8 bits."""
_IN_INTEGERS = 4
"""The accuracy level at which ONNX Runtime multiplies integers."""
CORRECTION_SCALE = 0.25
_PRECISE = frozenset({"head", "refiner.corrections"})
"""Layers whose outputs are log-magnitudes, phases and corrections of them: 16 bits where the others have 8."""


@dataclass(frozen=True, slots=True)
class WrenGraphs:
    """The serialised graphs."""

    plan: bytes
    filters: bytes
    refiner: bytes


def wren_graphs(weights: Weights, precision: Precision = "float32", ranges: Ranges = _NO_RANGES) -> WrenGraphs:
    """Build the graphs from a checkpoint's float32 weights.

    In 8 bits, layers whose inputs' ranges are known take less time.
    """
    return WrenGraphs(*(build(_WrenBuilder(weights, precision, ranges)) for build in (_plan, _filters, _refiner)))


class _WrenBuilder(GraphBuilder):
    """A graph over Wren's weights, which are stored in 8 or 16 bits where that is asked for."""

    def __init__(self, weights: Weights, precision: Precision, ranges: Ranges) -> None:
        super().__init__()
        self._weights, self._precision, self._ranges = weights, precision, ranges

    def array(self, name: str) -> Array:
        return self._weights[name].astype(np.float32)

    def block_names(self, prefix: str) -> list[str]:
        """The blocks under a prefix, in order."""
        start, end = f"{prefix}blocks.", ".layer_scale"
        count = sum(name.startswith(start) and name.endswith(end) for name in self._weights)
        return [f"{prefix}blocks.{index}" for index in range(count)]

    def dense(
        self, x: str, weight: Array, bias: Array | None, *, name: str | None = None, precise: bool = False
    ) -> str:
        """x [..., inputs] times a weight as PyTorch lays it out, [outputs, inputs]."""
        if self._precision == "int8" and not precise:
            if name is not None and name in self._ranges:
                return self._in_8_bits_within(x, weight, bias, self._ranges[name])
            return self._in_8_bits(x, weight, bias)
        product = self.op("MatMul", x, self.stored(np.ascontiguousarray(weight.T)))
        return product if bias is None else self.op("Add", product, self.constant(bias))

    def stored(self, values: Array) -> str:
        """A constant, in 16 bits where weights are to be small; ONNX Runtime widens it when it loads the graph."""
        if self._precision == "float32":
            return self.constant(values)
        return self.op("Cast", self.constant(values.astype(np.float16)), to=FLOAT)

    def _in_8_bits(self, x: str, weight: Array, bias: Array | None) -> str:
        """A product of 8-bit integers, both sides scaled in blocks along a row: a row does not depend on the others."""
        outputs, inputs = weight.shape
        blocks = -(-inputs // _BLOCK)
        padded = np.pad(weight, ((0, 0), (0, blocks * _BLOCK - inputs))).reshape(outputs, blocks, _BLOCK)
        scale = np.maximum(np.abs(padded).max(axis=2, keepdims=True), 1e-12) / 127
        rounded = self.constant((np.round(padded / scale) + 128).astype(np.uint8))
        scales = self.constant(scale.reshape(-1).astype(np.float32))
        product = self.ort_op(
            "MatMulNBits", x, rounded, scales,
            K=inputs, N=outputs, bits=8, block_size=_BLOCK, accuracy_level=_IN_INTEGERS,
        )  # fmt: skip
        return product if bias is None else self.op("Add", product, self.constant(bias))

    def _in_8_bits_within(self, x: str, weight: Array, bias: Array | None, bounds: tuple[float, float]) -> str:
        """A product of 8-bit integers; inputs are scaled by their range, and beyond it they are its ends."""
        scale, zero = self._steps(bounds)
        return self._integer_product(self.op("QuantizeLinear", x, scale, zero), scale, zero, weight, bias)

    def _steps(self, bounds: tuple[float, float]) -> tuple[str, str]:
        """The step of 8 bits between bounds, and the step that stands for 0."""
        least, greatest = bounds
        step = (greatest - least) / 255
        return self.scalar(step), self.constant(round(-least / step), np.uint8)

    def _integer_product(self, x: str, scale: str, zero: str, weight: Array, bias: Array | None) -> str:
        weight_scale = np.maximum(np.abs(weight).max(axis=1), 1e-12) / 127
        # Not signed: processors without instructions for it would saturate the sums of two products.
        rounded = (np.round(weight / weight_scale[:, None]) + 128).astype(np.uint8)
        return self.ort_op(
            "MatMulIntegerToFloat", x, self.constant(rounded.T),
            scale, self.constant(weight_scale.astype(np.float32)), zero,
            self.constant(np.full(len(weight), 128, np.uint8)), *([] if bias is None else [self.constant(bias)]),
        )  # fmt: skip

    def linear(self, x: str, name: str, scale: float = 1.0) -> str:
        weight, bias = (np.float32(scale) * self.array(f"{name}.{part}") for part in ("weight", "bias"))
        return self.dense(x, weight, bias, name=name, precise=name in _PRECISE)

    def convolution(self, x: str, name: str) -> str:
        """A convolution that keeps its length, of [1, channels, time]."""
        weight = self.array(f"{name}.weight")
        kernel = weight.shape[2]
        bias = self.constant(self.array(f"{name}.bias"))
        return self.op("Conv", x, self.stored(weight), bias, pads=[kernel // 2] * 2)

    def text_rows(self) -> str:
        """The convolution of aligned text, [1, text frames, width]; what an LSTM gave is between -1 and 1."""
        weight = self.array("text_conv.weight")
        if self._precision == "float32":
            return self.op("Transpose", self.convolution("text", "text_conv"), perm=[0, 2, 1])
        outputs, channels, kernel = weight.shape
        scale, zero = self._steps((-1.0, 1.0))
        rows = self.op("Transpose", self.op("QuantizeLinear", "text", scale, zero), perm=[0, 2, 1])
        outside = self.op("Expand", zero, self.integers(1, kernel // 2, channels))
        padded = self.op("Concat", outside, rows, outside, axis=1)
        ends = [*range(1 - kernel, 0), 2**31]
        seen = self.op("Concat", *(self.slice(padded, at, end, 1) for at, end in enumerate(ends)), axis=2)
        flat = np.ascontiguousarray(weight.transpose(0, 2, 1)).reshape(outputs, -1)
        return self._integer_product(seen, scale, zero, flat, self.array("text_conv.bias"))

    def gelu(self, x: str) -> str:
        if self._precision == "int8":
            # By a hyperbolic tangent: less than a step of 8 bits away, and twice as fast.
            return self.ort_op("FastGelu", x)
        erf = self.op("Erf", self.op("Div", x, self.scalar(np.sqrt(2.0))))
        return self.op("Mul", self.op("Mul", x, self.op("Add", erf, self.scalar(1.0))), self.scalar(0.5))

    def batched(self, x: str) -> str:
        """Rows [rows, width] as a batch of one."""
        return self.op("Unsqueeze", x, self.integers(0))

    def unbatched(self, x: str) -> str:
        """The rows of a batch of one."""
        return self.op("Squeeze", x, self.integers(0))

    def block(self, x: str, name: str, film: tuple[str, str], state: str, tail: str) -> tuple[str, str]:
        """A ConvNeXt block on new rows [1, rows, width]: its output, and its next state."""
        seen = self.op("Concat", state, x, tail, axis=1)
        weight = self.array(f"{name}.depthwise.weight")
        mixed = self.op(
            "Conv", self.op("Transpose", seen, perm=[0, 2, 1]), self.constant(weight),
            self.constant(self.array(f"{name}.depthwise.bias")), group=len(weight),
        )  # fmt: skip
        scale, shift = film
        normed = self.normed_rows(self.op("Transpose", mixed, perm=[0, 2, 1]), _EPSILON)
        modulated = self.op("Add", self.op("Mul", normed, scale), shift)
        inner = self.gelu(self.linear(modulated, f"{name}.expand"))
        layer_scale = self.array(f"{name}.layer_scale")
        added = self.dense(
            inner,
            self.array(f"{name}.contract.weight") * layer_scale[:, None],
            self.array(f"{name}.contract.bias") * layer_scale,
            name=f"{name}.contract",
        )
        reach = KERNEL // 2
        return self.op("Add", self.slice(seen, reach, -reach, 1), added), self.slice(seen, 1 - KERNEL, 2**31, 1)

    def blocks(self, x: str, prefix: str) -> tuple[str, str]:
        """All blocks under a prefix on the graph's inputs `film`, `state` and `tail`."""
        names, states = self.block_names(prefix), []
        tail = self.batched("tail")
        films = self.ops("Split", self.op("Reshape", "film", self.integers(-1)), count=2 * len(names), axis=0)
        kept = self.ops("Split", "state", count=len(names), axis=0)
        for name, scale, shift, state in zip(names, films[::2], films[1::2], kept, strict=True):
            x, after = self.block(x, name, (scale, shift), state, tail)
            states.append(after)
        return x, self.op("Concat", *states, axis=0)

    def films(self, code: str, utterance: str, prefix: str) -> str:
        """Scale and shift of every block [blocks, 2, width], in one product."""
        names = self.block_names(prefix)
        style, bias, whole = (
            np.concatenate([self.array(f"{name}.{part}") for name in names])
            for part in ("film.weight", "film.bias", "utterance_film.weight")
        )
        film = self.op("Add", self.dense(code, style, bias), self.dense(utterance, whole, None))
        scaled = np.array([1, 0], np.float32).reshape(1, 2, 1)
        return self.op("Add", self.op("Reshape", film, self.integers(len(names), 2, -1)), self.constant(scaled))


def _plan(graph: _WrenBuilder) -> bytes:
    """Text, curves, style and frames spread over the utterance to the first block's rows and all blocks' FiLM."""
    text, frames = graph.array("text_conv.weight"), graph.array("utterance_encoder.frame_in.weight")
    rows = graph.op("Unsqueeze", graph.text_rows(), graph.integers(2))
    doubled = graph.op("Reshape", graph.op("Concat", rows, rows, axis=2), graph.integers(1, -1, len(text)))
    curves = graph.op("Transpose", graph.convolution("curves", "curve_conv"), perm=[0, 2, 1])
    hidden = graph.unbatched(graph.op("Add", doubled, curves))
    code = graph.gelu(graph.linear(graph.gelu(graph.linear("style", "style_mlp.0")), "style_mlp.2"))
    utterance = _utterance(graph)
    width = len(text)
    return _serialized(
        graph,
        {"text": (1, text.shape[1], "text_frames"), "curves": (1, 5, "frames"),
         "style": (1, graph.array("style_mlp.0.weight").shape[1]), "utterance": ("spread", frames.shape[1])},
        {"hidden": (hidden, ("frames", width)),
         "film": (graph.films(code, utterance, ""), ("blocks", 2, width)),
         "refiner_film": (graph.films(code, utterance, "refiner."), ("refiner_blocks", 2, "refiner_width"))},
    )  # fmt: skip


def _utterance(graph: _WrenBuilder) -> str:
    """The utterance encoder: mean and deviation over the frames of a small network's outputs."""
    name = "utterance_encoder"
    rows = graph.op("Add", graph.linear("utterance", f"{name}.frame_in"), graph.linear("style", f"{name}.style_in"))
    rows = graph.gelu(graph.linear(graph.gelu(rows), f"{name}.inner"))
    mean = graph.op("ReduceMean", rows, axes=[0], keepdims=1)
    apart = graph.op("Sub", rows, mean)
    variance = graph.op("ReduceMean", graph.op("Mul", apart, apart), axes=[0], keepdims=1)
    deviation = graph.op("Sqrt", graph.op("Add", variance, graph.scalar(_EPSILON)))
    pooled = graph.linear(graph.op("Concat", mean, deviation, axis=1), f"{name}.pooled_in")
    return graph.linear(graph.gelu(pooled), f"{name}.output")


def _filters(graph: _WrenBuilder) -> bytes:
    """Rows of `plan` to hidden states and the parameters of their filters."""
    outputs, width = graph.array("head.weight").shape
    hidden, state = graph.blocks(graph.batched("rows"), "")
    filters = graph.linear(graph.unbatched(graph.normed_rows(hidden, _EPSILON)), "head")
    hidden = graph.unbatched(hidden)
    return _serialized(
        graph,
        {"rows": ("rows", width), **_block_inputs(width)},
        {"hidden": (hidden, ("frames", width)), "filters": (filters, ("frames", outputs)),
         "next_state": (state, ("blocks", KERNEL - 1, width))},
    )  # fmt: skip


def _refiner(graph: _WrenBuilder) -> bytes:
    """Compressed spectra, and the hidden states of their frames, to corrections of spectra."""
    width, bins = graph.array("refiner.spectra_in.weight").shape
    hidden_width = graph.array("refiner.hidden_in.weight").shape[1]
    own = graph.linear(graph.normed_rows(graph.batched("hidden"), _EPSILON), "refiner.hidden_in")
    spectra = graph.linear(graph.batched("spectra"), "refiner.spectra_in")
    rows = graph.op("Add", graph.op("Reshape", own, graph.integers(1, -1, width)), spectra)
    rows, state = graph.blocks(rows, "refiner.")
    corrections = graph.linear(
        graph.unbatched(graph.normed_rows(rows, _EPSILON)), "refiner.corrections", CORRECTION_SCALE
    )
    return _serialized(
        graph,
        {"spectra": ("spectra", bins), "hidden": ("frames", hidden_width), **_block_inputs(width)},
        {"corrections": (corrections, ("corrected", 2 * bins)), "next_state": (state, ("blocks", KERNEL - 1, width))},
    )


def _block_inputs(width: int) -> dict[str, Sequence[int | str]]:
    return {"film": ("blocks", 2, width), "state": ("blocks", "kept", width), "tail": ("tail", width)}


def _serialized(
    graph: GraphBuilder,
    inputs: dict[str, Sequence[int | str]],
    outputs: dict[str, tuple[str, Sequence[int | str]]],
) -> bytes:
    return serialize(graph.model({name: (FLOAT, shape) for name, shape in inputs.items()}, outputs, name="wren"))
