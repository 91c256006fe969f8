"""Tells an engine that is slow from one that is stuck."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Pulse:
    """While anybody waits for the engine, something must come out of it every `limit` seconds, for whomever it is."""

    def __init__(self, limit: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._waiting = 0
        self._last = clock()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Somebody waits for the engine. An answer is a beat, an error too; a caller who gives up is none."""
        if not self._waiting:
            self._last = self._clock()
        self._waiting += 1
        try:
            yield
        except Exception:
            self._last = self._clock()
            raise
        else:
            self._last = self._clock()
        finally:
            self._waiting -= 1

    @property
    def idle_seconds(self) -> float:
        """How long nobody has wanted anything; 0 while somebody waits."""
        return 0.0 if self._waiting else self._clock() - self._last

    @property
    def stuck_seconds(self) -> float:
        """How long somebody has been waiting and nothing came, where that is too long; else 0."""
        silent = self._clock() - self._last
        return silent if self._waiting and silent > self._limit else 0.0
