"""Voice packs: read from `.pt` files without running anything, stored as safetensors."""

import io
import os
import pickle
import time
import zipfile

import numpy as np
import pytest

from polyvox.errors import InvalidRequestError
from polyvox.voices.style_packs import MAX_PACK_BYTES, PackFiles, read_pack
from polyvox.voices.torch_file import torch_file

PACK = np.random.default_rng(1).uniform(-1, 1, (510, 1, 256)).astype(np.float32)


def zipped(program: bytes, *, values: bytes = b"\0" * 8, compression: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        archive.writestr("archive/data.pkl", program)
        archive.writestr("archive/data/0", values)
    return out.getvalue()


class Calls:
    """What a pickle of this class would call."""

    def __reduce__(self):
        return os.getenv, ("HOME",)


@pytest.mark.long
def test_a_pack_of_pytorchs_own_is_read_value_for_value():
    torch = pytest.importorskip("torch", reason="needs PyTorch, to write the file")
    for kind in (torch.float32, torch.float16, torch.float64):
        tensor = torch.tensor(PACK).to(kind)
        out = io.BytesIO()
        torch.save(tensor, out)
        np.testing.assert_array_equal(read_pack(out.getvalue()), tensor.float().numpy())
    out = io.BytesIO()
    torch.save(torch.cat([torch.tensor(PACK), torch.zeros(1, 1, 256)]), out)
    np.testing.assert_array_equal(read_pack(out.getvalue()), PACK)


def test_a_pack_of_our_own_is_read_value_for_value():
    np.testing.assert_array_equal(read_pack(torch_file(PACK)), PACK)


def test_whatever_else_a_file_is_it_is_refused():
    huge_memo = b"\x80\x02" + pickle.LONG_BINPUT + b"\xff\xff\xff\x7f."
    not_finite = PACK.copy()
    not_finite[0] = np.nan
    rows = {
        "empty": (b"", "zip format"),
        "a bare pickle": (pickle.dumps(Calls()), "zip format"),
        "too large": (b"PK" * MAX_PACK_BYTES, "has more"),
        "a call": (zipped(pickle.dumps(Calls(), 2)), "no part of a tensor"),
        "a newer pickle": (zipped(pickle.dumps(Calls(), 4)), "more than a tensor"),
        "a large memo": (zipped(huge_memo), "more than a tensor"),
        "a number": (zipped(pickle.dumps(5, 2)), "no tensor"),
        "broken": (zipped(b"\x80\x02("), "damaged"),
        "a bomb": (zipped(b".", values=b"\0" * 50_000_000, compression=zipfile.ZIP_DEFLATED), "more than one small"),
        "compressed": (zipped(b".", compression=zipfile.ZIP_DEFLATED), "compressed"),
        "another shape": (torch_file(PACK[:, :, :128]), "[510, 1, 128]"),
        "no numbers": (torch_file(not_finite), "values that no voice has"),
        "larger than its values": (
            torch_file(PACK).replace(b"J\xfe\x01\x00\x00", b"J\xff\x01\x00\x00"),
            "no voice pack",
        ),
    }
    for name, (data, reason) in rows.items():
        with pytest.raises(InvalidRequestError) as refused:
            read_pack(data)
        assert reason in refused.value.message, name
        assert refused.value.field == "pack"


def test_a_stored_pack_is_a_safetensors_file_under_a_name_of_our_own(tmp_path):
    packs = PackFiles(tmp_path / "packs")
    name, digest = packs.write(PACK)
    np.testing.assert_array_equal(packs.read(name, digest), PACK)
    safetensors = pytest.importorskip("safetensors.numpy", reason="needs safetensors, to read the file")
    (path,) = (tmp_path / "packs").iterdir()
    np.testing.assert_array_equal(safetensors.load_file(path)["style"], PACK)
    assert path.stat().st_mode & 0o077 == 0
    for wrong in ("../x", "", name[:-1], f"{name}/../{name}"):
        with pytest.raises(InvalidRequestError):
            packs.read(wrong, digest)
        packs.remove(wrong)
    assert path.exists()


def test_old_files_that_no_voice_names_are_swept(tmp_path):
    packs = PackFiles(tmp_path)
    kept, stray, fresh = (packs.write(PACK)[0] for _ in range(3))
    old = time.time() - 7_200
    for name in (kept, stray):
        os.utime(tmp_path / f"{name}.safetensors", (old, old))
    assert packs.sweep({kept}) == 1
    assert {path.stem for path in tmp_path.iterdir()} == {kept, fresh}
    assert PackFiles(tmp_path / "nowhere").sweep(()) == 0
