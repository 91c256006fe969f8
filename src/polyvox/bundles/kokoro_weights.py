"""Kokoro's weights under their published names: from the released file, or recovered from the quantised graph.

The graph holds most weights in 8 bits. They are dequantised: a network in full precision then computes what the graph
does, without the graph's rounding between layers. Only the inverse STFT differs: the graph overlap-adds without
dividing by the squared windows, so it is 1.5 times as loud.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import onnx
import torch
from google.protobuf.message import DecodeError
from onnx import numpy_helper
from torch import Tensor

from polyvox.bundles.weights import read_plain
from polyvox.errors import BundleError

_PARTS = ("bert", "bert_encoder", "predictor", "text_encoder", "decoder")
# The graph was exported from two wrapper modules, the first of which calls some of the predictor's modules itself.
_MODULE_PATHS = ((r"^/encoder/(?=(F0|N|shared)\b|F0_proj|N_proj)", "predictor/"), (r"^/(encoder|decoder)/", ""))
_UNQUANTISED = re.compile(
    r"^(?:encoder|decoder)\.(?P<name>.+\.(?:bias|gamma|beta|alpha[12]\.\d|(?:LayerNorm|full_layer_layer_norm)\.weight))$"
)
_GATES = (0, 2, 3, 1)
"""PyTorch's gate order (input, forget, cell, output) as indices into the graph's."""


def read_kokoro(path: Path) -> dict[str, Tensor]:
    """The state dict in a `.pth` or `.onnx` file, each name beginning with that of one of the five parts."""
    return _recovered(path) if path.suffix == ".onnx" else _released(path)


def _released(path: Path) -> dict[str, Tensor]:
    content = read_plain(path)
    if not isinstance(content, dict) or set(content) != set(_PARTS):
        raise BundleError(f"{path.name} is not Kokoro's file: it should hold {', '.join(_PARTS)} and nothing else.")
    state: dict[str, Tensor] = {}
    for part, tensors in content.items():
        if not isinstance(tensors, dict) or not all(isinstance(tensor, Tensor) for tensor in tensors.values()):
            raise BundleError(f"{path.name} should hold tensors by name, and nothing else, under {part}.")
        state |= {f"{part}.{name.removeprefix('module.')}": tensor for name, tensor in tensors.items()}
    return state


def _recovered(path: Path) -> dict[str, Tensor]:
    try:
        graph = onnx.load(path).graph
    except (DecodeError, OSError) as error:
        raise BundleError(f"{path.name} cannot be read as an ONNX graph; fetch it again.") from error
    constants = _Constants(graph)
    state = {match["name"]: constants[match[0]] for match in map(_UNQUANTISED.match, constants.names) if match}
    try:
        for node in graph.node:
            state |= _weights_of(node, constants)
    except KeyError as error:
        raise BundleError(f"{path.name} is not Kokoro's quantised graph: it lacks {error}.") from error
    return state


class _Constants:
    """The initializers of a graph."""

    def __init__(self, graph: Any) -> None:  # noqa: ANN401 - ONNX has no types
        self._tensors = {tensor.name: tensor for tensor in graph.initializer}
        self.names = tuple(self._tensors)

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def __getitem__(self, name: str) -> Tensor:
        return torch.from_numpy(numpy_helper.to_array(self._tensors[name]).copy())

    def dequantised(self, name: str, zero: str) -> Tensor:
        """The dequantised tensor `name`; scale and zero point are per channel of the last axis."""
        scale = self[name.removesuffix("_quantized") + "_scale"]
        return (self[name].float() - self[zero].float()) * scale


def _weights_of(node: Any, constants: _Constants) -> dict[str, Tensor]:  # noqa: ANN401
    """The weights of one node under the name of its module; nothing for nodes without weights."""
    module = _module(node.name)
    match node.op_type:
        case "ConvInteger" | "MatMulInteger":
            weight = constants.dequantised(node.input[1], node.input[3])
            return {f"{module}.weight": weight if node.op_type == "ConvInteger" else weight.T}
        case "DequantizeLinear":
            quantised = node.input[1].removesuffix("_scale") + "_quantized"
            return {f"{module}.weight": constants.dequantised(quantised, node.input[2])}
        case "Conv" | "ConvTranspose" if "/istft/" not in node.name:
            return {f"{module}.weight": constants[node.input[1]]}
        case "MatMul" if node.input[1] in constants:
            return {f"{module}.weight": constants[node.input[1]].T}
        case "DynamicQuantizeLSTM":
            return {f"{module}.{name}": tensor for name, tensor in _lstm(node.input, constants)}
    return {}


def _module(node: str) -> str:
    """`/decoder/decoder/asr_res/asr_res.0/Conv_quant` is a node of `decoder.asr_res.0`."""
    for pattern, prefix in _MODULE_PATHS:
        node = re.sub(pattern, prefix, node)
    # A list of modules stands in the path twice, and a module that is called again bears a number.
    parts = [re.sub(r"_\d+$", "", part) for part in node.split("/")[:-1]]
    return ".".join(part for part, inner in pairwise([*parts, ""]) if not inner.startswith(f"{part}."))


def _lstm(inputs: Any, constants: _Constants) -> Iterator[tuple[str, Tensor]]:  # noqa: ANN401
    """Weights and biases of both directions as PyTorch names, lays out and orders them."""
    weights = {
        kind: (constants[inputs[place]].float() - constants[inputs[zero]].float()[:, None, None])
        * constants[inputs[scale]][:, None, None]
        for kind, place, scale, zero in (("ih", 1, 8, 9), ("hh", 2, 10, 11))
    }
    biases = dict(zip(("ih", "hh"), constants[inputs[3]].chunk(2, dim=1), strict=True))
    for direction, suffix in enumerate(("", "_reverse")):
        for kind in ("ih", "hh"):
            yield f"weight_{kind}_l0{suffix}", _ordered(weights[kind][direction].T)
            yield f"bias_{kind}_l0{suffix}", _ordered(biases[kind][direction])


def _ordered(gates: Tensor) -> Tensor:
    parts = gates.chunk(4)
    return torch.cat([parts[gate] for gate in _GATES])
