"""A reserve of disk space, so that voices can be deleted when the disk is full."""

import errno
import os
import sqlite3
from pathlib import Path

import structlog

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

RESERVE_BYTES = 4 * 1_048_576
"""Many times what SQLite writes for a deletion."""

_BLOCK = 1_048_576
_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT)
# What SQLite says when it has no room for a write over a quota, for its shared memory or for a new file.
_PERHAPS_FULL = (sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_CANTOPEN)


class DiskReserve:
    """A file that takes space until it is needed. Methods that write need the store's write lock."""

    def __init__(self, path: Path, size: int = RESERVE_BYTES) -> None:
        self._path = path
        self._size = size

    @property
    def held(self) -> bool:
        """True if the whole reserve is there."""
        try:
            return self._path.stat().st_size >= self._size
        except OSError:
            return False

    def hold(self) -> None:
        """Take the space, unless it is taken already; OSError, and nothing taken, if there is not enough."""
        if self.held:
            return
        try:
            with self._path.open("wb") as file:
                # Random, because zeros would take no space on a disk that compresses.
                for start in range(0, self._size, _BLOCK):
                    file.write(os.urandom(min(_BLOCK, self._size - start)))
        except OSError:
            self.release()
            raise

    def release(self) -> bool:
        """Give the space back; False if none was taken."""
        try:
            self._path.unlink()
        except FileNotFoundError:
            return False
        return True

    def hold_if_possible(self) -> None:
        """Take the space if there is enough."""
        try:
            self.hold()
        except OSError as error:
            log.warning("no room for the voice store's reserve", reason=str(error))


def is_full(error: BaseException | None) -> bool:
    """Return whether an error of the disk or of SQLite means that there is no room left."""
    if isinstance(error, OSError):
        return error.errno in _FULL_ERRNOS
    return isinstance(error, sqlite3.Error) and _code(error) & 0xFF == sqlite3.SQLITE_FULL


def may_be_full(error: BaseException | None) -> bool:
    """Return whether an error may mean that there is no room left, so that trying again with more is worth it."""
    return is_full(error) or (isinstance(error, sqlite3.Error) and _code(error) in _PERHAPS_FULL)


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0)
