"""Whisper, speech recognition: an encoder of log mel spectra, and a decoder of tokens that listens to it.

The weights are those of a CTranslate2 file, by its names. The large matrices are stored in 8 bits, in blocks of
`_BLOCK` numbers with a scale each, and their products are summed in integers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from polyvox.bundles.checkpoint import Weights
from polyvox.bundles.onnx_graphs.builder import FLOAT, INT64, GraphBuilder, Shape, serialize

FRAMES: Final = 1_500
"""Frames of the encoder, 20 ms each: 30 seconds, whatever is said in them."""
_HEAD: Final = 64
_BLOCK: Final = 64


@dataclass(frozen=True, slots=True)
class WhisperShape:
    """Sizes of one of the models."""

    layers: int
    width: int
    bins: int
    vocabulary: int

    @property
    def heads(self) -> int:
        return self.width // _HEAD

    @classmethod
    def of(cls, weights: Weights) -> "WhisperShape":
        vocabulary, width = weights["decoder/embeddings/weight"].shape
        layers = sum(name.startswith("decoder/") and name.endswith("ffn/linear_0/weight") for name in weights)
        return cls(layers, width, weights["encoder/conv1/weight"].shape[1], vocabulary)


def whisper_encoder_graph(weights: Weights) -> bytes:
    """`mel` [1, bins, 2 * FRAMES] to the keys and values of the decoder's cross-attention, by layer.

    `cross_key_L` is [heads, 64, FRAMES] and `cross_value_L` [heads, FRAMES, 64].
    """
    shape = WhisperShape.of(weights)
    net = _WhisperBuilder(weights, shape)
    x = net.encoded("mel")
    outputs: dict[str, tuple[str, Shape]] = {}
    for layer in range(shape.layers):
        both = net.linear(x, f"decoder/layer_{layer}/attention/linear_1")
        key, value = net.ops("Split", both, count=2, axis=-1)
        outputs[f"cross_key_{layer}"] = (net.heads(key, transposed=True), (shape.heads, _HEAD, FRAMES))
        outputs[f"cross_value_{layer}"] = (net.heads(value), (shape.heads, FRAMES, _HEAD))
    return serialize(net.model({"mel": (FLOAT, (1, shape.bins, 2 * FRAMES))}, outputs))


def whisper_decoder_graph(weights: Weights, alignment: Sequence[tuple[int, int]]) -> bytes:
    """Tokens behind those of a cache to the `logits` [1, vocabulary] of the next, and the cache with them.

    Inputs are `tokens` [1, n], `positions` [n], `mask` [n, past + n], which is added to the scores of self-attention,
    the encoder's outputs, and `key_L`, `value_L` [heads, past, 64]; outputs `new_key_L`, `new_value_L` hold the past
    too. `attention` [heads, n, FRAMES] is the cross-attention of the heads in `alignment`, as (layer, head).
    """
    shape = WhisperShape.of(weights)
    net = _WhisperBuilder(weights, shape)
    x = net.embedded("tokens", "positions")
    outputs: dict[str, tuple[str, Shape]] = {}
    heard: dict[int, str] = {}
    for layer in range(shape.layers):
        name = f"decoder/layer_{layer}"
        change, key, value = net.causal_attention(x, f"{name}/self_attention", f"key_{layer}", f"value_{layer}")
        x = net.op("Add", x, change)
        change, heard[layer] = net.cross_attention(x, name, f"cross_key_{layer}", f"cross_value_{layer}")
        x = net.op("Add", x, change)
        x = net.op("Add", x, net.feed_forward(x, f"{name}/ffn"))
        outputs |= {f"new_key_{layer}": (key, (shape.heads, "all", _HEAD))}
        outputs |= {f"new_value_{layer}": (value, (shape.heads, "all", _HEAD))}
    last = net.slice(net.norm(x, "decoder/layer_norm"), -1, 2**31, 0)
    heads = [net.slice(heard[layer], head, head + 1, 0) for layer, head in alignment]
    outputs["logits"] = (net.product(last, "decoder/embeddings/weight"), (1, shape.vocabulary))
    outputs["attention"] = (net.op("Concat", *heads, axis=0), (len(alignment), "n", FRAMES))
    inputs: dict[str, tuple[int, Shape]] = {
        "tokens": (INT64, (1, "n")),
        "positions": (INT64, ("n",)),
        "mask": (FLOAT, ("n", "all")),
    }
    for layer in range(shape.layers):
        inputs |= {f"cross_key_{layer}": (FLOAT, (shape.heads, _HEAD, FRAMES))}
        inputs |= {f"cross_value_{layer}": (FLOAT, (shape.heads, FRAMES, _HEAD))}
        inputs |= {f"{kind}_{layer}": (FLOAT, (shape.heads, "past", _HEAD)) for kind in ("key", "value")}
    return serialize(net.model(inputs, outputs))


class _WhisperBuilder(GraphBuilder):
    """Layers of Whisper. Activations are [n, width], for there is one recording at a time."""

    def __init__(self, weights: Weights, shape: WhisperShape) -> None:
        super().__init__()
        self._weights = weights
        self._shape = shape

    def weight(self, name: str) -> str:
        return self._initializer(name, self._weights[name].astype(np.float32))

    def encoded(self, mel: str) -> str:
        """The encoder: two convolutions, the second of which halves the frames, and its layers."""
        for index, stride in ((1, 1), (2, 2)):
            parameters = (self.weight(f"encoder/conv{index}/{part}") for part in ("weight", "bias"))
            mel = self.gelu(self.op("Conv", mel, *parameters, pads=[1, 1], strides=[stride]))
        x = self.op("Transpose", self.op("Squeeze", mel, self.integers(0)), perm=[1, 0])
        x = self.op("Add", x, self.weight("encoder/position_encodings/encodings"))
        for layer in range(self._shape.layers):
            name = f"encoder/layer_{layer}"
            x = self.op("Add", x, self.full_attention(x, f"{name}/self_attention"))
            x = self.op("Add", x, self.feed_forward(x, f"{name}/ffn"))
        return self.norm(x, "encoder/layer_norm")

    def embedded(self, tokens: str, positions: str) -> str:
        table = self._initializer(
            "decoder/embeddings/half", self._weights["decoder/embeddings/weight"].astype(np.float16)
        )
        known = self.op("Cast", self.op("Gather", table, self.op("Squeeze", tokens, self.integers(0))), to=FLOAT)
        places = self.op("Gather", self.weight("decoder/position_encodings/encodings"), positions)
        return self.op("Add", known, places)

    def norm(self, x: str, name: str) -> str:
        scale, shift = self.weight(f"{name}/gamma"), self.weight(f"{name}/beta")
        return self.op("LayerNormalization", x, scale, shift, epsilon=1e-5, axis=-1)

    def gelu(self, x: str) -> str:
        return self.ort_op("Gelu", x)

    def product(self, x: str, name: str) -> str:
        """x times the transposed matrix of this name, in 8 bits."""
        matrix = self._weights[name].astype(np.float32)
        outs, ins = matrix.shape
        blocks = matrix.reshape(outs, ins // _BLOCK, _BLOCK)
        scales = np.abs(blocks).max(axis=2) / 127.0
        scales[scales == 0] = 1.0
        stored = (np.rint(blocks / scales[:, :, np.newaxis]) + 128).clip(1, 255).astype(np.uint8)
        return self.ort_op(
            "MatMulNBits",
            x,
            self._initializer(f"{name}/blocks", stored),
            self._initializer(f"{name}/scales", scales.astype(np.float32)),
            K=ins,
            N=outs,
            bits=8,
            block_size=_BLOCK,
            accuracy_level=4,
        )

    def linear(self, x: str, name: str) -> str:
        return self.op("Add", self.product(x, f"{name}/weight"), self.weight(f"{name}/bias"))

    def feed_forward(self, x: str, name: str) -> str:
        inner = self.gelu(self.linear(self.norm(x, f"{name}/layer_norm"), f"{name}/linear_0"))
        return self.linear(inner, f"{name}/linear_1")

    def heads(self, x: str, *, transposed: bool = False) -> str:
        """[n, width] by heads: [heads, n, 64], or transposed [heads, 64, n]."""
        parts = self.op("Reshape", x, self.integers(-1, self._shape.heads, _HEAD))
        return self.op("Transpose", parts, perm=[1, 2, 0] if transposed else [1, 0, 2])

    def joined(self, x: str) -> str:
        """The reverse: [heads, n, 64] as [n, width]."""
        return self.op("Reshape", self.op("Transpose", x, perm=[1, 0, 2]), self.integers(-1, self._shape.width))

    def attention(self, query: str, key: str, value: str, mask: str | None = None) -> tuple[str, str]:
        """The values by their attention, and the attention [heads, n, past]; the key is [heads, 64, past]."""
        scores = self.op("MatMul", self.op("Mul", self.heads(query), self.scalar(_HEAD**-0.5)), key)
        if mask is not None:
            scores = self.op("Add", scores, mask)
        shares = self.op("Softmax", scores, axis=-1)
        return self.joined(self.op("MatMul", shares, value)), shares

    def full_attention(self, x: str, name: str) -> str:
        all_three = self.linear(self.norm(x, f"{name}/layer_norm"), f"{name}/linear_0")
        query, key, value = self.ops("Split", all_three, count=3, axis=-1)
        found, _ = self.attention(query, self.heads(key, transposed=True), self.heads(value))
        return self.linear(found, f"{name}/linear_1")

    def causal_attention(self, x: str, name: str, past_key: str, past_value: str) -> tuple[str, str, str]:
        """The change of x, and the keys and values with those of the past."""
        all_three = self.linear(self.norm(x, f"{name}/layer_norm"), f"{name}/linear_0")
        query, key, value = self.ops("Split", all_three, count=3, axis=-1)
        keys = self.op("Concat", past_key, self.heads(key), axis=1)
        values = self.op("Concat", past_value, self.heads(value), axis=1)
        found, _ = self.attention(query, self.op("Transpose", keys, perm=[0, 2, 1]), values, "mask")
        return self.linear(found, f"{name}/linear_1"), keys, values

    def cross_attention(self, x: str, layer: str, key: str, value: str) -> tuple[str, str]:
        """The change of x, and the attention to the encoder's frames."""
        name = f"{layer}/attention"
        query = self.linear(self.norm(x, f"{name}/layer_norm"), f"{name}/linear_0")
        found, shares = self.attention(query, key, value)
        return self.linear(found, f"{name}/linear_2"), shares
