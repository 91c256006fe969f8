"""Kokoro's front, cut out of its ONNX graph: phonemes to durations and to what a decoder takes."""

from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

import onnx
from google.protobuf.message import DecodeError
from onnx import GraphProto, NodeProto, TensorProto, helper

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
_IDS, _BERT = "input_ids", "/encoder/bert_encoder/Add_output_0"
"""The tensors of Kokoro's graph that ALBERT takes, and that the layer behind it gives."""
_PREFIX = "distilled_bert/"


def front_graph(model: Path, distilled_bert: Path | None = None) -> bytes:
    """The nodes and weights of an installed `model.onnx` that `OUTPUTS` depend on.

    With the graph of a smaller network in ALBERT's place, where one is given.
    """
    try:
        whole = onnx.load(model)
    except (DecodeError, OSError) as error:
        raise BundleError(f"{model.name} cannot be read as an ONNX graph; fetch it again.") from error
    if distilled_bert is not None:
        _replace_bert(whole.graph, onnx.load(distilled_bert).graph)
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


def _replace_bert(whole: GraphProto, smaller: GraphProto) -> None:
    """Let another graph's nodes give what the layer behind ALBERT gave."""
    names = {smaller.input[0].name: _IDS, smaller.output[0].name: _BERT}

    def renamed(tensor: str) -> str:
        return names.get(tensor, _PREFIX + tensor) if tensor else ""

    others = [node for node in whole.node if _BERT not in node.output]
    for node in smaller.node:
        for tensors in (node.input, node.output):
            tensors[:] = [renamed(tensor) for tensor in tensors]
    for tensor in smaller.initializer:
        tensor.name = renamed(tensor.name)
    del whole.node[:]
    whole.node.extend([*smaller.node, *others])
    whole.initializer.extend(smaller.initializer)


def _ancestors(given: Sequence[NodeProto]) -> tuple[list[NodeProto], set[str]]:
    """The nodes that the outputs depend on, in order, and the names that no node of them gives."""
    needed, nodes = set(OUTPUTS.values()), []
    for node in reversed(given):
        if needed.intersection(node.output):
            nodes.append(node)
            needed.difference_update(node.output)
            needed.update(name for name in node.input if name)
    return nodes[::-1], needed
