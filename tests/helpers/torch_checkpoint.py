"""Writes what PyTorch would save, opcode by opcode, so that the tests can also write what it would not."""

import io
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np

STORAGES = {np.dtype("float32"): "FloatStorage", np.dtype("int64"): "LongStorage", np.dtype("float64"): "DoubleStorage"}


def write_checkpoint(path: Path, state: dict, *, root: str = "archive") -> Path:
    """Save a dictionary of arrays, numbers and further dictionaries."""
    arrays: list[np.ndarray] = []
    program = pickle.PROTO + b"\x02" + _value(state, arrays) + pickle.STOP
    return write_program(path, program, [array.tobytes() for array in arrays], root=root)


def write_program(path: Path, program: bytes, storages: list[bytes] = (), *, root: str = "archive") -> Path:
    """Save a pickle as it is, with the bytes of its storages."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"{root}/data.pkl", program)
        for key, data in enumerate(storages):
            archive.writestr(f"{root}/data/{key}", data)
        archive.writestr(f"{root}/version", "3\n")
    path.write_bytes(buffer.getvalue())
    return path


def tensor(array: np.ndarray, key: int, *, strides: tuple[int, ...] | None = None) -> bytes:
    """Opcodes that rebuild a tensor over the storage of that number."""
    dense = tuple(step // array.itemsize for step in array.strides)
    storage = tuple_of(
        text("storage"), name("torch", STORAGES[array.dtype]), text(str(key)), text("cpu"), integer(array.size)
    )
    arguments = tuple_of(
        storage + pickle.BINPERSID,
        integer(0),
        tuple_of(*map(integer, array.shape)),
        tuple_of(*map(integer, strides or dense)),
        pickle.NEWFALSE,
        name("collections", "OrderedDict") + pickle.EMPTY_TUPLE + pickle.REDUCE,
    )
    return name("torch._utils", "_rebuild_tensor_v2") + arguments + pickle.REDUCE


def name(module: str, attribute: str) -> bytes:
    return pickle.GLOBAL + f"{module}\n{attribute}\n".encode()


def text(value: str) -> bytes:
    return pickle.BINUNICODE + struct.pack("<I", len(value.encode())) + value.encode()


def integer(value: int) -> bytes:
    return pickle.BININT + struct.pack("<i", value)


def tuple_of(*items: bytes) -> bytes:
    return pickle.MARK + b"".join(items) + pickle.TUPLE


def dictionary(items: dict[str, bytes]) -> bytes:
    pairs = b"".join(text(key) + value for key, value in items.items())
    return pickle.EMPTY_DICT + pickle.MARK + pairs + pickle.SETITEMS


def _value(value: object, arrays: list[np.ndarray]) -> bytes:
    if isinstance(value, dict):
        return dictionary({key: _value(inner, arrays) for key, inner in value.items()})
    if isinstance(value, int):
        return integer(value)
    arrays.append(value)
    return tensor(value, len(arrays) - 1)
