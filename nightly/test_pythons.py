"""Every supported Python finds wheels of all our dependencies on every platform; uv resolves them from the index."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = re.findall(r"Python :: (3\.\d+)\n", "\n".join(PROJECT["classifiers"]) + "\n")
PLATFORMS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin")
LEFT_OUT = {
    "dev",
    "tensorrt",
}  # tools, one of which is compiled where it has no wheel; and a package for Linux that is a source
PURE_SOURCES = ("jieba", "unidic-lite")  # without wheels, and without anything to compile
OLDEST_MACOS = "14.0"  # PyTorch's


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_every_extra_resolves_to_wheels(python: str, platform: str):
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if uv is None:
        pytest.skip("uv is not installed")
    extras = [f"--extra={extra}" for extra in PROJECT["optional-dependencies"] if extra not in LEFT_OUT]
    sources = [f"--no-binary={package}" for package in PURE_SOURCES]
    target = [f"--python-version={python}", f"--python-platform={platform}"]
    resolved = subprocess.run(
        [uv, "pip", "compile", "--quiet", "pyproject.toml", "--only-binary=:all:", *sources, *target, *extras],
        cwd=ROOT,
        env=os.environ | {"MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert resolved.returncode == 0, resolved.stderr
