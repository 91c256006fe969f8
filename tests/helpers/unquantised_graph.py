"""Kokoro's quantised graph with the same 8-bit weights, but nothing between its layers rounded any more."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

_ONE, _ZERO = "unquantised_one", "unquantised_zero"


def unquantised(path: Path, outputs: tuple[str, ...]) -> bytes:
    """The graph in `path`, giving out the inner tensors `outputs` as well."""
    model = onnx.load(path)
    graph = model.graph
    values = {tensor.name: numpy_helper.to_array(tensor).astype(np.float32) for tensor in graph.initializer}
    made = {_ONE: np.float32(1), _ZERO: np.float32(0)}
    nodes = [new for node in graph.node for new in _unquantised(node, values, made)]
    del graph.node[:]
    del graph.value_info[:]
    graph.node.extend(nodes)
    graph.initializer.extend(numpy_helper.from_array(np.asarray(value), name) for name, value in made.items())
    graph.output.extend(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in outputs)
    return model.SerializeToString()


def _unquantised(node, values, made) -> Iterator[onnx.NodeProto]:
    inputs, outputs = list(node.input), list(node.output)
    match node.op_type:
        case "DynamicQuantizeLinear":
            for source, target in zip((inputs[0], _ONE, _ZERO), outputs, strict=True):
                yield helper.make_node("Identity", [source], [target])
        case "ConvInteger" | "MatMulInteger":
            weight = f"{inputs[1]}_unquantised"
            made[weight] = values[inputs[1]] - values[inputs[3]]
            yield _like(node, node.op_type.removesuffix("Integer"), [inputs[0], weight])
        case "DynamicQuantizeLSTM":
            weights = [f"{name}_unquantised" for name in inputs[1:3]]
            for name, quantised, scale, zero in zip(weights, inputs[1:3], inputs[8::2], inputs[9::2], strict=True):
                centred = values[quantised] - values[zero][:, None, None]
                made[name] = np.ascontiguousarray((centred * values[scale][:, None, None]).transpose(0, 2, 1))
            yield _like(node, "LSTM", [inputs[0], *weights, *inputs[3:8]])
        case "Cast" | "Floor" if "bias_quant" in outputs[0]:
            yield helper.make_node("Identity", inputs, outputs)
        case _:
            yield node


def _like(node, operation, inputs) -> onnx.NodeProto:
    new = helper.make_node(operation, inputs, list(node.output))
    new.attribute.extend(node.attribute)
    return new
