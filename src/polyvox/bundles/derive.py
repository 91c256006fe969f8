"""Files that are derived from published ones when a bundle is installed."""

from pathlib import Path
from typing import cast

from polyvox.bundles.manifest import Derivation, OutputDeclaration


def derived(published: Path, derivation: Derivation) -> bytes:
    """The content to install in place of a published file."""
    if derivation.declare_output is not None:
        return published.read_bytes() + _declaration(derivation.declare_output)
    from polyvox.bundles.checkpoint import read_checkpoint
    from polyvox.bundles.onnx_graphs.campplus import campplus_graph
    from polyvox.bundles.onnx_graphs.distillmos import distillmos_graph
    from polyvox.bundles.onnx_graphs.perth import perth_finder_graph, perth_marker_graph

    build = {
        "campplus": campplus_graph,
        "distillmos": distillmos_graph,
        "perth_finder": perth_finder_graph,
        "perth_marker": perth_marker_graph,
    }[cast(str, derivation.build_graph)]
    return build(read_checkpoint(published))


def _declaration(output: OutputDeclaration) -> bytes:
    """Bytes that, appended to a serialised ONNX model, make an inner tensor of its graph an output.

    Concatenated protobuf messages parse as their merge. So the weights stay as they are, byte for byte, and the result
    does not depend on the version of a library that would have rewritten them.
    """
    from onnx import ModelProto, TensorProto, helper

    from polyvox.bundles.onnx_graphs.builder import serialize

    patch = ModelProto()
    node = helper.make_node("Identity", [output.tensor], [output.name], name=f"declare_{output.name}")
    patch.graph.node.append(node)
    patch.graph.output.append(helper.make_tensor_value_info(output.name, TensorProto.FLOAT, None))
    return serialize(patch)
