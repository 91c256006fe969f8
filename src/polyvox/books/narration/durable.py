"""Files that survive a kill or a power cut at any moment."""

import os
from pathlib import Path


def write_durably(path: Path, data: bytes) -> None:
    """Write a whole file, which appears complete or not at all."""
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    sync_folder(path.parent)


def append_durably(path: Path, data: bytes, at: int) -> None:
    """Write behind the first `at` bytes of a file, whatever an interrupted call left there."""
    is_new = not path.exists()
    with path.open("wb" if is_new else "r+b") as file:
        file.truncate(at)
        file.seek(at)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if is_new:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make names that were added to a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
