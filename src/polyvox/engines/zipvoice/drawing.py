"""An ONNX graph under construction."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
_OPSET = 17
_IR_VERSION = 8

Dimensions = Sequence[int | str]
Attribute = float | Sequence[int] | onnx.TensorProto


class Drawing:
    """Collects operations and weights; values go by the names that its methods return."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._whole: dict[tuple[int, ...], str] = {}

    def op(self, kind: str, *inputs: str, **attributes: Attribute) -> str:
        """The value that one operation makes."""
        return self.ops(kind, *inputs, count=1, **attributes)[0]

    def ops(self, kind: str, *inputs: str, count: int, **attributes: Attribute) -> list[str]:
        """The values that an operation of several makes."""
        made = [f"{kind}_{len(self._nodes)}_{index}" for index in range(count)]
        node = helper.make_node(kind, list(inputs), made)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
        self._nodes.append(node)
        return made

    def weight(self, values: npt.ArrayLike) -> str:
        """Values of the graph's own, as they are typed."""
        name = f"weight_{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def scalar(self, value: float) -> str:
        """A number, in single precision."""
        return self.weight(np.array(value, np.float32).reshape(()))

    def whole(self, *values: int) -> str:
        """A list of whole numbers, such as a shape or axes; the same list is kept once."""
        if values not in self._whole:
            self._whole[values] = self.weight(np.array(values, np.int64))
        return self._whole[values]

    def cut(self, value: str, start: int, end: int, axis: int) -> str:
        """A part along one axis."""
        return self.op("Slice", value, self.whole(start), self.whole(end), self.whole(axis))

    def size(self, value: str, axis: int) -> str:
        """How long a value is along one axis, as a list of one."""
        return self.op("Shape", value, start=axis, end=axis + 1)

    def model(
        self,
        inputs: Mapping[str, tuple[int, Dimensions]],
        outputs: Mapping[str, tuple[str, Dimensions]],
        notes: Mapping[str, str],
    ) -> onnx.ModelProto:
        """The whole graph: inputs by their types and shapes, outputs by the values they are and their shapes."""
        nodes = [*self._nodes, *(helper.make_node("Identity", [value], [name]) for name, (value, _) in outputs.items())]
        graph = helper.make_graph(
            nodes,
            "zipvoice",
            [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
            [helper.make_tensor_value_info(name, FLOAT, shape) for name, (_, shape) in outputs.items()],
            self._weights,
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", _OPSET)],
            ir_version=_IR_VERSION,
            producer_name="polyvox",
        )
        helper.set_model_props(model, dict(notes))
        return model
