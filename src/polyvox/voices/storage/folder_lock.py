"""A lock that says whether any process works on a folder."""

import fcntl
from pathlib import Path

from polyvox.errors import UnavailableError


class FolderLock:
    """Shared by all who work on a folder, or held by one alone; the system releases it when its process ends."""

    def __init__(self, path: Path, *, alone: bool = False) -> None:
        self._file = path.open("ab")
        try:
            fcntl.flock(self._file, fcntl.LOCK_NB | (fcntl.LOCK_EX if alone else fcntl.LOCK_SH))
        except BlockingIOError:
            self._file.close()
            raise UnavailableError(
                "A server or command is at work on the voice store; stop it, then try again."
                if alone
                else "The voice store is being repaired; try again in a moment."
            ) from None

    def close(self) -> None:
        self._file.close()
