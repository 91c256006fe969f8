"""Who gets the next free slot: whoever asked first."""

import asyncio
from collections import deque
from heapq import heappop, heappush

from polyvox.errors import PolyvoxError


class Slots:
    """A fixed number of slots, given out in the order of asking, the first free one each time."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._free = list(range(count))
        self._line: deque[asyncio.Future[int]] = deque()

    @property
    def busy(self) -> int:
        return self._count - len(self._free)

    @property
    def waiting(self) -> int:
        return len(self._line)

    async def take(self) -> int:
        """A free slot, in its turn. Whoever is cancelled leaves the line."""
        if self._free:
            return heappop(self._free)
        waiter: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._line.append(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            # The slot may have been given in the same turn of the loop in which the cancellation came.
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self.give_back(waiter.result())
            raise
        finally:
            if waiter in self._line:
                self._line.remove(waiter)

    def give_back(self, slot: int) -> None:
        """The next in line gets it."""
        while self._line:
            waiter = self._line.popleft()
            if not waiter.done():
                waiter.set_result(slot)
                return
        heappush(self._free, slot)

    def refuse(self, error: PolyvoxError) -> None:
        """Whoever is in line gets this error instead."""
        for waiter in self._line:
            if not waiter.done():
                waiter.set_exception(error)
