"""Slots of a fixed-size cache, handed out first come, first served."""

import asyncio
from collections import deque
from heapq import heappop, heappush

from polyvox.errors import PolyvoxError


class SlotPool:
    """A fixed number of slots; the free one with the lowest number is handed out first."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._free = list(range(count))
        self._waiters: deque[asyncio.Future[int]] = deque()

    @property
    def used(self) -> int:
        return self._count - len(self._free)

    @property
    def waiting(self) -> int:
        return len(self._waiters)

    async def acquire(self) -> int:
        """Wait for a slot, in the order of asking; a cancelled caller leaves the queue."""
        if self._free:
            return heappop(self._free)
        waiter: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            # The slot may have been handed over in the same turn of the loop in which the cancellation came.
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self.release(waiter.result())
            raise
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    def release(self, slot: int) -> None:
        """Hand the slot to the next in the queue, or put it back."""
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(slot)
                return
        heappush(self._free, slot)

    def fail_waiting(self, error: PolyvoxError) -> None:
        """Raise this error in all callers that are in the queue."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_exception(error)
