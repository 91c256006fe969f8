"""An ONNX graph in the making."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from onnx import NodeProto, TensorProto, helper

from polyvox.bundles.checkpoint import Weights

# Fixed here, so that the same weights give the same bytes whichever version of the library writes them.
_OPSET = 17
_IR_VERSION = 8

Shape = Sequence[int | str]


class GraphBuilder:
    """Collects the nodes of one graph over given weights. A tensor is known by its name, which each step returns."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._initializers: dict[str, TensorProto] = {}
        self._nodes: list[NodeProto] = []

    def weight(self, name: str) -> str:
        """One of the weights."""
        return self._keep(name, self._weights[name])

    def constant(self, values: npt.ArrayLike, dtype: type[np.generic] = np.int64) -> str:
        """A small array of the graph's own."""
        return self._keep(f"constant_{len(self._initializers)}", np.asarray(values, dtype))

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:  # noqa: ANN401 - as many kinds as ONNX has
        """One operation with one output."""
        output = f"{kind.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def convolution(self, x: str, name: str, **attributes: Any) -> str:  # noqa: ANN401 - as ONNX names them
        """A convolution with the weights of that name, and the bias if there is one."""
        return self.op("Conv", x, self.weight(f"{name}.weight"), *self._bias(name), **attributes)

    def linear(self, x: str, weight: str, bias: str) -> str:
        """x times the transposed weight, plus the bias, on the last axis."""
        turned = self.op("Transpose", self.weight(weight), perm=[1, 0])
        return self.op("Add", self.op("MatMul", x, turned), self.weight(bias))

    def batch_norm(self, x: str, name: str) -> str:
        """Batch normalisation by the recorded statistics; one without weights only centres and scales."""
        mean, variance = self.weight(f"{name}.running_mean"), self.weight(f"{name}.running_var")
        if f"{name}.weight" in self._weights:
            scale, shift = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        else:
            scale, shift = (self.constant(np.full(self.channels(name), value), np.float32) for value in (1, 0))
        return self.op("BatchNormalization", x, scale, shift, mean, variance, epsilon=1e-5)

    def channels(self, norm: str) -> int:
        """How many channels a batch normalisation is made for."""
        return len(self._weights[f"{norm}.running_mean"])

    def model(self, inputs: dict[str, Shape], result: str, output: tuple[str, Shape]) -> bytes:
        """The whole graph, serialised; `result` is the tensor that becomes its output."""
        name, shape = output
        self._nodes.append(helper.make_node("Identity", [result], [name]))
        graph = helper.make_graph(
            self._nodes,
            "polyvox",
            [helper.make_tensor_value_info(key, TensorProto.FLOAT, value) for key, value in inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)],
            list(self._initializers.values()),
        )
        model = helper.make_model(
            graph, ir_version=_IR_VERSION, opset_imports=[helper.make_opsetid("", _OPSET)], producer_name="polyvox"
        )
        return cast(bytes, model.SerializeToString(deterministic=True))

    def _bias(self, name: str) -> list[str]:
        return [self.weight(f"{name}.bias")] if f"{name}.bias" in self._weights else []

    def _keep(self, name: str, values: npt.NDArray[Any]) -> str:
        kind = helper.np_dtype_to_tensor_dtype(values.dtype)
        if name not in self._initializers:
            self._initializers[name] = helper.make_tensor(name, kind, values.shape, values.tobytes(), raw=True)
        return name
