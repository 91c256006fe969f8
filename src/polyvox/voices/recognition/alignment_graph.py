"""Moonshine's decoder as a graph that gives its cross-attention: which frames it listens to for each token."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from onnx import GraphProto, NodeProto, TensorProto, helper, load

ATTENTION: Final = "/model/decoder/layers.{}/encoder_attn/Softmax_output_0"
_WITHOUT_CACHE: Final = "else_branch"


def alignment_graph(decoder: Path, layers: Sequence[int]) -> bytes:
    """The decoder without its cache, serialised: all tokens in one run, the cross-attention of some layers out.

    The published graph chooses between two whole decoders, with and without the cache, and keeps its attention to
    itself. This one is the decoder without, cut down to what the wanted outputs need: no word is recognised.
    """
    model = load(decoder)
    (choice,) = model.graph.node
    branch = next(each.g for each in choice.attribute if each.name == _WITHOUT_CACHE)
    outputs = [ATTENTION.format(layer) for layer in layers]
    nodes = _needed(branch, outputs)
    used = {name for node in nodes for name in node.input}
    weights = [each for each in (*model.graph.initializer, *branch.initializer) if each.name in used]
    graph = helper.make_graph(
        nodes,
        "alignment",
        [each for each in model.graph.input if each.name in used],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        weights,
    )
    result = helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    return bytes(result.SerializeToString())


def _needed(graph: GraphProto, outputs: Iterable[str]) -> list[NodeProto]:
    """The nodes that the outputs depend on, in the order of the graph."""
    wanted = set(outputs)
    kept: list[NodeProto] = []
    for node in reversed(graph.node):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted.update(node.input)
    return kept[::-1]
