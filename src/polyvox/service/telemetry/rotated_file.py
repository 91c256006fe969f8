"""A file of lines that starts anew when it is full; a few of the full ones are kept."""

import errno
import os
from pathlib import Path


class RotatedFile:
    """Appends lines to `path`; full files are `path.1`, the latest, to `path.<keep>`.

    A line is written whole or not at all. Not for several threads or processes at once.
    """

    def __init__(self, path: Path, max_bytes: int, keep: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._keep = keep
        self._file: int | None = None

    def append(self, line: bytes) -> None:
        """Write a line; OSError where that fails, with the file as it was."""
        file = self._opened()
        size = os.fstat(file).st_size
        if size and size + len(line) > self._max_bytes:
            self._rotate()
            file, size = self._opened(), 0
        if os.write(file, line) != len(line):
            os.ftruncate(file, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _opened(self) -> int:
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640)
        return self._file

    def _rotate(self) -> None:
        self.close()
        for number in range(self._keep, 0, -1):
            older = self._numbered(number - 1) if number > 1 else self._path
            if older.exists():
                older.replace(self._numbered(number))

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")
