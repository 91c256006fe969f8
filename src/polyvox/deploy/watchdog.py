"""The health watchdog: tells a slow engine from a stuck one."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Watchdog:
    """While any caller waits, the engine must produce something for one of them every `limit` seconds."""

    def __init__(self, limit: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._waiting = 0
        self._last_progress = clock()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count a waiting caller. A result resets the clock, an error too; a cancelled caller does not."""
        if not self._waiting:
            self._last_progress = self._clock()
        self._waiting += 1
        try:
            yield
        except Exception:
            self._last_progress = self._clock()
            raise
        else:
            self._last_progress = self._clock()
        finally:
            self._waiting -= 1

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last call; 0 while a caller waits."""
        return 0.0 if self._waiting else self._clock() - self._last_progress

    @property
    def stuck_seconds(self) -> float:
        """Seconds without output while callers wait, once over the limit; else 0."""
        silent = self._clock() - self._last_progress
        return silent if self._waiting and silent > self._limit else 0.0
