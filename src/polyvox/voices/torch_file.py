"""A voice as a `.pt` file that PyTorch loads, written without PyTorch.

Such a file is a stored (uncompressed) zip: `data.pkl` rebuilds the tensor, `data/0` holds its bytes, `byteorder` and
`version` describe them. The pickle is spelled out opcode by opcode, so that it names nothing beyond the three globals
which `torch.load(weights_only=True)` allows.
"""

import io
import pickle
import struct
import zipfile

import numpy as np
import numpy.typing as npt

_FOLDER = "archive"
_FORMAT_VERSION = b"3\n"
_UNDATED = (1980, 1, 1, 0, 0, 0)


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
