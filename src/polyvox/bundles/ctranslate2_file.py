"""Weights in CTranslate2's binary format, read without CTranslate2: names, shapes and numbers, and nothing to run."""

import math
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from polyvox.errors import BundleError

_VERSIONS: Final = (5, 6)
_TYPES: Final = {0: "<f4", 1: "<i1", 2: "<i2", 3: "<i4", 4: "<f2"}
_MOST_TENSORS: Final = 10_000
_MOST_AXES: Final = 4


def read_ctranslate2(parts: Sequence[Path], specification: str) -> dict[str, npt.NDArray[Any]]:
    """All tensors of a file, which may lie in parts, by their names; `specification` is the kind of model it must hold.

    The tensors are views of one buffer, in the precision of the file.
    """
    try:
        return dict(_tensors(memoryview(b"".join(part.read_bytes() for part in parts)), specification))
    except (OSError, ValueError, struct.error, UnicodeDecodeError) as error:
        raise BundleError(f"{parts[0].name} cannot be read as weights of CTranslate2; fetch it again.") from error


def _tensors(data: memoryview, specification: str) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    reader = _Reader(data)
    version, found, _ = reader.number("I"), reader.text(), reader.number("I")
    if version not in _VERSIONS or found != specification:
        raise ValueError(f"it holds a {found!r} of version {version}")
    count = reader.number("I")
    if count > _MOST_TENSORS:
        raise ValueError("it names too many tensors")
    for _ in range(count):
        yield reader.text(), reader.tensor()


class _Reader:
    """Reads a buffer from its start; ValueError where it ends too early."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._at = 0

    def number(self, kind: str) -> int:
        (value,) = struct.unpack("<" + kind, self._taken(struct.calcsize("<" + kind)))
        return int(value)

    def text(self) -> str:
        return bytes(self._taken(self.number("H"))).decode().removesuffix("\0")

    def tensor(self) -> npt.NDArray[Any]:
        axes = self.number("B")
        if axes > _MOST_AXES:
            raise ValueError("a tensor has too many axes")
        shape = tuple(self.number("I") for _ in range(axes))
        dtype = np.dtype(_TYPES.get(self.number("B"), "V1"))
        size = self.number("I")
        if dtype.kind == "V" or size != math.prod(shape) * dtype.itemsize:
            raise ValueError("a tensor's size is not that of its shape")
        return np.frombuffer(self._taken(size), dtype).reshape(shape)

    def _taken(self, size: int) -> memoryview:
        taken = self._data[self._at : self._at + size]
        if len(taken) < size:
            raise ValueError("it ends too early")
        self._at += size
        return taken
