"""The build's hook: source archives and wheels name the commit that they were made from."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from helpers.client_environment import run_client

ROOT = Path(__file__).parents[2]
PROJECT = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "polyvox"
version = "1"
[tool.hatch.build.hooks.custom]
[tool.hatch.build.targets.wheel]
packages = ["src/polyvox"]
"""
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project with the hook of this one."""
    package = tmp_path / "src" / "polyvox"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / ".gitignore").write_text("dist/\n")
    shutil.copy(ROOT / "hatch_build.py", tmp_path)
    return tmp_path


def test_both_name_the_commit_of_the_checkout(project: Path) -> None:
    for command in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "--message=first")):
        subprocess.run([*GIT, *command], cwd=project, check=True)
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=project, text=True).strip()[:12]
    assert run_client("release", "built_wheel.py", project, "{}") == {"sdist": head, "wheel": head}


def test_an_image_is_told_its_commit_and_nothing_is_made_up(project: Path) -> None:
    told = json.dumps({"POLYVOX_REVISION": "0123456789ab"})
    assert run_client("release", "built_wheel.py", project, told) == {"sdist": "0123456789ab", "wheel": "0123456789ab"}
    shutil.rmtree(project / "dist")
    assert run_client("release", "built_wheel.py", project, "{}") == {"sdist": "", "wheel": ""}
