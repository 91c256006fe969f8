"""One thread that ends child processes which overrun their time, however many calls are under way."""

import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_log = logging.getLogger(__name__)


class Watchdog:
    """Watches calls that have a deadline. Its thread starts with the first of them. Safe to share between threads.

    The thread sleeps until the earliest deadline that it has seen, also where that call has ended long since: calls in
    quick succession never wake it.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start anew, as a process has to that was forked: it has neither the thread nor the children."""
        self._changed = threading.Condition()
        self._deadlines: dict[object, tuple[float, Callable[[], None]]] = {}
        self._wakes_at = math.inf
        self._thread: threading.Thread | None = None

    @contextmanager
    def limit(self, seconds: float, kill: Callable[[], None]) -> Iterator[None]:
        """Call `kill`, once, where the block takes longer than that."""
        call, deadline = object(), time.monotonic() + seconds
        with self._changed:
            self._start()
            self._deadlines[call] = deadline, kill
            if deadline < self._wakes_at:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._deadlines.pop(call, None)

    def _start(self) -> None:
        if self._thread is None:
            thread = threading.Thread(target=self._watch, name="espeak-watchdog", daemon=True)
            thread.start()
            self._thread = thread

    def _watch(self) -> None:
        with self._changed:
            while True:
                self._wakes_at = min((deadline for deadline, _ in self._deadlines.values()), default=math.inf)
                left = self._wakes_at - time.monotonic()
                if left > 0:
                    self._changed.wait(None if math.isinf(left) else left)
                self._kill_overdue()

    def _kill_overdue(self) -> None:
        now = time.monotonic()
        overdue = [call for call, (deadline, _) in self._deadlines.items() if deadline <= now]
        for call in overdue:
            _, kill = self._deadlines.pop(call)
            try:
                kill()
            except OSError:
                _log.exception("a program that took too long could not be ended")


WATCHDOG: Final = Watchdog()
"""The one of all calls of espeak-ng."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WATCHDOG.forget)
