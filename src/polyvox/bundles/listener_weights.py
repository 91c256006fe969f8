"""Weights of CAM++ and Distill-MOS from their installed ONNX graphs, which keep the published parameter names."""

from pathlib import Path

import onnx
import torch
from google.protobuf.message import DecodeError
from onnx import numpy_helper
from torch import Tensor

from polyvox.errors import BundleError


def read_campplus(path: Path) -> dict[str, Tensor]:
    """The state dict in the bundle's `model.onnx`."""
    return _read(path, "CAM++", ("head.", "xvector."))


def read_distillmos(path: Path) -> dict[str, Tensor]:
    """The state dict in the bundle's `model.onnx`."""
    return _read(path, "Distill-MOS", ("model.",))


def _read(path: Path, network: str, parts: tuple[str, ...]) -> dict[str, Tensor]:
    try:
        tensors = onnx.load(path).graph.initializer
    except (DecodeError, OSError) as error:
        raise BundleError(f"{path.name} cannot be read as an ONNX graph; fetch it again.") from error
    learned = [tensor for tensor in tensors if tensor.name.startswith(parts)]
    if not learned:
        raise BundleError(f"{path.name} is not the graph of {network}: it holds none of its weights.")
    return {tensor.name: torch.from_numpy(numpy_helper.to_array(tensor).copy()) for tensor in learned}
