"""Pulls in processes of their own that are killed, and what is left of them."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from helpers.silent_progress import SilentProgress
from polyvox.bundles.manifest import Manifest
from polyvox.bundles.pull import pull_manifest
from polyvox.bundles.validate import open_manifest, verify
from polyvox.errors import BundleError

STEPS = {"open", "os.rename", "os.link", "os.mkdir", "os.remove", "os.rmdir"}


def in_child(work: Callable[[], object]) -> bool:
    """Run work in a child process; False if it was killed, an error if it failed otherwise."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    _, result = os.waitpid(child, 0)
    if os.WIFSIGNALED(result):
        assert os.WTERMSIG(result) == signal.SIGKILL
        return False
    assert os.WEXITSTATUS(result) == 0
    return True


def die_before_step(number: int, folder: Path) -> None:
    """Kill this process just before its n-th change in, or opening of a file in, the folder."""
    left = number

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event in STEPS and str(arguments[0]).startswith(str(folder)):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def fetch(manifest: Manifest, models: Path, folder: Path | None = None, hub_url: str = "http://127.0.0.1:9") -> None:
    pull_manifest(manifest, models_dir=models, folder=folder, hub_url=hub_url, progress=SilentProgress())


def opens_whole(manifest: Manifest, models: Path) -> bool:
    """Whether the model opens; if it does, every byte of it must be right."""
    try:
        bundle = open_manifest(manifest, models)
    except BundleError:
        return False
    verify(bundle, SilentProgress())
    return True


def leftovers(models: Path) -> set[str]:
    cached = {f".cache/{path.name}" for path in (models / ".cache").iterdir()}
    return cached | {path.name for path in models.iterdir()} - {".cache", ".lock", "sample"}
