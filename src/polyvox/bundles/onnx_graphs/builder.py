"""An ONNX graph under construction, and its serialised form."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

# Fixed here, so that the same weights give the same bytes whichever version of the library writes them.
_OPSET: Final = 17
_IR_VERSION: Final = 8
_ORT_DOMAIN: Final = "com.microsoft"

FLOAT: Final = TensorProto.FLOAT
INT64: Final = TensorProto.INT64

Shape = Sequence[int | str]
Attribute = float | Sequence[int] | TensorProto


class GraphBuilder:
    """Collects nodes and initializers. A tensor goes by its name, which each method returns."""

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._initializers: dict[str, TensorProto] = {}
        self._integers: dict[tuple[int, ...], str] = {}

    @property
    def nodes(self) -> list[NodeProto]:
        return self._nodes

    @property
    def initializers(self) -> list[TensorProto]:
        return list(self._initializers.values())

    def add(self, node: NodeProto) -> None:
        """Add a node that was made elsewhere."""
        self._nodes.append(node)

    def op(self, kind: str, *inputs: str, **attributes: Attribute) -> str:
        """Add a node with one output."""
        return self._node(kind, inputs, [f"{kind.lower()}_{len(self._nodes)}"], attributes)[0]

    def ort_op(self, kind: str, *inputs: str, **attributes: Attribute) -> str:
        """Add a node with one output, of one of ONNX Runtime's own operators."""
        return self._node(kind, inputs, [f"{kind.lower()}_{len(self._nodes)}"], attributes, _ORT_DOMAIN)[0]

    def ops(self, kind: str, *inputs: str, count: int, **attributes: Attribute) -> list[str]:
        """Add a node with `count` outputs, such as Split."""
        outputs = [f"{kind.lower()}_{len(self._nodes)}_{index}" for index in range(count)]
        return self._node(kind, inputs, outputs, attributes)

    def constant(self, values: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> str:
        """Add an array as an initializer; without `dtype` it keeps its own, so weights are float32 as given."""
        return self._initializer(f"constant_{len(self._initializers)}", np.asarray(values, dtype))

    def scalar(self, value: float) -> str:
        """Add a float32 constant without dimensions."""
        return self.constant(value, np.float32)

    def integers(self, *values: int) -> str:
        """Add an int64 vector, such as a shape or axes; equal vectors share one initializer."""
        if values not in self._integers:
            self._integers[values] = self.constant(values, np.int64)
        return self._integers[values]

    def slice(self, tensor: str, start: int, end: int, axis: int) -> str:
        """Take `start` to `end` along one axis."""
        return self.op("Slice", tensor, self.integers(start), self.integers(end), self.integers(axis))

    def size(self, tensor: str, axis: int) -> str:
        """The length of one axis, as an int64 vector of one element."""
        return self.op("Shape", tensor, start=axis, end=axis + 1)

    def normed_rows(self, x: str, epsilon: float) -> str:
        """Each row of x [1, rows, width], to mean 0 and variance 1: layer norm without weights.

        ONNX Runtime's LayerNormalization takes three times as long. In steps of ReduceMean a row would be rounded
        otherwise in another batch of rows.
        """
        rows = self.size(x, 1)
        scale, shift = (
            self.op("ConstantOfShape", rows, value=helper.make_tensor("", FLOAT, [1], [value])) for value in (1.0, 0.0)
        )
        return self.op("InstanceNormalization", x, scale, shift, epsilon=epsilon)

    def model(
        self,
        inputs: Mapping[str, tuple[int, Shape]],
        outputs: Mapping[str, tuple[str, Shape]],
        *,
        name: str = "polyvox",
        metadata: Mapping[str, str] | None = None,
    ) -> ModelProto:
        """The model: inputs by element type and shape, float32 outputs by the tensor they take and shape."""
        ends = [helper.make_node("Identity", [tensor], [output]) for output, (tensor, _) in outputs.items()]
        graph = helper.make_graph(
            [*self._nodes, *ends],
            name,
            [helper.make_tensor_value_info(key, kind, shape) for key, (kind, shape) in inputs.items()],
            [helper.make_tensor_value_info(key, FLOAT, shape) for key, (_, shape) in outputs.items()],
            list(self._initializers.values()),
        )
        domains = sorted({node.domain for node in self._nodes if node.domain})
        opsets = [helper.make_opsetid("", _OPSET), *(helper.make_opsetid(domain, 1) for domain in domains)]
        model = helper.make_model(graph, ir_version=_IR_VERSION, opset_imports=opsets, producer_name="polyvox")
        helper.set_model_props(model, dict(metadata or {}))
        return model

    def _node(
        self,
        kind: str,
        inputs: Sequence[str],
        outputs: list[str],
        attributes: Mapping[str, Attribute],
        domain: str | None = None,
    ) -> list[str]:
        node = helper.make_node(kind, list(inputs), outputs, domain=domain)
        node.attribute.extend(helper.make_attribute(key, value) for key, value in sorted(attributes.items()))
        self._nodes.append(node)
        return outputs

    def _initializer(self, name: str, values: npt.NDArray[Any]) -> str:
        """Add an array under a name; one that is there already is not added again."""
        if name not in self._initializers:
            # Not np.ascontiguousarray: it gives a scalar a dimension.
            self._initializers[name] = numpy_helper.from_array(np.asarray(values, order="C"), name)
        return name


def shape_of(value: ValueInfoProto) -> tuple[int | str, ...]:
    """The declared shape of an input or output; a name stands for a length that varies."""
    return tuple(side.dim_param or side.dim_value for side in value.type.tensor_type.shape.dim)


def serialize(model: ModelProto) -> bytes:
    """The bytes of a model; the same model gives the same bytes."""
    return cast(bytes, model.SerializeToString(deterministic=True))
