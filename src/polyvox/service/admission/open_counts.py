"""Counts of what is open by name, such as the connections of an address, over all processes of a server."""

import hashlib
import mmap
import secrets

import numpy as np

_BUCKETS = 65_536


class OpenCounts:
    """Counts of a server that is one process: all that is open is open here."""

    def add(self, name: str, count: int) -> None:
        """Let the other processes know of one more, or of one less."""

    def elsewhere(self, name: str) -> int:
        """The count in the other processes."""
        return 0


class CountTable:
    """Counts of several processes in memory that they share, made before they are forked.

    Each process writes a row of its own and reads those of the others, so that none waits for another; what a killed
    one had open is forgotten when its row is taken again. Names are hashed: two that meet in a bucket count together.
    """

    def __init__(self, processes: int) -> None:
        self._salt = secrets.token_bytes(16)
        memory = mmap.mmap(-1, processes * _BUCKETS * np.dtype(np.int32).itemsize)
        self._rows = np.frombuffer(memory, np.int32).reshape(processes, _BUCKETS)

    def row(self, process: int) -> "SharedCounts":
        """The counts as one of the processes has them, which begins with none."""
        self._rows[process] = 0
        return SharedCounts(self._rows, process, self._salt)


class SharedCounts(OpenCounts):
    """The counts of one of several processes."""

    def __init__(self, rows: "np.ndarray[tuple[int, int], np.dtype[np.int32]]", process: int, salt: bytes) -> None:
        self._rows = rows
        self._process = process
        self._salt = salt

    def add(self, name: str, count: int) -> None:
        self._rows[self._process, self._bucket(name)] += count

    def elsewhere(self, name: str) -> int:
        bucket = self._bucket(name)
        return int(self._rows[:, bucket].sum()) - int(self._rows[self._process, bucket])

    def _bucket(self, name: str) -> int:
        return int.from_bytes(hashlib.blake2b(name.encode(), key=self._salt, digest_size=2).digest(), "little")
