"""CAM++, a speaker encoder: a 2-D convolutional front end, densely connected TDNN layers with context-aware masks,
statistics pooling.

After Wang et al., "CAM++: A Fast and Efficient Network for Speaker Verification Using Context-Aware Masking" (2023).
"""

import numpy as np

from polyvox.bundles.checkpoint import Weights
from polyvox.bundles.onnx_graphs.builder import FLOAT, serialize
from polyvox.bundles.onnx_graphs.checkpoint_graph import CheckpointGraphBuilder

FEATURES, EMBEDDING = 80, 192

# Layers of each dense block, and the dilation of their kernels.
_BLOCKS = ((12, 1), (24, 2), (16, 2))
_SEGMENT_FRAMES = 100


def campplus_graph(weights: Weights) -> bytes:
    """`features` [batch, frames, 80], with each bin's mean removed, to `embedding` [batch, 192], not normalised."""
    net = _CampPlusBuilder(weights)
    x = net.tdnn(net.front_end("features"))
    segments = net.segments(x)
    for number, (layers, dilation) in enumerate(_BLOCKS, start=1):
        for layer in range(1, layers + 1):
            x = net.dense_layer(x, f"xvector.block{number}.tdnnd{layer}", dilation, segments)
        x = net.transit(x, f"xvector.transit{number}")
    embedding = net.pool(net.norm_relu(x, "xvector.out_nonlinear.batchnorm"))
    model = net.model(
        {"features": (FLOAT, ("batch", "frames", FEATURES))}, {"embedding": (embedding, ("batch", EMBEDDING))}
    )
    return serialize(model)


class _CampPlusBuilder(CheckpointGraphBuilder):
    def norm_relu(self, x: str, norm: str) -> str:
        return self.op("Relu", self.batch_norm(x, norm))

    def front_end(self, features: str) -> str:
        """2-D convolutions that halve the bins three times; what is left of them is folded into the channels."""
        image = self.op("Unsqueeze", self.op("Transpose", features, perm=[0, 2, 1]), self.constant([1], np.int64))
        x = self.norm_relu(self.convolution(image, "head.conv1", pads=[1] * 4), "head.bn1")
        for layer in ("head.layer1", "head.layer2"):
            x = self._residual(self._residual(x, f"{layer}.0", stride=2), f"{layer}.1", stride=1)
        x = self.norm_relu(self.convolution(x, "head.conv2", pads=[1] * 4, strides=[2, 1]), "head.bn2")
        return self.op("Reshape", x, self.constant([0, self.channels("head.bn2") * FEATURES // 8, -1], np.int64))

    def _residual(self, x: str, name: str, stride: int) -> str:
        strides = [stride, 1]
        y = self.norm_relu(self.convolution(x, f"{name}.conv1", pads=[1] * 4, strides=strides), f"{name}.bn1")
        y = self.batch_norm(self.convolution(y, f"{name}.conv2", pads=[1] * 4), f"{name}.bn2")
        if stride > 1:
            x = self.batch_norm(self.convolution(x, f"{name}.shortcut.0", strides=strides), f"{name}.shortcut.1")
        return self.op("Relu", self.op("Add", y, x))

    def tdnn(self, x: str) -> str:
        """The first TDNN layer, which halves the frame rate."""
        y = self.convolution(x, "xvector.tdnn.linear", pads=[2, 2], strides=[2])
        return self.norm_relu(y, "xvector.tdnn.nonlinear.batchnorm")

    def segments(self, x: str) -> tuple[str, str]:
        """Two matrices: [segments, frames] broadcasts segments to their frames, [frames, segments] averages these."""
        frames = self.op("Squeeze", self.op("Shape", x, start=2, end=3))
        zero, one, length = (self.constant(value, np.int64) for value in (0, 1, _SEGMENT_FRAMES))
        segment_of = self.op("Div", self.op("Range", zero, frames, one), length)
        count = self.op("Div", self.op("Add", frames, self.constant(_SEGMENT_FRAMES - 1, np.int64)), length)
        spread = self.op("OneHot", segment_of, count, self.constant([0, 1], np.float32), axis=0)
        mean = self.op("Div", spread, self.op("ReduceSum", spread, self.constant([1], np.int64), keepdims=1))
        return spread, self.op("Transpose", mean, perm=[1, 0])

    def dense_layer(self, x: str, name: str, dilation: int, segments: tuple[str, str]) -> str:
        """A TDNN layer whose output, weighted by the context-aware mask, is concatenated to its input."""
        spread, mean = segments
        y = self.convolution(self.norm_relu(x, f"{name}.nonlinear1.batchnorm"), f"{name}.linear1")
        y = self.norm_relu(y, f"{name}.nonlinear2.batchnorm")
        local = self.convolution(y, f"{name}.cam_layer.linear_local", pads=[dilation, dilation], dilations=[dilation])
        context = self.op("Add", self.op("ReduceMean", y, axes=[2], keepdims=1), self.op("MatMul", y, mean))
        context = self.op("Relu", self.convolution(context, f"{name}.cam_layer.linear1"))
        mask = self.op("Sigmoid", self.convolution(context, f"{name}.cam_layer.linear2"))
        return self.op("Concat", x, self.op("Mul", local, self.op("MatMul", mask, spread)), axis=1)

    def transit(self, x: str, name: str) -> str:
        """A pointwise convolution that halves the channels."""
        return self.convolution(self.norm_relu(x, f"{name}.nonlinear.batchnorm"), f"{name}.linear")

    def pool(self, x: str) -> str:
        """Mean and standard deviation of each channel over time (Bessel-corrected), then the embedding layer."""
        mean = self.op("ReduceMean", x, axes=[2], keepdims=1)
        squares = self.op("ReduceSumSquare", self.op("Sub", x, mean), axes=[2], keepdims=1)
        others = self.op("Sub", self.op("Shape", x, start=2, end=3), self.constant([1], np.int64))
        variance = self.op("Div", squares, self.op("CastLike", others, squares))
        statistics = self.op("Concat", mean, self.op("Sqrt", variance), axis=1)
        dense = self.convolution(statistics, "xvector.dense.linear")
        return self.op(
            "Squeeze", self.batch_norm(dense, "xvector.dense.nonlinear.batchnorm"), self.constant([2], np.int64)
        )
