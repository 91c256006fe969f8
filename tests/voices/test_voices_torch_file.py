"""The `.pt` writer: the structure is checked always, PyTorch's own loader where PyTorch is installed."""

import io
import pickle
import zipfile
from collections import OrderedDict

import numpy as np
import numpy.typing as npt
import pytest

from polyvox.voices.torch_file import torch_file


class TensorUnpickler(pickle.Unpickler):
    """Plays PyTorch's part: allows the three globals of a tensor and resolves the one storage."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        super().__init__(io.BytesIO(archive.read("archive/data.pkl")))
        self.archive = archive

    def find_class(self, module: str, name: str) -> object:
        allowed = {
            ("torch._utils", "_rebuild_tensor_v2"): self.rebuild,
            ("torch", "FloatStorage"): "<f4",
            ("collections", "OrderedDict"): OrderedDict,
        }
        return allowed[module, name]

    def persistent_load(self, pid: tuple[str, str, str, str, int]) -> npt.NDArray[np.float32]:
        kind, dtype, key, location, size = pid
        assert (kind, location) == ("storage", "cpu")
        values = np.frombuffer(self.archive.read(f"archive/data/{key}"), dtype=dtype)
        assert len(values) == size
        return values

    @staticmethod
    def rebuild(storage, offset, shape, strides, requires_grad, hooks) -> npt.NDArray[np.float32]:
        assert (requires_grad, hooks) == (False, OrderedDict())
        return np.lib.stride_tricks.as_strided(storage[offset:], shape, [4 * stride for stride in strides])


@pytest.fixture
def voice() -> npt.NDArray[np.float32]:
    return np.random.default_rng(7).standard_normal((510, 1, 256)).astype(np.float32)


def test_the_archive_rebuilds_the_tensor(voice):
    with zipfile.ZipFile(io.BytesIO(torch_file(voice))) as archive:
        assert archive.testzip() is None
        np.testing.assert_array_equal(TensorUnpickler(archive).load(), voice)


def test_nothing_is_compressed_since_the_loader_maps_records_in_place(voice):
    with zipfile.ZipFile(io.BytesIO(torch_file(voice))) as archive:
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
        assert archive.read("archive/version") == b"3\n"
        assert archive.read("archive/byteorder") == b"little"


def test_the_same_voice_gives_the_same_bytes(voice):
    assert torch_file(voice) == torch_file(voice.copy())


def test_a_view_is_written_in_its_own_order(voice):
    turned = voice.transpose(2, 1, 0)
    with zipfile.ZipFile(io.BytesIO(torch_file(turned))) as archive:
        np.testing.assert_array_equal(TensorUnpickler(archive).load(), turned)


def test_pytorch_loads_it_with_weights_only(voice):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed; the structure is tested without it")
    loaded = torch.load(io.BytesIO(torch_file(voice)), weights_only=True)
    assert loaded.dtype == torch.float32
    assert tuple(loaded.shape) == (510, 1, 256)
    assert loaded.is_contiguous()
    np.testing.assert_array_equal(loaded.numpy(), voice)
