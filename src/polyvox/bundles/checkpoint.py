"""PyTorch checkpoints, read without PyTorch.

Such a file is a zip: `data.pkl` describes a dictionary of tensors, `data/KEY` holds the bytes that they view. The
unpickler allows only the globals that rebuild plain tensors, so no code of the file runs.
"""

import io
import math
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polyvox.errors import BundleError

Weights = Mapping[str, npt.NDArray[Any]]

_STORAGE_TYPES = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}


def read_checkpoint(path: Path) -> dict[str, npt.NDArray[Any]]:
    """All tensors of a checkpoint by their names; dictionaries within dictionaries are joined by dots."""
    with _refusals(path), zipfile.ZipFile(path) as archive:
        return dict(_tensors(_TensorUnpickler(archive).load(), ""))


def read_names(path: Path) -> list[str]:
    """The names on the top level of a checkpoint, in their order; its tensors are not read."""
    with _refusals(path), zipfile.ZipFile(path) as archive:
        content = _NameUnpickler(archive).load()
        if not isinstance(content, dict):
            raise TypeError("it holds no dictionary")
        return [str(name) for name in content]


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    """Turn all that reading such a file can raise into a `BundleError`."""
    try:
        yield
    except (zipfile.BadZipFile, pickle.UnpicklingError, EOFError, LookupError, ValueError, TypeError) as error:
        raise BundleError(f"{path.name} is not a PyTorch file of plain tensors ({error}).") from error


def _tensors(value: object, name: str) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    if isinstance(value, _View):
        yield name, value.array()
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _tensors(inner, f"{name}.{key}" if name else str(key))


@dataclass(frozen=True, slots=True)
class _View:
    """A tensor as the pickle describes it."""

    storage: npt.NDArray[Any]
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def array(self) -> npt.NDArray[Any]:
        """The tensor's values, which must lie in the storage one behind the other."""
        dense = [math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        for length, stride, expected in zip(self.shape, self.strides, dense, strict=True):
            if length > 1 and stride != expected:
                raise ValueError("a tensor is not contiguous")
        return self.storage[self.offset : self.offset + math.prod(self.shape)].reshape(self.shape)


def _rebuild(storage: npt.NDArray[Any], offset: int, shape: Any, strides: Any, *_: object) -> _View:  # noqa: ANN401
    """Stands in for the function of PyTorch that the pickle names."""
    return _View(storage, offset, tuple(shape), tuple(strides))


class _TensorUnpickler(pickle.Unpickler):
    def __init__(self, archive: zipfile.ZipFile) -> None:
        (program,) = (name for name in archive.namelist() if name.endswith("/data.pkl"))
        super().__init__(io.BytesIO(archive.read(program)))
        self._archive = archive
        self._folder = program.removesuffix("data.pkl")

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - pickle's own signature
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild
        if module == "torch" and name in _STORAGE_TYPES:
            return _STORAGE_TYPES[name]
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")

    def persistent_load(self, pid: Any) -> npt.NDArray[Any]:  # noqa: ANN401 - pickle's own signature
        _, dtype, key, _, count = pid
        return np.frombuffer(self._archive.read(f"{self._folder}data/{key}"), dtype, count)


class _NameUnpickler(_TensorUnpickler):
    """Leaves tensors of any type out."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - pickle's own signature
        if module == "torch" and name.endswith("Storage"):
            return np.dtype("u1")
        return super().find_class(module, name)

    def persistent_load(self, pid: Any) -> npt.NDArray[Any]:  # noqa: ANN401 - pickle's own signature
        return np.empty(0, np.uint8)
