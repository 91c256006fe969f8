"""Samples in memory that this process shares with others which it has started. Linux only."""

import mmap
import os
from collections import deque
from threading import Lock

import numpy as np

from polyvox.types import Pcm, Span


class Place:
    """A part of shared memory that is its holder's own until it is released, or nobody holds it any more."""

    def __init__(self, memory: "SharedSamples", span: Span) -> None:
        self._memory = memory
        self._released = False
        self.span = span

    @property
    def samples(self) -> Pcm:
        """The samples in this place."""
        return self._memory.samples[self.span.start : self.span.end]

    def release(self) -> None:
        """Let others have it; idempotent."""
        if not self._released:
            self._released = True
            self._memory.give_back(self.span)

    def __del__(self) -> None:
        self.release()


class SharedSamples:
    """Memory that is handed out in places. Threads may share it; other processes open it by its path."""

    def __init__(self, size: int) -> None:
        """Room for so many samples; memory is taken when it is first written."""
        self._descriptor = os.memfd_create("samples")
        os.ftruncate(self._descriptor, 4 * size)
        self.path = f"/proc/{os.getpid()}/fd/{self._descriptor}"
        self.samples = opened_samples(self.path)
        self._free = [Span(0, size)]
        # A place may be dropped at any moment, also by a garbage collection in the middle of `reserve`.
        self._given_back: deque[Span] = deque()
        self._lock = Lock()

    def reserve(self, count: int) -> Place | None:
        """The first free place for so many samples; None where there is none."""
        with self._lock:
            while self._given_back:
                self._insert(self._given_back.popleft())
            for index, free in enumerate(self._free):
                if len(free) >= count:
                    self._free[index] = Span(free.start + count, free.end)
                    return Place(self, Span(free.start, free.start + count))
        return None

    def give_back(self, span: Span) -> None:
        """Called by the place."""
        self._given_back.append(span)

    def close(self) -> None:
        """Let no process open it any more; it is freed with the last place."""
        os.close(self._descriptor)

    def _insert(self, span: Span) -> None:
        merged: list[Span] = []
        for free in sorted([*self._free, span], key=lambda each: each.start):
            if merged and merged[-1].end == free.start:
                merged[-1] = Span(merged[-1].start, free.end)
            else:
                merged.append(free)
        self._free = [free for free in merged if len(free)]


def opened_samples(path: str) -> Pcm:
    """All samples of another process's memory."""
    with open(path, "r+b") as file:  # noqa: PTH123 - a path of /proc is no file's
        return np.frombuffer(mmap.mmap(file.fileno(), 0), np.float32)
