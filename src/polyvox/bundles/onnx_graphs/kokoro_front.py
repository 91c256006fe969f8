"""Kokoro's front, cut out of its ONNX graph: phonemes to durations and to what a decoder takes."""

from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

import onnx
from google.protobuf.message import DecodeError
from onnx import NodeProto, TensorProto, helper

from polyvox.bundles.onnx_graphs.builder import serialize
from polyvox.bundles.onnx_graphs.node_rewrites import rewritten
from polyvox.errors import BundleError

OUTPUTS = MappingProxyType(
    {
        "text": "/encoder/MatMul_1_output_0",
        "pitch": "/encoder/Reshape_output_0",
        "energy": "/encoder/Reshape_1_output_0",
        "durations": "/encoder/Clip_output_0",
    }
)
"""The tensors of Kokoro's graph that its decoder takes, and the frames of each id, by the front's names for them."""


def front_graph(model: Path) -> bytes:
    """The nodes and weights of an installed `model.onnx` that `OUTPUTS` depend on."""
    try:
        whole = onnx.load(model)
    except (DecodeError, OSError) as error:
        raise BundleError(f"{model.name} cannot be read as an ONNX graph; fetch it again.") from error
    nodes, needed = _ancestors(whole.graph.node)
    if missing := needed & set(OUTPUTS.values()):
        raise BundleError(f"{model.name} is not Kokoro's graph: it lacks {', '.join(sorted(missing))}.")
    nodes, added = rewritten(nodes, whole.graph.initializer)
    nodes, needed = _ancestors(nodes)
    ends = [helper.make_node("Identity", [tensor], [name]) for name, tensor in OUTPUTS.items()]
    graph = helper.make_graph(
        [*nodes, *ends],
        "kokoro_front",
        [value for value in whole.graph.input if value.name in needed],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in OUTPUTS],
        [tensor for tensor in (*whole.graph.initializer, *added) if tensor.name in needed],
    )
    front = helper.make_model(graph, ir_version=whole.ir_version, opset_imports=whole.opset_import)
    return serialize(front)


def _ancestors(given: Sequence[NodeProto]) -> tuple[list[NodeProto], set[str]]:
    """The nodes that the outputs depend on, in order, and the names that no node of them gives."""
    needed, nodes = set(OUTPUTS.values()), []
    for node in reversed(given):
        if needed.intersection(node.output):
            nodes.append(node)
            needed.difference_update(node.output)
            needed.update(name for name in node.input if name)
    return nodes[::-1], needed
