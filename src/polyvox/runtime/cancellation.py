"""Stop a call on a worker thread whose result nobody waits for any more."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class InferenceStoppedError(Exception):
    """A call ended early because its token was cancelled. Only those who cancel tokens ever see it."""


class CancelToken:
    """Tells one call that its result is no longer wanted; the call sees it where it looks.

    A library that can end a run of its own accord is told by a callback; a loop asks between its steps.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._callbacks: list[Callable[[], None]] = []

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def cancel(self) -> None:
        """Ask the call to stop. May be called from any thread and more than once."""
        with self._lock:
            if not self._cancelled:
                self._cancelled = True
                for callback in self._callbacks:
                    callback()

    def check(self) -> None:
        """Raise `InferenceStoppedError` where the token is cancelled."""
        if self._cancelled:
            raise InferenceStoppedError("The call was stopped: nobody waits for its result.")

    @contextmanager
    def on_cancel(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call back when the token is cancelled within the block, and never after it."""
        with self._lock:
            self.check()
            self._callbacks.append(callback)
        try:
            yield
        finally:
            with self._lock:
                self._callbacks.remove(callback)


_current: ContextVar[CancelToken | None] = ContextVar("polyvox_cancel_token", default=None)


def current_token() -> CancelToken:
    """The token of the call under way on this thread; outside of one, a token that nobody cancels."""
    return _current.get() or CancelToken()


@contextmanager
def running_under(token: CancelToken) -> Iterator[None]:
    """Make a token the current one."""
    before = _current.set(token)
    try:
        yield
    finally:
        _current.reset(before)
