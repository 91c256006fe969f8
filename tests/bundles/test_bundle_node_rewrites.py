"""Rewritten nodes against the ones they stand for."""

from collections.abc import Callable

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

from helpers.tables import each_row
from polyvox.bundles.onnx_graphs.builder import serialize
from polyvox.bundles.onnx_graphs.node_rewrites import rewritten
from polyvox.onnx_session import open_session

RNG = np.random.default_rng(1)
ROWS, CHANNELS, OUTPUTS = 9, 16, 8

Case = tuple[list[NodeProto], dict[str, np.ndarray], tuple[int, ...]]


def wave(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def node(kind: str, inputs: str, outputs: str, **attributes: object) -> NodeProto:
    domain = "com.microsoft" if kind == "SkipLayerNormalization" else None
    return helper.make_node(kind, inputs.split(), outputs.split(), domain=domain, **attributes)


def layer_norm() -> Case:
    nodes = [node("LayerNormalization", "x weight bias", "y", axis=-1, epsilon=1e-3)]
    return nodes, {"weight": wave(CHANNELS), "bias": wave(CHANNELS)}, (1, ROWS, CHANNELS)


def skip_layer_norm() -> Case:
    nodes = [node("Mul", "x x", "twice"), node("SkipLayerNormalization", "x twice weight bias", "y", epsilon=1e-3)]
    return nodes, {"weight": wave(CHANNELS), "bias": wave(CHANNELS)}, (1, ROWS, CHANNELS)


def adaptive_norm() -> Case:
    nodes = [
        node("ReduceMean", "x axes", "mean", keepdims=1),
        node("Sub", "x mean", "apart"),
        node("Mul", "apart apart", "square"),
        node("ReduceMean", "square axes", "variance", keepdims=1),
        node("Add", "variance epsilon", "added"),
        node("Sqrt", "added", "deviation"),
        node("Div", "apart deviation", "normed"),
        node("Mul", "scale normed", "scaled"),
        node("Add", "scaled shift", "y"),
    ]
    given = {"axes": np.array([2]), "epsilon": np.float32(0.1), "scale": wave(1, CHANNELS, 1)}
    return nodes, {**given, "shift": wave(1, CHANNELS, 1)}, (1, CHANNELS, ROWS)


def convolution(kernel: int, *, biased: bool = True) -> Callable[[], Case]:
    def case() -> Case:
        reach, summed = kernel // 2, "added" if biased else "integers"
        nodes = [
            node("DynamicQuantizeLinear", "x", "q q_scale q_zero"),
            node("ConvInteger", "q weight q_zero zero", "integers", kernel_shape=[kernel], pads=[reach, reach]),
            node("Mul", "q_scale weight_scale", "scale"),
            *(_quantized_bias() if biased else []),
            node("Cast", summed, "floats", to=TensorProto.FLOAT),
            node("Mul", "floats scale", "y"),
        ]
        weight = RNG.integers(0, 256, (OUTPUTS, CHANNELS, kernel), np.uint8)
        given = {"weight": weight, "zero": np.uint8(121), "weight_scale": np.float32(0.02)}
        return nodes, {**given, "bias": wave(OUTPUTS), "shape": np.array([1, -1, 1])}, (1, CHANNELS, ROWS)

    return case


def _quantized_bias() -> list[NodeProto]:
    return [
        node("Div", "bias scale", "steps"),
        node("Floor", "steps", "whole"),
        node("Cast", "whole", "bias_q", to=TensorProto.INT32),
        node("Reshape", "bias_q shape", "column"),
        node("Add", "integers column", "added"),
    ]


def attention() -> Case:
    heads, width = 12, 48
    nodes = [
        *(
            each
            for name, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3]))
            for each in (
                node("MatMul", f"x {name}", f"{name}_rows"),
                node("Reshape", f"{name}_rows split", f"{name}_split"),
                node("Transpose", f"{name}_split", f"{name}_heads", perm=order),
            )
        ),
        node("Mul", "query_heads root", "q"),
        node("Mul", "key_heads root", "k"),
        node("MatMul", "q k", "products"),
        node("Add", "products mask", "masked"),
        node("Softmax", "masked", "shares", axis=-1),
        node("MatMul", "shares value_heads", "mixed"),
        node("Transpose", "mixed", "together", perm=[0, 2, 1, 3]),
        node("Reshape", "together joined", "y"),
    ]
    given = {name: wave(width, width) for name in ("query", "key", "value")}
    shapes = {"split": np.array([1, -1, heads, width // heads]), "joined": np.array([1, -1, width])}
    root = np.float32((width // heads) ** -0.25)
    return nodes, {**given, **shapes, "root": root, "mask": np.zeros((1, 1, 1, ROWS), np.float32)}, (1, ROWS, width)


CASES: dict[str, tuple[Callable[[], Case], set[str]]] = {
    "layer norm": (layer_norm, {"LayerNormalization"}),
    "skip layer norm": (skip_layer_norm, {"SkipLayerNormalization"}),
    "adaptive norm": (adaptive_norm, {"Sqrt", "ReduceMean"}),
    "convolution": (convolution(5), {"ConvInteger"}),
    "convolution of width 1": (convolution(1), {"ConvInteger"}),
    "convolution without bias": (convolution(3, biased=False), {"ConvInteger"}),
    "attention": (attention, {"Softmax"}),
}


def result(
    nodes: list[NodeProto], initializers: list[TensorProto], x: np.ndarray, *, only_needed: bool = False
) -> tuple[np.ndarray, set[str]]:
    needed, kept = {"y"}, []
    for each in reversed(nodes):
        if not only_needed or needed.intersection(each.output):
            kept.append(each)
            needed.update(each.input)
    graph = helper.make_graph(
        kept[::-1],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        initializers,
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, ir_version=9, opset_imports=opsets)
    return open_session(serialize(model)).run(None, {"x": x})[0], {each.op_type for each in kept}


@each_row("name", CASES)
def test_the_result_stays_the_same(name: str) -> None:
    make, replaced = CASES[name]
    nodes, given, shape = make()
    initializers = [numpy_helper.from_array(np.asarray(values), key) for key, values in given.items()]
    x = wave(*shape)
    wanted, _ = result(nodes, initializers, x)
    new_nodes, added = rewritten(nodes, initializers)
    got, kinds = result(new_nodes, [*initializers, *added], x, only_needed=True)
    assert not kinds & replaced
    # A bias had been rounded down to a step of the product.
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-3 if name.startswith("convolution") else 2e-5)


def test_a_convolution_that_strides_stays() -> None:
    nodes, given, shape = convolution(3)()
    nodes[1].attribute.append(helper.make_attribute("strides", [2]))
    initializers = [numpy_helper.from_array(np.asarray(values), key) for key, values in given.items()]
    new_nodes, added = rewritten(nodes, initializers)
    assert [each.op_type for each in new_nodes] == [each.op_type for each in nodes]
    assert not added
    assert result(new_nodes, initializers, wave(*shape))[0].shape == (1, OUTPUTS, (ROWS + 1) // 2)
