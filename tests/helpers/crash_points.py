"""Crash points: the moments before and after each write, rename, sync and commit of some work, and its death at one.

The work runs in a forked child. What it had done until then is on disk, as after `kill -9`; nothing of its cleaning up
happens any more.
"""

import builtins
import io
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from helpers.store_workers import ending, forked

_DIED = 77
_RENAMES = ("rename", "replace", "link", "unlink", "rmdir", "mkdir")


class _Points:
    """Counts the points below a folder, tells of them, and ends the process at the one that was chosen."""

    def __init__(self, folder: Path, fatal: int | None, told: int) -> None:
        self._folder = str(folder)
        self._fatal = fatal
        self._told = told
        self._passed = 0

    def pass_point(self, kind: str) -> None:
        if self._passed == self._fatal:
            os._exit(_DIED)
        self._passed += 1
        os.write(self._told, f"{kind}\n".encode())

    def watch(self) -> None:
        for name in _RENAMES:
            setattr(os, name, self._around(name, getattr(os, name), self._is_ours))
        os.fsync = self._around("fsync", os.fsync, lambda *_: True)  # type: ignore[assignment]
        os.open = self._around("open", os.open, self._is_written)  # type: ignore[assignment]
        builtins.open = io.open = self._around("open", io.open, self._is_opened_to_write)  # type: ignore[assignment]
        connect, points = sqlite3.connect, self

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
                if sql != "COMMIT":
                    return super().execute(sql, *values)
                points.pass_point("before commit")
                cursor = super().execute(sql)
                points.pass_point("after commit")
                return cursor

        sqlite3.connect = lambda *args, **options: connect(*args, **options, factory=Connection)

    def _around(self, name: str, work: Callable[..., Any], counts: Callable[..., bool]) -> Callable[..., Any]:
        def done(*args: Any, **options: Any) -> Any:
            if not counts(*args, **options):
                return work(*args, **options)
            self.pass_point(f"before {name}")
            result = work(*args, **options)
            self.pass_point(f"after {name}")
            return result

        return done

    def _is_ours(self, path: object, *_: object, **__: object) -> bool:
        return str(path).startswith(self._folder)

    def _is_written(self, path: object, flags: int, *_: object, **__: object) -> bool:
        return self._is_ours(path) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))

    def _is_opened_to_write(self, path: object, mode: str = "r", *_: object, **__: object) -> bool:
        return self._is_ours(path) and mode[0] in "wxa"


def points_of(work: Callable[[], object], folder: Path, fatal: int | None = None) -> list[str]:
    """Do the work in a child that dies at a point, counted from 0; the points that it passed."""
    read, write = os.pipe()

    def watched() -> None:
        os.close(read)
        _Points(folder, fatal, write).watch()
        work()

    child = forked(watched)
    os.close(write)
    with os.fdopen(read) as told:
        passed = told.read().splitlines()
    code = ending(child)
    assert code == (0 if fatal is None else _DIED), f"the work ended with {code} at point {fatal}"
    return passed


def first_of_each_kind(points: list[str]) -> Iterator[int]:
    """The places of the first point of every kind."""
    for kind in dict.fromkeys(points):
        yield points.index(kind)
