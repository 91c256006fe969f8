"""ONNX graphs of the language model and of the codec's decoder, for the CPU; linear layers in 8 bits where asked."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, TensorProto, helper
from torch import Tensor, nn

from polyvox.bundles.onnx_graphs.builder import FLOAT, INT64, GraphBuilder, Shape
from polyvox.engines.kit.onnx_export import as_array
from polyvox.models.pockettts.codec_decoder import CodecDecoder
from polyvox.models.pockettts.codec_layers import Convolution, Expansion, Residual
from polyvox.models.pockettts.flow_head import FlowHead
from polyvox.models.pockettts.flow_lm import FlowLm
from polyvox.models.pockettts.transformer import Layer, frequencies

INT32: Final = TensorProto.INT32
_Inputs = dict[str, tuple[int, Shape]]
_Outputs = dict[str, tuple[str, Shape]]
_BLOCK = 64
"""Weights of a column, and values of a row, that share one scale: a row's result never depends on other rows."""
_LEAST_WEIGHTS = 1 << 16
"""Smaller layers stay in float32: they would not become faster."""
_EXACT = 4
"""ONNX Runtime's name for products of 8-bit integers, summed without loss."""
_ORT = "com.microsoft"


class _Network(GraphBuilder):
    """A graph builder that knows the layers of both networks."""

    def __init__(self, *, eight_bits: bool) -> None:
        super().__init__()
        self._eight_bits = eight_bits

    def linear(self, rows: str, linear: nn.Linear, *, eight_bits: bool = True) -> str:
        weight = as_array(linear.weight)
        inputs = weight.shape[1]
        if self._eight_bits and eight_bits and inputs % _BLOCK == 0 and weight.size >= _LEAST_WEIGHTS:
            product = self._eight_bit(rows, weight)
        else:
            product = self.op("MatMul", rows, self.constant(np.ascontiguousarray(weight.T)))
        return product if linear.bias is None else self.op("Add", product, self.weights(linear.bias))

    def _eight_bit(self, rows: str, weight: npt.NDArray[np.float32]) -> str:
        outputs, inputs = weight.shape
        blocks = weight.reshape(outputs, inputs // _BLOCK, _BLOCK)
        scales = np.maximum(np.abs(blocks).max(axis=2) / 127, np.finfo(np.float32).tiny).astype(np.float32)
        codes = (np.rint(blocks / scales[..., None]) + 128).astype(np.uint8)
        return self.ort_op(
            "MatMulNBits",
            rows,
            self.constant(codes),
            self.constant(scales),
            K=inputs,
            N=outputs,
            bits=8,
            block_size=_BLOCK,
            accuracy_level=_EXACT,
        )

    def weights(self, values: Tensor) -> str:
        return self.constant(as_array(values))

    def norm(self, rows: str, norm: nn.LayerNorm) -> str:
        width = norm.normalized_shape[0]
        gain = np.ones(width, np.float32) if norm.weight is None else as_array(norm.weight)
        bias = [] if norm.bias is None else [self.weights(norm.bias)]
        return self.op("LayerNormalization", rows, self.constant(gain), *bias, axis=-1, epsilon=norm.eps)

    def feed_forward(self, rows: str, layer: Layer) -> str:
        inner = self.ort_op("FastGelu", self.linear(self.norm(rows, layer.norm2), layer.linear1))
        return self.residual(rows, self.linear(inner, layer.linear2), layer.scale2)

    def residual(self, rows: str, branch: str, scale: Tensor | None) -> str:
        return self.op("Add", rows, branch if scale is None else self.op("Mul", branch, self.weights(scale)))

    def silu(self, rows: str) -> str:
        return self.op("Mul", rows, self.op("Sigmoid", rows))

    def rotations(self, layer: Layer, positions: int) -> tuple[str, str]:
        """Cosines and sines [positions, pairs]."""
        angles = np.arange(positions, dtype=np.float32)[:, None] * as_array(frequencies(layer.self_attn.config))
        return self.constant(np.cos(angles)), self.constant(np.sin(angles))

    def convolution(self, columns: str, convolution: Convolution, state: str | None) -> tuple[str, str | None]:
        """The columns that come out, and those to keep."""
        kept = None
        if state is not None:
            columns = self.op("Concat", state, columns, axis=2)
            kept = self.slice(columns, -convolution.context, np.iinfo(np.int64).max, 2)
        return self.op("Conv", columns, self.weights(convolution.weight), self.weights(convolution.bias)), kept

    def expansion(self, columns: str, expansion: Expansion, state: str) -> tuple[str, str]:
        joined = self.op("Concat", state, columns, axis=2)
        outputs = len(expansion.bias)
        blocks = self.op("Conv", joined, self.weights(expansion.weight), self._repeated_bias(expansion))
        split = self.op("Reshape", blocks, self.integers(0, expansion.rate, outputs, -1))
        spread = self.op("Transpose", split, perm=(0, 2, 3, 1))
        flat = self.op("Reshape", spread, self.integers(0, outputs, -1))
        return flat, self.slice(joined, -1, np.iinfo(np.int64).max, 2)

    def _repeated_bias(self, expansion: Expansion) -> str:
        return self.constant(np.tile(as_array(expansion.bias), expansion.rate))


def flow_lm_graph(lm: FlowLm, head: FlowHead, steps: int, capacity: int, *, eight_bits: bool) -> ModelProto:
    """Rows behind a KV cache that is written in place; the head's latent of the last row, and its end-of-speech logit.

    Inputs: `rows` [batch, n, width], `noise` [batch, latent], `last` [batch], the position of each last row, `total`,
    the positions of the longest sequence, and `key_N` and `value_N` [batch, key heads, capacity, head width], which the
    outputs of the same numbers share.
    """
    graph, sizes = _Network(eight_bits=eight_bits), lm.config.transformer
    rows, inputs, outputs = "rows", _Inputs(), _Outputs()
    cache_shape = ("batch", sizes.key_heads, capacity, sizes.head_width)
    for index, layer in enumerate(lm.layers):
        assert isinstance(layer, Layer)
        cosine, sine = graph.rotations(layer, capacity)
        projected = graph.linear(graph.norm(rows, layer.norm1), layer.self_attn.in_proj)
        attended, keys, values = (f"{name}_{index}" for name in ("attended", "keys", "values"))
        graph.add(
            helper.make_node(
                "GroupQueryAttention",
                [projected, "", "", f"key_{index}", f"value_{index}", "last", "total", cosine, sine],
                [attended, keys, values],
                domain=_ORT,
                num_heads=sizes.heads,
                kv_num_heads=sizes.key_heads,
                do_rotary=1,
                rotary_interleaved=1,
            )
        )
        inputs |= {f"{name}_{index}": (FLOAT, cache_shape) for name in ("key", "value")}
        outputs |= {f"new_key_{index}": (keys, cache_shape), f"new_value_{index}": (values, cache_shape)}
        rows = graph.residual(rows, graph.linear(attended, layer.self_attn.out_proj), None)
        rows = graph.feed_forward(rows, layer)
    last = graph.op("Gather", rows, graph.constant(-1, np.int64), axis=1)
    condition = graph.norm(last, lm.out_norm)
    if lm.z_proj is not None:
        condition = graph.linear(condition, lm.z_proj)
    latent = _head(graph, head, condition, steps)
    given: _Inputs = {
        "rows": (FLOAT, ("batch", "n", sizes.width)),
        "noise": (FLOAT, ("batch", lm.config.codec.latent)),
        "last": (INT32, ("batch",)),
        "total": (INT32, ()),
    }
    found: _Outputs = {
        "latent": (latent, ("batch", lm.config.codec.latent)),
        "end": (graph.linear(condition, lm.out_eos), ("batch", 1)),
    }
    return graph.model(given | inputs, found | outputs)


def _head(graph: _Network, head: FlowHead, condition: str, steps: int) -> str:
    """The latent of the noise; the head stays in float32."""
    given, latent = graph.linear(condition, head.cond_embed, eight_bits=False), "noise"
    times = as_array(head.times(steps))
    for time in times:
        moved = _flow(graph, head, graph.silu(graph.op("Add", given, graph.constant(time))), latent)
        if head.config.kind == "drifting":
            return moved
        if len(times) > 1:
            moved = graph.op("Div", moved, graph.scalar(len(times)))
        latent = graph.op("Add", latent, moved)
    return latent


def _flow(graph: _Network, head: FlowHead, condition: str, latent: str) -> str:
    def linear(rows: str, layer: nn.Module) -> str:
        assert isinstance(layer, nn.Linear)
        return graph.linear(rows, layer, eight_bits=False)

    def modulated(rows: str, norm: nn.Module, shift: str, scale: str) -> str:
        assert isinstance(norm, nn.LayerNorm)
        grown = graph.op("Add", scale, graph.scalar(1))
        return graph.op("Add", graph.op("Mul", graph.norm(rows, norm), grown), shift)

    rows = linear(latent, head.input_proj)
    for block in head.blocks:
        parts = graph.ops("Split", linear(condition, block.get_submodule("modulation")), count=3, axis=-1)
        inner = modulated(rows, block.get_submodule("norm"), parts[0], parts[1])
        inner = graph.silu(linear(inner, block.get_submodule("enter")))
        inner = linear(inner, block.get_submodule("leave"))
        rows = graph.op("Add", rows, graph.op("Mul", parts[2], inner))
    final = head.final
    parts = graph.ops("Split", linear(condition, final.modulation), count=2, axis=-1)
    return linear(modulated(rows, final.norm, parts[0], parts[1]), final.linear)


def decoder_graph(decoder: CodecDecoder, positions: int, *, eight_bits: bool) -> ModelProto:
    """Latents to samples, with all state as inputs `state_N` and outputs `new_state_N` of the same shapes.

    Besides `latents` [batch, frames, latent] it takes `positions` [batch, columns] and `bias` [batch, 1, columns,
    keys], which is what the attention mask adds to the scores. Keys and values are kept as [batch, past, width].
    """
    graph, config = _Network(eight_bits=eight_bits), decoder.config
    shapes = ort_state_shapes(decoder)
    states = [f"state_{index}" for index in range(len(shapes))]
    kept: list[str] = []
    taken = iter(states)
    columns = _upsampled(graph, decoder, graph.linear("latents", decoder.enter), next(taken), kept)
    rows = graph.op("Transpose", columns, perm=(0, 2, 1))
    sizes = config.decoder_transformer
    for layer in decoder.transformer.layers:
        assert isinstance(layer, Layer)
        cosine, sine = graph.rotations(layer, positions)
        projected = graph.linear(graph.norm(rows, layer.norm1), layer.self_attn.in_proj)
        query, key, value = graph.ops("Split", projected, count=3, axis=-1)
        query, key = (
            graph.ort_op("RotaryEmbedding", each, "positions", cosine, sine, interleaved=1, num_heads=sizes.heads)
            for each in (query, key)
        )
        key, value = (graph.op("Concat", next(taken), each, axis=1) for each in (key, value))
        past = decoder.transformer.past
        kept += [graph.slice(each, -past, np.iinfo(np.int64).max, 1) for each in (key, value)]
        attended = graph.ort_op("MultiHeadAttention", query, key, value, "", "", "bias", num_heads=sizes.heads)
        rows = graph.residual(rows, graph.linear(attended, layer.self_attn.out_proj), layer.scale1)
        rows = graph.feed_forward(rows, layer)
    columns = graph.op("Transpose", rows, perm=(0, 2, 1))
    samples = _waveform(graph, decoder, columns, taken, kept)
    inputs: _Inputs = {
        "latents": (FLOAT, ("batch", "frames", config.latent)),
        "positions": (INT64, ("batch", "columns")),
        "bias": (FLOAT, ("batch", 1, "columns", "keys")),
    }
    inputs |= {name: (FLOAT, ("batch", *shape)) for name, shape in zip(states, shapes, strict=True)}
    outputs: _Outputs = {"samples": (samples, ("batch", 1, "samples"))}
    outputs |= {f"new_{name}": (new, ("batch", *shape)) for name, new, shape in zip(states, kept, shapes, strict=True)}
    return graph.model(inputs, outputs)


def ort_state_shapes(decoder: CodecDecoder) -> list[tuple[int, ...]]:
    """Shapes of a stream's state in the graph; keys and values have all heads side by side."""
    keys = len(decoder.transformer.state_shapes)
    shapes = decoder.state_shapes()
    wide = [(past, heads * width) for heads, past, width in shapes[1 : 1 + keys]]
    return [shapes[0], *wide, *shapes[1 + keys :]]


def _upsampled(graph: _Network, decoder: CodecDecoder, rows: str, state: str, kept: list[str]) -> str:
    frames = graph.op("Transpose", rows, perm=(0, 2, 1))
    joined = graph.op("Concat", state, frames, axis=2)
    kept.append(graph.slice(joined, -1, np.iinfo(np.int64).max, 2))
    weight = as_array(decoder.upsample)
    now, before = (graph.constant(weight[:, None, index]) for index in (0, 1))
    last = graph.op("Unsqueeze", graph.slice(joined, 0, -1, 2), graph.integers(3))
    new = graph.op("Unsqueeze", frames, graph.integers(3))
    both = graph.op("Add", graph.op("Mul", new, now), graph.op("Mul", last, before))
    return graph.op("Reshape", both, graph.integers(0, weight.shape[0], -1))


def _waveform(graph: _Network, decoder: CodecDecoder, columns: str, taken: Iterator[str], kept: list[str]) -> str:
    def convolved(columns: str, convolution: Convolution) -> str:
        result, new = graph.convolution(columns, convolution, next(taken) if convolution.context else None)
        kept.extend([] if new is None else [new])
        return result

    columns = convolved(columns, decoder.first)
    for stage in decoder.stages:
        expand, residual = stage.get_submodule("expand"), stage.get_submodule("residual")
        assert isinstance(expand, Expansion)
        assert isinstance(residual, Residual)
        columns, new = graph.expansion(graph.op("Elu", columns), expand, next(taken))
        kept.append(new)
        inner = convolved(graph.op("Elu", columns), residual.enter)
        columns = graph.op("Add", columns, convolved(graph.op("Elu", inner), residual.leave))
    return convolved(graph.op("Elu", columns), decoder.last)
