"""A circuit breaker: callers of a service that is down are refused at once, while one of them tries it again."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from polyvox.errors import UnavailableError

REST_SECONDS = 1.0


class UnreachableError(UnavailableError):
    """A service that does not answer; to callers it is its parent."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retry=True, retry_after=REST_SECONDS)


class Breaker:
    """Opens when a call ends with an UnreachableError, and closes with the first that does not.

    Without it, each of a hundred requests would wait for the same timeout, one after the other on a few threads.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._message: str | None = None
        self._rests_until = 0.0
        self._trying = False

    @contextmanager
    def call(self) -> Iterator[None]:
        """Make a call, if the service is up or it is time to try it again."""
        with self._lock:
            if self._message is not None:
                if self._trying or self._clock() < self._rests_until:
                    raise UnreachableError(self._message)
                self._trying = True
        message = None
        try:
            yield
        except UnreachableError as error:
            message = error.message
            raise
        finally:
            with self._lock:
                self._message, self._trying = message, False
                self._rests_until = self._clock() + REST_SECONDS
