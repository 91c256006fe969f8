"""Files for this user alone, whatever the process's mask allows."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from polyvox.private_files import make_private_folder, open_private


@pytest.fixture(autouse=True)
def _open_mask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_all_missing_folders_are_private_and_those_that_exist_stay_as_they_are(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private_folder(tmp_path / "one" / "two")
    make_private_folder(tmp_path / "one" / "two")
    assert [mode(tmp_path / part) for part in (".", "one", "one/two")] == [0o755, 0o700, 0o700]


def test_a_file_is_private_and_no_link_is_followed(tmp_path: Path) -> None:
    with open_private(tmp_path / "file") as file:
        file.write(b"secret")
    assert mode(tmp_path / "file") == 0o600
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with pytest.raises(OSError, match="symbolic"):
        open_private(tmp_path / "link")
    assert (tmp_path / "file").read_bytes() == b"secret"
