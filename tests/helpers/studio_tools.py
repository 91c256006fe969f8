"""What the tests of the Studio run: npm with the packages of the lock file, and a browser."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

STUDIO = Path(__file__).parents[2] / "studio"
REQUIRED = "STUDIO_TESTS"
"""The variable that CI sets to `required`, so that a missing tool is a failure there."""
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def need(what: object, advice: str) -> None:
    """Skip the test where something is missing; on CI it fails."""
    if not what:
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(advice)
        pytest.skip(advice)


def chromium_path() -> str:
    """The system's browser."""
    found = next(filter(None, map(shutil.which, _BROWSERS)), "")
    need(found, "The tests of the Studio need a browser; run: apt-get install chromium")
    return found


def installed_packages() -> Path:
    """The folder `studio`, with exactly the packages of its lock file."""
    npm = shutil.which("npm")
    need(npm, "The tests of the Studio's build need npm; run: apt-get install nodejs npm")
    assert npm is not None
    lock = hashlib.sha256((STUDIO / "package-lock.json").read_bytes()).hexdigest()
    stamp = STUDIO / "node_modules" / ".lock.sha256"
    with _alone():
        if not stamp.is_file() or stamp.read_text() != lock:
            done = run_npm("ci")
            need(done.returncode == 0, f"npm could not install the Studio's packages: {done.stderr[-500:]}")
            stamp.write_text(lock)
    return STUDIO


def run_npm(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["npm", *arguments], cwd=STUDIO, capture_output=True, text=True, timeout=300)


@contextmanager
def _alone() -> Iterator[None]:
    """Workers of one machine share the packages."""
    with (STUDIO / ".gitignore").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
