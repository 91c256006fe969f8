"""A voice as a `.pt` file that PyTorch loads, written and read without PyTorch.

Such a file is a stored (uncompressed) zip: `data.pkl` rebuilds the tensor, `data/0` holds its bytes, `byteorder` and
`version` describe them. The pickle is spelled out opcode by opcode, so that it names nothing beyond the three globals
which `torch.load(weights_only=True)` allows. What is read may hold no other opcode or global either, which is stricter
than `weights_only=True`; nothing that a file names is imported or called.
"""

import io
import pickle
import pickletools
import struct
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_FOLDER = "archive"
_FORMAT_VERSION = b"3\n"
_UNDATED = (1980, 1, 1, 0, 0, 0)
_MAX_PICKLE_BYTES = 8_192
_MAX_ENTRIES = 16
_MAX_MEMO = 256
_MAX_AXES = 8
_OPCODES = frozenset(
    "PROTO GLOBAL MARK TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_TUPLE BINUNICODE SHORT_BINUNICODE BININT BININT1 BININT2 "
    "LONG1 NEWFALSE NEWTRUE REDUCE BINPERSID BINPUT LONG_BINPUT BINGET LONG_BINGET MEMOIZE FRAME STOP".split()
)
_STORAGES = {"FloatStorage": "<f4", "HalfStorage": "<f2", "DoubleStorage": "<f8"}


class TorchFileError(ValueError):
    """A file that is not one plain tensor; the message says why."""


def torch_file(tensor: npt.NDArray[np.float32]) -> bytes:
    """The bytes of a `.pt` file that holds one float32 tensor; equal tensors give equal files."""
    values = np.ascontiguousarray(tensor, dtype="<f4")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, data in (
            ("data.pkl", _rebuild_program(values.shape)),
            ("byteorder", b"little"),
            ("data/0", values.tobytes()),
            ("version", _FORMAT_VERSION),
        ):
            archive.writestr(zipfile.ZipInfo(f"{_FOLDER}/{name}", date_time=_UNDATED), data)
    return out.getvalue()


def _rebuild_program(shape: tuple[int, ...]) -> bytes:
    """A pickle that calls `_rebuild_tensor_v2(storage 0, offset 0, shape, strides, no gradient, no hooks)`."""
    size = int(np.prod(shape, dtype=np.int64))
    strides = tuple(int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape)))
    storage = _tuple(_text("storage"), _global("torch", "FloatStorage"), _text("0"), _text("cpu"), _integer(size))
    arguments = _tuple(
        storage + pickle.BINPERSID,
        _integer(0),
        _tuple(*map(_integer, shape)),
        _tuple(*map(_integer, strides)),
        pickle.NEWFALSE,
        _global("collections", "OrderedDict") + pickle.EMPTY_TUPLE + pickle.REDUCE,
    )
    rebuild = _global("torch._utils", "_rebuild_tensor_v2")
    return pickle.PROTO + b"\x02" + rebuild + arguments + pickle.REDUCE + pickle.STOP


def _global(module: str, name: str) -> bytes:
    return pickle.GLOBAL + f"{module}\n{name}\n".encode()


def _text(value: str) -> bytes:
    encoded = value.encode()
    return pickle.BINUNICODE + struct.pack("<I", len(encoded)) + encoded


def _integer(value: int) -> bytes:
    return pickle.BININT + struct.pack("<i", value)


def _tuple(*items: bytes) -> bytes:
    return pickle.MARK + b"".join(items) + pickle.TUPLE


