"""The commit of the package: recorded by a build, or that of the checkout."""

import subprocess
from pathlib import Path

import pytest

from polyvox.revision import revision

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "src" / "polyvox"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    return folder


def test_what_the_build_recorded_goes_first(package: Path) -> None:
    (package / "revision.txt").write_text("0123456789ab\n")
    assert revision(package) == "0123456789ab"


def test_a_checkout_is_asked_and_says_whether_it_was_changed(package: Path, tmp_path: Path) -> None:
    for command in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "--message=first"), ("tag", "v9.9")):
        subprocess.run([*GIT, *command], cwd=tmp_path, check=True)
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=tmp_path, text=True).strip()
    assert revision(package) == head[:12], "never the name of a tag"
    (package / "__init__.py").write_text("changed = True\n")
    assert revision(package) == f"{head[:12]}-dirty"


def test_elsewhere_nobody_knows(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert revision(package) == ""
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    assert revision(package) == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert revision(package) == "", "without git"
