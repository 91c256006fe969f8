"""Wren's weights, those of its small BERT among them, recovered from the graphs that ship with the package.

The graphs hold most weights in 8 bits. They are dequantised: PyTorch then computes what the graphs do, without their
rounding between layers, and the package needs no second copy of the weights.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from google.protobuf.message import DecodeError
from onnx import numpy_helper
from torch import Tensor

from polyvox.bundles.onnx_graphs.wren import CORRECTION_SCALE
from polyvox.errors import BundleError

Layer = tuple[Tensor, Tensor | None]
State = dict[str, Tensor]

_PLAN = (
    "text_conv", "curve_conv", "style_mlp.0", "style_mlp.2", "utterance_encoder.frame_in", "utterance_encoder.style_in",
    "utterance_encoder.inner", "utterance_encoder.pooled_in", "utterance_encoder.output",
)  # fmt: skip
"""The layers of the graph `plan` in the order of its nodes; behind them come those that make FiLM."""
_BLOCK = ("depthwise", "expand", "contract")
_BERT_LAYER = ("joint", "merge", "expand", "contract")


def read_wren(folder: Path) -> State:
    """The state dict of the graphs in a folder."""
    try:
        return _shaped(
            _state(*(list(graph_layers(folder / f"{name}.onnx")) for name in ("plan", "filters", "refiner")))
        )
    except (KeyError, ValueError) as error:
        raise BundleError("Wren's graphs are not those of this package; install it again.") from error


def read_distilled_bert(path: Path) -> State:
    """The state dict of the graph in ALBERT's place."""
    layers = list(graph_layers(path))
    graph = onnx.load(path).graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    tables = [_tensor(constants[node.input[0]]) for node in graph.node if node.op_type == "Cast"]
    if len(tables) != 2 or len(layers) % len(_BERT_LAYER) != 1:
        raise BundleError(f"{path.name} is not that of this package; install it again.")
    state = dict(zip(("position.weight", "word.weight"), tables, strict=True)) | _named(("output",), layers[-1:])
    for index in range(len(layers) // len(_BERT_LAYER)):
        own = layers[index * len(_BERT_LAYER) :]
        state |= _named(tuple(f"layers.{index}.{part}" for part in _BERT_LAYER), own)
    return state


def _state(plan: list[Layer], filters: list[Layer], refiner: list[Layer]) -> State:
    films, refiner_films = plan[len(_PLAN) : len(_PLAN) + 2], plan[len(_PLAN) + 2 :]
    state = _named(_PLAN, plan) | _blocks("", filters[:-1], films) | _named(("head",), filters[-1:])
    state |= _named(("refiner.hidden_in", "refiner.spectra_in"), refiner[:2])
    state |= _blocks("refiner.", refiner[2:-1], refiner_films)
    weight, bias = refiner[-1]
    return state | _named(("refiner.corrections",), [(weight / CORRECTION_SCALE, _present(bias) / CORRECTION_SCALE)])


def _present(bias: Tensor | None) -> Tensor:
    if bias is None:
        raise ValueError("a layer lacks its bias")
    return bias


def _shaped(state: State) -> State:
    """The text's convolution is stored as a product with the three frames that it sees."""
    flat = state["text_conv.weight"]
    return state | {"text_conv.weight": flat.view(len(flat), 3, -1).transpose(1, 2).contiguous()}


def _named(names: tuple[str, ...], layers: list[Layer]) -> State:
    state: State = {}
    for name, (weight, bias) in zip(names, layers, strict=False):
        state[f"{name}.weight"] = weight
        if bias is not None:
            state[f"{name}.bias"] = bias
    return state


def _blocks(prefix: str, layers: list[Layer], films: list[Layer]) -> State:
    """The blocks under a prefix; their layer scale is part of the last product, and one product makes all FiLM."""
    count = len(layers) // len(_BLOCK)
    (style, bias), (utterance, _) = films
    parts = zip(style.chunk(count), _present(bias).chunk(count), utterance.chunk(count), strict=True)
    state: State = {}
    for index, (style_film, film_bias, utterance_film) in enumerate(parts):
        name = f"{prefix}blocks.{index}"
        own = layers[index * len(_BLOCK) : (index + 1) * len(_BLOCK)]
        state |= _named(tuple(f"{name}.{part}" for part in _BLOCK), own)
        state |= {
            f"{name}.film.weight": style_film,
            f"{name}.film.bias": film_bias,
            f"{name}.utterance_film.weight": utterance_film,
            f"{name}.layer_scale": torch.ones(len(own[-1][0])),
        }
    return state


def graph_layers(path: Path) -> Iterator[Layer]:
    """Weights as PyTorch lays them out, and biases, in the order of the graph's nodes."""
    try:
        graph = onnx.load(path).graph
    except (DecodeError, OSError) as error:
        raise BundleError(f"{path.name} cannot be read as an ONNX graph; install Polyvox again.") from error
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    constants |= {node.output[0]: constants[node.input[0]] for node in graph.node if node.op_type == "Cast"}
    added = {node.input[0]: node.input[1] for node in graph.node if node.op_type == "Add"}
    for node in graph.node:
        weight = _weight(node, constants)
        if weight is None:
            continue
        places = {"Conv": 2, "MatMulIntegerToFloat": 6}
        name = node.input[places[node.op_type]] if node.op_type in places else added.get(node.output[0], "")
        yield _tensor(weight), _tensor(constants[name]) if name in constants else None


def _weight(node: Any, constants: dict[str, Any]) -> Any:  # noqa: ANN401 - ONNX has no types
    match node.op_type:
        case "Conv":
            return constants[node.input[1]]
        case "MatMul":
            return constants[node.input[1]].T
        case "MatMulIntegerToFloat":
            stored, scale, zero = (constants[node.input[place]] for place in (1, 3, 5))
            return ((stored.astype(np.float32) - zero) * scale).T
        case "MatMulNBits":
            inputs = next(attribute.i for attribute in node.attribute if attribute.name == "K")
            stored, scale = constants[node.input[1]], constants[node.input[2]]
            scaled = (stored.astype(np.float32) - 128) * scale.reshape(*stored.shape[:2], 1)
            return scaled.reshape(len(stored), -1)[:, :inputs]
    return None


def _tensor(values: Any) -> Tensor:  # noqa: ANN401
    return torch.from_numpy(np.array(values, np.float32, order="C"))
