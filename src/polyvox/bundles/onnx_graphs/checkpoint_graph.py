"""Layers with the weights of a checkpoint, by the names that PyTorch gives its parameters."""

import numpy as np

from polyvox.bundles.checkpoint import Weights
from polyvox.bundles.onnx_graphs.builder import Attribute, GraphBuilder


class CheckpointGraphBuilder(GraphBuilder):
    """A graph over the tensors of a checkpoint, which keep their names as initializers."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self._weights = weights

    def weight(self, name: str) -> str:
        """A tensor of the checkpoint."""
        return self._initializer(name, self._weights[name])

    def convolution(self, x: str, name: str, **attributes: Attribute) -> str:
        """A convolution with the weights of that name, and the bias if there is one."""
        parameters = [self.weight(f"{name}.weight")]
        if f"{name}.bias" in self._weights:
            parameters.append(self.weight(f"{name}.bias"))
        return self.op("Conv", x, *parameters, **attributes)

    def linear(self, x: str, weight: str, bias: str) -> str:
        """x times the transposed weight, plus the bias, on the last axis."""
        transposed = self.op("Transpose", self.weight(weight), perm=[1, 0])
        return self.op("Add", self.op("MatMul", x, transposed), self.weight(bias))

    def batch_norm(self, x: str, name: str) -> str:
        """Batch normalisation by the running statistics; one without weights only centres and scales."""
        mean, variance = self.weight(f"{name}.running_mean"), self.weight(f"{name}.running_var")
        if f"{name}.weight" in self._weights:
            scale, shift = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        else:
            scale, shift = (self.constant(np.full(self.channels(name), value), np.float32) for value in (1, 0))
        return self.op("BatchNormalization", x, scale, shift, mean, variance, epsilon=1e-5)

    def channels(self, norm: str) -> int:
        """The number of channels of a batch normalisation."""
        return len(self._weights[f"{norm}.running_mean"])
