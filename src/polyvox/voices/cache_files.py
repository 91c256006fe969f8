"""Files of a cache on disk, which other processes may delete at any moment."""

from collections.abc import Iterable
from pathlib import Path


def file_states(paths: Iterable[Path]) -> list[tuple[float, int, Path]]:
    """The time of each file's last use, and its size; those that are gone meanwhile are left out."""
    found = []
    for path in paths:
        try:
            state = path.stat()
        except FileNotFoundError:
            continue
        found.append((state.st_mtime, state.st_size, path))
    return found


def unlinked(path: Path) -> bool:
    """Delete a file; False if another process was faster."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True
