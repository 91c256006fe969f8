"""A disk that is full from the n-th write of a voice store on, until the store gives its reserve back."""

import errno
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from polyvox.voices.storage import recordings
from polyvox.voices.storage.store import FileVoiceStore

_WRITING_STATEMENTS = ("INSERT", "UPDATE", "DELETE", "COMMIT")


class FailingDisk:
    """Counts the writes of a store, whether to files or to SQLite, and lets all fail after the first `working`."""

    def __init__(self, store: FileVoiceStore, working: int) -> None:
        self.left = working
        self.failed = 0
        self.full = True
        self._store = store

    def write(self) -> bool:
        """Whether the next write succeeds."""
        self.left -= 1
        if self.left >= 0 or not self.full:
            return True
        self.failed += 1
        return False

    @contextmanager
    def in_place(self, monkeypatch: pytest.MonkeyPatch) -> Iterator["FailingDisk"]:
        with monkeypatch.context() as patched:
            patched.setattr(recordings, "write_private", self._half_written(recordings.write_private))
            for name in ("replace", "mkdir"):
                patched.setattr(Path, name, self._failing(getattr(Path, name)))
            for name in ("sync_file", "sync_folder"):
                patched.setattr(recordings, name, self._failing(getattr(recordings, name)))
            patched.setattr(Path, "unlink", self._unlinked(Path.unlink))
            patched.setattr(self._store, "_writer", _FailingConnection(self._store._writer, self))
            yield self

    def _failing(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def attempt(*arguments: Any, **options: Any) -> Any:
            if not self.write():
                raise OSError(errno.ENOSPC, "No space left on device")
            return work(*arguments, **options)

        return attempt

    def _half_written(self, work: Callable[[Path, bytes], None]) -> Callable[[Path, bytes], None]:
        def attempt(path: Path, data: bytes) -> None:
            succeeds = self.write()
            work(path, data if succeeds else data[: len(data) // 2])
            if not succeeds:
                raise OSError(errno.ENOSPC, "No space left on device")

        return attempt

    def _unlinked(self, work: Callable[..., None]) -> Callable[..., None]:
        def attempt(path: Path, **options: Any) -> None:
            work(path, **options)
            if path.name == "reserve":
                self.full = False

        return attempt


class _FailingConnection:
    """SQLite's connection of the writers, on a disk that may be full."""

    def __init__(self, db: sqlite3.Connection, disk: FailingDisk) -> None:
        self._db = db
        self._disk = disk

    @property
    def in_transaction(self) -> bool:
        return self._db.in_transaction

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        if statement.startswith(_WRITING_STATEMENTS) and self._changes(statement) and not self._disk.write():
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        return self._db.execute(statement, *values)

    def _changes(self, statement: str) -> bool:
        """A commit writes only if there was a change."""
        if statement != "COMMIT":
            self._changed = True
            return True
        changed, self._changed = self._changed, False
        return changed

    _changed = False
