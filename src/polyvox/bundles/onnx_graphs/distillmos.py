"""Distill-MOS, a predictor of mean opinion scores: convolutions over the spectrum, a transformer, attention pooling.

After Stahl and Gamper, "Distillation and Pruning for Scalable Self-Supervised Representation-Based Speech Quality
Assessment" (2025).
"""

import numpy as np

from polyvox.bundles.checkpoint import Weights
from polyvox.bundles.onnx_graphs.builder import FLOAT, serialize
from polyvox.bundles.onnx_graphs.checkpoint_graph import CheckpointGraphBuilder

BINS, FRAMES = 161, 768

# Of each convolution, over frequencies and frames.
_STRIDES = ((1, 1), (2, 1), (2, 1), (2, 1), (2, 1), (2, 2))
_CHANNELS = 1024
_LAYERS, _HEADS, _HEAD_SIZE = 7, 8, 25
_TRUNK = "model.transformer_pool_attn"


def distillmos_graph(weights: Weights) -> bytes:
    """`spectrum` [batch, 2, 161, 768], real and imaginary parts, to `mos` [batch], from 1 to 5."""
    net = _DistillMosBuilder(weights)
    x = net.convolutions("spectrum")
    for norm in ("norm_input", "transformer.norm"):
        x = net.batch_norm(x, f"{_TRUNK}.{norm}")
    x = net.linear_named(net.op("Transpose", x, perm=[0, 2, 1]), f"{_TRUNK}.transformer.linear_proj")
    x = net.op("Add", x, net.weight(f"{_TRUNK}.transformer.position_encoding.pe"))
    for layer in range(_LAYERS):
        x = net.encoder_layer(x, f"{_TRUNK}.transformer.transformer_encoder.layers.{layer}")
    x = net.batch_norm(net.op("Transpose", x, perm=[0, 2, 1]), f"{_TRUNK}.norm_trans")
    quality = net.op("Sigmoid", net.pool(net.op("Transpose", x, perm=[0, 2, 1])))
    four, one = (net.constant(value, np.float32) for value in (4, 1))
    mos = net.op("Add", net.op("Mul", quality, four), one)
    return serialize(net.model({"spectrum": (FLOAT, ("batch", 2, BINS, FRAMES))}, {"mos": (mos, ("batch",))}))


class _DistillMosBuilder(CheckpointGraphBuilder):
    def linear_named(self, x: str, name: str) -> str:
        return self.linear(x, f"{name}.weight", f"{name}.bias")

    def convolutions(self, x: str) -> str:
        """The strided convolutions, then frequencies folded into channels: [batch, 1024, frames / 2]."""
        for index, strides in enumerate(_STRIDES):
            # Every other module of the original's sequence is the activation.
            x = self.convolution(x, f"model.cnn.cnn.{2 * index}", strides=strides, pads=[0, 1, 0, 1])
            x = self.op("LeakyRelu", x, alpha=0.1)
        return self.op("Reshape", x, self.constant([0, _CHANNELS, -1], np.int64))

    def encoder_layer(self, x: str, name: str) -> str:
        """A post-norm transformer layer: self-attention, then a feed-forward network."""
        x = self._layer_norm(self.op("Add", x, self._attention(x, f"{name}.self_attn")), f"{name}.norm1")
        inner = self.op("Relu", self.linear_named(x, f"{name}.linear1"))
        return self._layer_norm(self.op("Add", x, self.linear_named(inner, f"{name}.linear2")), f"{name}.norm2")

    def _layer_norm(self, x: str, name: str) -> str:
        weight, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.op("LayerNormalization", x, weight, bias, axis=-1, epsilon=1e-5)

    def _attention(self, x: str, name: str) -> str:
        projected = self.linear(x, f"{name}.in_proj_weight", f"{name}.in_proj_bias")
        by_part = self.op("Reshape", projected, self.constant([0, 0, 3, _HEADS, _HEAD_SIZE], np.int64))
        parts = self.op("Transpose", by_part, perm=[2, 0, 3, 1, 4])
        query, key, value = (self.op("Gather", parts, self.constant(part, np.int64), axis=0) for part in range(3))
        products = self.op("MatMul", query, self.op("Transpose", key, perm=[0, 1, 3, 2]))
        scaled = self.op("Mul", products, self.constant(_HEAD_SIZE**-0.5, np.float32))
        mixed = self.op("MatMul", self.op("Softmax", scaled, axis=-1), value)
        joined = self.op("Reshape", self.op("Transpose", mixed, perm=[0, 2, 1, 3]), self.constant([0, 0, -1], np.int64))
        return self.linear_named(joined, f"{name}.out_proj")

    def pool(self, x: str) -> str:
        """Attention pooling over frames, then the output layer: one value per item."""
        inner = self.op("Relu", self.linear_named(x, f"{_TRUNK}.pool.linear1"))
        shares = self.op("Softmax", self.linear_named(inner, f"{_TRUNK}.pool.linear2"), axis=1)
        weighted = self.op("ReduceSum", self.op("Mul", shares, x), self.constant([1], np.int64), keepdims=0)
        return self.op("Squeeze", self.linear_named(weighted, f"{_TRUNK}.pool.linear3"), self.constant([1], np.int64))
