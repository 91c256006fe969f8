import pickle
import zipfile

import numpy as np
import pytest

from helpers.torch_checkpoint import dictionary, integer, name, tensor, text, tuple_of, write_checkpoint, write_program
from polyvox.bundles.checkpoint import read_checkpoint, read_names
from polyvox.errors import BundleError

WEIGHT = np.arange(12, dtype=np.float32).reshape(3, 4)
COUNT = np.array(7, dtype=np.int64)


def test_tensors_are_read_under_their_names(tmp_path):
    weights = read_checkpoint(write_checkpoint(tmp_path / "a.pt", {"layer.weight": WEIGHT, "layer.count": COUNT}))
    assert list(weights) == ["layer.weight", "layer.count"]
    np.testing.assert_array_equal(weights["layer.weight"], WEIGHT)
    assert weights["layer.weight"].dtype == np.float32
    assert weights["layer.count"] == 7
    assert weights["layer.count"].shape == ()


def test_dictionaries_within_are_joined_by_dots_and_bare_numbers_left_out(tmp_path):
    weights = read_checkpoint(write_checkpoint(tmp_path / "a.pt", {"model": {"weight": WEIGHT}, "step": 245}))
    assert list(weights) == ["model.weight"]


def test_names_are_read_without_the_tensors(tmp_path):
    path = write_checkpoint(tmp_path / "a.pt", {"anna": {"embedding": WEIGHT}, "中文女": {}})
    assert read_names(path) == ["anna", "中文女"]
    hollow = tmp_path / "hollow.pt"
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(hollow, "w") as copy:
        (program,) = (entry for entry in whole.namelist() if entry.endswith("data.pkl"))
        copy.writestr(program, whole.read(program))
    assert read_names(hollow) == ["anna", "中文女"]
    with pytest.raises(BundleError):
        read_checkpoint(hollow)


def test_the_folder_in_the_archive_may_have_any_name(tmp_path):
    path = write_checkpoint(tmp_path / "a.pt", {"weight": WEIGHT}, root="distilled_v7")
    np.testing.assert_array_equal(read_checkpoint(path)["weight"], WEIGHT)


@pytest.mark.slow
def test_what_pytorch_itself_saves_is_read(tmp_path):
    torch = pytest.importorskip("torch")
    layer = torch.nn.Sequential(torch.nn.Conv1d(2, 3, 5), torch.nn.BatchNorm1d(3))
    torch.save({"model": layer.state_dict(), "step": 1}, tmp_path / "a.pt")
    weights = read_checkpoint(tmp_path / "a.pt")
    expected = {f"model.{key}": value.numpy() for key, value in layer.state_dict().items()}
    assert list(weights) == list(expected)
    for key, value in expected.items():
        np.testing.assert_array_equal(weights[key], value)


@pytest.mark.parametrize("called", [("os", "system"), ("builtins", "eval"), ("torch", "load"), ("numpy", "array")])
def test_nothing_that_the_file_names_is_run(tmp_path, called):
    marker = tmp_path / "was-here"
    call = name(*called) + tuple_of(text(f"touch {marker}")) + pickle.REDUCE
    path = write_program(tmp_path / "a.pt", pickle.PROTO + b"\x02" + call + pickle.STOP)
    with pytest.raises(BundleError, match=f"it asks for {called[0]}.{called[1]}"):
        read_checkpoint(path)
    assert not marker.exists()


def test_a_storage_type_cannot_be_called(tmp_path):
    call = name("torch", "FloatStorage") + tuple_of(integer(1 << 30)) + pickle.REDUCE
    path = write_program(tmp_path / "a.pt", pickle.PROTO + b"\x02" + call + pickle.STOP)
    with pytest.raises(BundleError, match="not a PyTorch file of plain tensors"):
        read_checkpoint(path)


def _one_tensor(code: bytes) -> bytes:
    return pickle.PROTO + b"\x02" + dictionary({"weight": code}) + pickle.STOP


@pytest.mark.parametrize(
    ("code", "storages"),
    [
        (tensor(WEIGHT, 0, strides=(1, 3)), [WEIGHT.tobytes()]),
        (tensor(WEIGHT, 0), [WEIGHT.tobytes()[:-4]]),
        (tensor(WEIGHT, 1), [WEIGHT.tobytes()]),
        (tensor(WEIGHT.astype(np.float64), 0), [WEIGHT.tobytes() * 2]),
    ],
    ids=["turned", "cut short", "storage missing", "type not known"],
)
def test_a_tensor_that_is_not_plain_is_refused(tmp_path, code, storages):
    with pytest.raises(BundleError, match="not a PyTorch file of plain tensors"):
        read_checkpoint(write_program(tmp_path / "a.pt", _one_tensor(code), storages))


@pytest.mark.parametrize("content", [b"", b"no zip at all", b"PK\x03\x04"])
def test_what_is_no_archive_is_refused(tmp_path, content):
    (tmp_path / "a.pt").write_bytes(content)
    with pytest.raises(BundleError, match=r"a\.pt is not a PyTorch file"):
        read_checkpoint(tmp_path / "a.pt")


@pytest.mark.parametrize("program", [b"", _one_tensor(tensor(WEIGHT, 0))[:-20], pickle.PROTO + b"\x02" + pickle.STOP])
def test_a_description_that_breaks_off_is_refused(tmp_path, program):
    with pytest.raises(BundleError, match="not a PyTorch file of plain tensors"):
        read_checkpoint(write_program(tmp_path / "a.pt", program, [WEIGHT.tobytes()]))


def test_an_archive_without_a_description_of_tensors_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.pt", "w") as archive:
        archive.writestr("archive/data/0", b"1234")
    with pytest.raises(BundleError, match=r"a\.pt is not a PyTorch file"):
        read_checkpoint(tmp_path / "a.pt")
