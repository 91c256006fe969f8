"""Work of requests that speak nothing: phonemes, normalised text, mixed voices. It has threads of its own."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import takewhile
from threading import Event
from typing import TypeVar

from polyvox.errors import OverloadedError, TextError
from polyvox.runtime.device_executor import DeviceExecutor

_RECENT_DURATIONS = 32
_MIN_RETRY_SECONDS = 1.0

T = TypeVar("T")


class SideWork:
    """A few threads and at most `max_waiting` calls that wait for them, first in, first out.

    A caller that is cancelled leaves the queue at once. A call that runs can be stopped only between its pieces;
    its thread stays taken until it ends.
    """

    def __init__(
        self, threads: int, max_waiting: int, max_chars: int, on_refused: Callable[[], None] = lambda: None
    ) -> None:
        self._executor = DeviceExecutor("polyvox-side", threads)
        self._max_waiting = max_waiting
        self._max_chars = max_chars
        self._durations: deque[float] = deque(maxlen=_RECENT_DURATIONS)
        self.waiting = 0
        self.running = 0
        self._on_refused = on_refused

    async def run(self, fn: Callable[[], T]) -> T:
        """Run `fn` on a thread when its turn has come; `OverloadedError` when the queue is full."""
        if self.running + self.waiting >= self._executor.threads + self._max_waiting:
            raise self._overloaded()
        self.waiting += 1
        try:
            await self._executor.reserve()
        finally:
            self.waiting -= 1
        self.running += 1
        return await self._executor.run_reserved(partial(self._timed, fn, asyncio.get_running_loop()))

    async def run_pieces(self, pieces: Callable[[], Iterator[T]]) -> list[T]:
        """Run an iterator to its end on a thread, all the same; it stops between two pieces when the caller leaves."""
        left = Event()
        try:
            return await self.run(lambda: list(takewhile(lambda _: not left.is_set(), pieces())))
        finally:
            left.set()

    def check_text(self, text: str, field: str) -> None:
        """Refuse a text that is longer than this work takes."""
        if len(text) > self._max_chars:
            raise TextError(
                f"The text has {len(text):,} characters; this server takes at most {self._max_chars:,} here. Send it "
                "in parts.",
                field=field,
            )

    def close(self) -> None:
        """End the threads; waits for calls under way, so call it off the event loop."""
        self._executor.close()

    def _timed(self, fn: Callable[[], T], loop: asyncio.AbstractEventLoop) -> T:
        began = loop.time()
        try:
            return fn()
        finally:
            loop.call_soon_threadsafe(self._ended, loop.time() - began)

    def _ended(self, seconds: float) -> None:
        self.running -= 1
        self._durations.append(seconds)

    def _overloaded(self) -> OverloadedError:
        self._on_refused()
        mean = sum(self._durations) / len(self._durations) if self._durations else 0.0
        seconds = max(_MIN_RETRY_SECONDS, mean * (self.waiting + 1) / self._executor.threads)
        return OverloadedError(
            f"The server has {self.waiting} requests of this kind waiting already; try again in {seconds:.0f} s.",
            retry_after=seconds,
        )
