"""Weights as PyTorch tensors, from safetensors or PyTorch files; neither may run code."""

import pickle
import zipfile
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from polyvox.errors import BundleError

_TORCH_SUFFIXES = frozenset({".pt", ".pth", ".bin", ".ckpt"})


def read_weights(path: Path, *, mapped: bool = False) -> dict[str, Tensor]:
    """The state dict of a `.safetensors` file or of a PyTorch file, in memory.

    With `mapped`, a PyTorch file stays on disk as far as its format allows it, and what is not used is never read. To
    keep a tensor, copy it.
    """
    if path.suffix == ".safetensors":
        try:
            return load_file(path)
        except (SafetensorError, OSError) as error:
            raise BundleError(f"{path.name} cannot be read as safetensors ({error}); fetch it again.") from error
    content = read_plain(path, mapped=mapped and zipfile.is_zipfile(path))
    if not isinstance(content, dict) or not all(isinstance(tensor, Tensor) for tensor in content.values()):
        raise BundleError(f"{path.name} is not a state dict: it should hold tensors by name and nothing else.")
    return {str(name): tensor for name, tensor in content.items()}


def read_plain(path: Path, *, mapped: bool = False) -> object:
    """The content of a PyTorch file, which may hold tensors, numbers, strings and containers of them."""
    if path.suffix not in _TORCH_SUFFIXES:
        raise BundleError(f"{path.name} is not a file of weights; use .safetensors or .pt.")
    try:
        content: object = torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except (pickle.UnpicklingError, RuntimeError, EOFError, OSError, ValueError, KeyError) as error:
        reason = str(error).split("\n", 1)[0]
        raise BundleError(f"{path.name} cannot be read as plain tensors ({reason}); fetch it again.") from error
    return content
