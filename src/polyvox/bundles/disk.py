"""Hashing, syncing and atomic replacement of files."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, BinaryIO

BLOCK = 1 << 20


def sha256_of(path: Path, advance: Callable[[int], None] | None = None) -> str:
    """The hash of a file's content; `advance` gets the size of each block."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
            if advance is not None:
                advance(len(block))
    return digest.hexdigest()


def copy_at_most(source: IO[bytes], target: IO[bytes], limit: int, advance: Callable[[int], None] | None = None) -> int:
    """Copy a stream but never more than `limit` + 1 bytes; returns how many, so that the caller sees an excess."""
    copied = 0
    while copied <= limit and (block := source.read(min(BLOCK, limit + 1 - copied))):
        target.write(block)
        copied += len(block)
        if advance is not None:
            advance(len(block))
    return copied


def sync_file(path: Path) -> None:
    """Flush a file's content to the disk."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def sync_folder(path: Path) -> None:
    """Flush a folder's entries to the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_whole(path: Path, content: bytes, opened: Callable[[Path], BinaryIO] = lambda path: path.open("wb")) -> None:
    """Write a small file atomically."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with opened(fresh) as stream:
            stream.write(content)
        sync_file(fresh)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    sync_folder(path.parent)
