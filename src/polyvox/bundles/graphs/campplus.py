"""CAM++, which tells speakers apart: a two-dimensional front, dense time-delay layers with context masks, statistics.

After Wang et al., "CAM++: A Fast and Efficient Network for Speaker Verification Using Context-Aware Masking" (2023).
"""

import numpy as np

from polyvox.bundles.checkpoint import Weights
from polyvox.bundles.graphs.builder import GraphBuilder

FEATURES, EMBEDDING = 80, 192

# Layers of each dense block, and the reach of their kernels.
_BLOCKS = ((12, 1), (24, 2), (16, 2))
_SEGMENT_FRAMES = 100


def campplus_graph(weights: Weights) -> bytes:
    """`features` [batch, frames, 80], with each bin's mean removed, to `embedding` [batch, 192], not normalised."""
    net = _Network(weights)
    x = net.time_delay(net.front("features"))
    segments = net.segments(x)
    for number, (layers, dilation) in enumerate(_BLOCKS, start=1):
        for layer in range(1, layers + 1):
            x = net.dense_layer(x, f"xvector.block{number}.tdnnd{layer}", dilation, segments)
        x = net.transit(x, f"xvector.transit{number}")
    embedding = net.pooled(net.active(x, "xvector.out_nonlinear.batchnorm"))
    return net.model({"features": ("batch", "frames", FEATURES)}, embedding, ("embedding", ("batch", EMBEDDING)))


class _Network(GraphBuilder):
    def active(self, x: str, norm: str) -> str:
        return self.op("Relu", self.batch_norm(x, norm))

    def front(self, features: str) -> str:
        """Features as a picture of one colour; three times its height is halved, then it becomes channels again."""
        picture = self.op("Unsqueeze", self.op("Transpose", features, perm=[0, 2, 1]), self.constant([1]))
        x = self.active(self.convolution(picture, "head.conv1", pads=[1] * 4), "head.bn1")
        for layer in ("head.layer1", "head.layer2"):
            x = self._residual(self._residual(x, f"{layer}.0", stride=2), f"{layer}.1", stride=1)
        x = self.active(self.convolution(x, "head.conv2", pads=[1] * 4, strides=[2, 1]), "head.bn2")
        return self.op("Reshape", x, self.constant([0, self.channels("head.bn2") * FEATURES // 8, -1]))

    def _residual(self, x: str, name: str, stride: int) -> str:
        strides = [stride, 1]
        y = self.active(self.convolution(x, f"{name}.conv1", pads=[1] * 4, strides=strides), f"{name}.bn1")
        y = self.batch_norm(self.convolution(y, f"{name}.conv2", pads=[1] * 4), f"{name}.bn2")
        if stride > 1:
            x = self.batch_norm(self.convolution(x, f"{name}.shortcut.0", strides=strides), f"{name}.shortcut.1")
        return self.op("Relu", self.op("Add", y, x))

    def time_delay(self, x: str) -> str:
        """From here on there is one frame for every two."""
        y = self.convolution(x, "xvector.tdnn.linear", pads=[2, 2], strides=[2])
        return self.active(y, "xvector.tdnn.nonlinear.batchnorm")

    def segments(self, x: str) -> tuple[str, str]:
        """Two matrices: one spreads what belongs to segments over their frames, the other takes their means."""
        frames = self.op("Squeeze", self.op("Shape", x, start=2, end=3))
        zero, one, length = (self.constant(value) for value in (0, 1, _SEGMENT_FRAMES))
        segment_of = self.op("Div", self.op("Range", zero, frames, one), length)
        count = self.op("Div", self.op("Add", frames, self.constant(_SEGMENT_FRAMES - 1)), length)
        spread = self.op("OneHot", segment_of, count, self.constant([0, 1], np.float32), axis=0)
        mean = self.op("Div", spread, self.op("ReduceSum", spread, self.constant([1]), keepdims=1))
        return spread, self.op("Transpose", mean, perm=[1, 0])

    def dense_layer(self, x: str, name: str, dilation: int, segments: tuple[str, str]) -> str:
        """What a layer finds out joins what it was given; how much of it counts depends on the context."""
        spread, mean = segments
        y = self.convolution(self.active(x, f"{name}.nonlinear1.batchnorm"), f"{name}.linear1")
        y = self.active(y, f"{name}.nonlinear2.batchnorm")
        found = self.convolution(y, f"{name}.cam_layer.linear_local", pads=[dilation, dilation], dilations=[dilation])
        context = self.op("Add", self.op("ReduceMean", y, axes=[2], keepdims=1), self.op("MatMul", y, mean))
        context = self.op("Relu", self.convolution(context, f"{name}.cam_layer.linear1"))
        mask = self.op("Sigmoid", self.convolution(context, f"{name}.cam_layer.linear2"))
        return self.op("Concat", x, self.op("Mul", found, self.op("MatMul", mask, spread)), axis=1)

    def transit(self, x: str, name: str) -> str:
        """Half as many channels."""
        return self.convolution(self.active(x, f"{name}.nonlinear.batchnorm"), f"{name}.linear")

    def pooled(self, x: str) -> str:
        """Mean and standard deviation (of a sample, so with one frame less in the divisor) of each channel."""
        mean = self.op("ReduceMean", x, axes=[2], keepdims=1)
        squares = self.op("ReduceSumSquare", self.op("Sub", x, mean), axes=[2], keepdims=1)
        others = self.op("Sub", self.op("Shape", x, start=2, end=3), self.constant([1]))
        variance = self.op("Div", squares, self.op("CastLike", others, squares))
        statistics = self.op("Concat", mean, self.op("Sqrt", variance), axis=1)
        dense = self.convolution(statistics, "xvector.dense.linear")
        return self.op("Squeeze", self.batch_norm(dense, "xvector.dense.nonlinear.batchnorm"), self.constant([2]))