def read_torch_file(data: bytes, max_bytes: int) -> npt.NDArray[Any]:
    """The one floating-point tensor of a `.pt` file; `TorchFileError` for anything else.

    `max_bytes` bounds all that the archive unpacks to, which is known before anything is unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _tensor_of(archive, max_bytes)
    except TorchFileError:
        raise
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:  # all of `zipfile`
        raise TorchFileError("it is not in PyTorch's zip format; save it again with torch.save.") from error


def _tensor_of(archive: zipfile.ZipFile, max_bytes: int) -> npt.NDArray[Any]:
    entries = archive.infolist()
    if len(entries) > _MAX_ENTRIES or sum(entry.file_size for entry in entries) > max_bytes:
        raise TorchFileError("its archive holds more than one small tensor.")
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
        raise TorchFileError("its archive is compressed; save it with torch.save.")
    by_name = {entry.filename.partition("/")[2]: entry for entry in entries}
    program, order = by_name.get("data.pkl"), by_name.get("byteorder")
    if program is None or program.file_size > _MAX_PICKLE_BYTES:
        raise TorchFileError("it has no description of a tensor.")
    if order is not None and archive.read(order) != b"little":
        raise TorchFileError("its bytes are in big-endian order.")
    tensor = _rebuilt(archive.read(program))
    values = by_name.get(f"data/{tensor.storage.key}")
    if values is None:
        raise TorchFileError("the values of its tensor are missing.")
    return tensor.of(archive.read(values))


@dataclass(frozen=True, slots=True)
class _Storage:
    """The place of a tensor's values in the file, and their type."""

    key: str
    dtype: str


@dataclass(frozen=True, slots=True)
class _Tensor:
    """The description of a tensor: a contiguous piece of a storage."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]

    def of(self, data: bytes) -> npt.NDArray[Any]:
        values = np.frombuffer(
            data[: len(data) - len(data) % np.dtype(self.storage.dtype).itemsize], self.storage.dtype
        )
        size = 1
        for length in self.shape:
            size *= length
        if size > len(values) - self.offset:
            raise TorchFileError("its tensor is larger than its values.")
        return values[self.offset : self.offset + size].reshape(self.shape)


def _rebuilt(program: bytes) -> _Tensor:
    """Follow a pickle that describes a tensor; it may do nothing else."""
    try:
        for opcode, argument, _ in pickletools.genops(program):
            if opcode.name not in _OPCODES or ("PUT" in opcode.name and int(argument or 0) > _MAX_MEMO):
                raise TorchFileError("it holds more than a tensor.")
        tensor = _Rebuilder(io.BytesIO(program)).load()
    except TorchFileError:
        raise
    except Exception as error:  # a broken pickle fails in any way it likes; it has named nothing that does more
        raise TorchFileError("its description of a tensor is damaged.") from error
    if not isinstance(tensor, _Tensor):
        raise TorchFileError("it holds no tensor.")
    return tensor


class _Rebuilder(pickle.Unpickler):
    """Gives stand-ins for the few globals of a tensor, and refuses all others."""

    def find_class(self, module: str, name: str) -> object:
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _described
        if (module, name) == ("collections", "OrderedDict"):
            return _no_hooks
        if module == "torch" and name in _STORAGES:
            return name
        raise TorchFileError("it names something that is no part of a tensor.")

    def persistent_load(self, pid: object) -> _Storage:
        kind, storage, key = pid[:3] if isinstance(pid, tuple) and len(pid) >= 3 else (None, None, None)
        if kind != "storage" or storage not in _STORAGES or not isinstance(key, str):
            raise TorchFileError("its values are of a type that no voice has.")
        return _Storage(key, _STORAGES[storage])


def _described(storage: object, offset: object, shape: object, strides: object, *_: object) -> _Tensor:
    """Stand-in for PyTorch's function that makes a tensor."""
    lengths = shape if isinstance(shape, tuple) and len(shape) <= _MAX_AXES else None
    if not isinstance(storage, _Storage) or lengths is None or not all(_is_count(one) for one in (offset, *lengths)):
        raise TorchFileError("its description of a tensor is damaged.")
    if strides != tuple(int(np.prod(lengths[axis + 1 :], dtype=object)) for axis in range(len(lengths))):
        raise TorchFileError("its tensor is not contiguous; save tensor.contiguous().")
    return _Tensor(storage, int(str(offset)), lengths)


def _no_hooks() -> None:
    """Stand-in for the hooks of a tensor, of which it may have none."""


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**31
