"""Files and folders that nobody but the user of this process may read: caches, voices, jobs."""

import os
from pathlib import Path
from typing import BinaryIO


def make_private_folder(folder: Path) -> None:
    """Make a folder and those above it that are missing, each for this user alone; one that is there stays as it is."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def open_private(path: Path) -> BinaryIO:
    """Open a file to be written from its start, for this user alone; OSError where the path is a link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, 0o600), "wb")


def write_private(path: Path, data: bytes) -> None:
    """Write a file for this user alone."""
    with open_private(path) as file:
        file.write(data)
