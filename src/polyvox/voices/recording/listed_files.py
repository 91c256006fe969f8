"""Recordings on the server's disk that a request names by path: only in folders that the settings list."""

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from polyvox.errors import InvalidRequestError
from polyvox.voices.limits import too_large

_MAX_PATH_CHARS = 1_000


def read_listed(path: str, folders: Sequence[Path], max_bytes: int, field: str) -> bytes:
    """The file of that path, absolute or within one of the folders, whatever links lead to it.

    Nothing outside the folders is disclosed: existing and missing files there get the same message.
    """
    for found in _inside(path, folders):
        data = _regular_file(found, max_bytes, field)
        if data is not None:
            return data
    if not folders:
        raise InvalidRequestError(
            f"'{field}' must be a recording, not a path: this server lists no folder to read from.", field=field
        )
    raise InvalidRequestError(
        f"'{field}' names no file in the folders that this server reads recordings from; send the recording itself.",
        field=field,
    )


def _inside(path: str, folders: Sequence[Path]) -> Iterator[Path]:
    """Candidates for the path, links resolved, that lie in their folder."""
    if len(path) > _MAX_PATH_CHARS or "\0" in path:
        return
    for folder in folders:
        try:
            home = folder.resolve(strict=True)
            found = (home / path).resolve(strict=True)
        except (OSError, RuntimeError):  # nothing there, a name too long, or links that go round in a circle
            continue
        if found.is_relative_to(home):
            yield found


def _regular_file(path: Path, max_bytes: int, field: str) -> bytes | None:
    """The content of a plain file; None for anything else, a pipe for one, which must not be waited for."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        return None
    with os.fdopen(number, "rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise too_large(max_bytes, field)
    return data
