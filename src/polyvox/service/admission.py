"""Admission control: a bounded number of active requests and a bounded queue."""

import asyncio
from collections import deque
from enum import Enum, auto

from polyvox.errors import OverloadedError

_RECENT_DURATIONS = 64
_MIN_RETRY_SECONDS = 1.0


class _TicketState(Enum):
    WAITING = auto()
    ACTIVE = auto()
    LEFT = auto()


class Ticket:
    """A place in the queue that becomes an active slot, until it is released."""

    def __init__(self, admission: "Admission") -> None:
        self._admission = admission
        self._admitted = asyncio.Event()
        self.state = _TicketState.WAITING
        self.granted_at = 0.0

    async def granted(self) -> None:
        """Wait until the request is admitted."""
        await self._admitted.wait()

    def grant(self, now: float) -> None:
        self.state = _TicketState.ACTIVE
        self.granted_at = now
        self._admitted.set()

    def release(self) -> None:
        """Leave the queue, or free the slot for the next in it; idempotent."""
        self._admission.leave(self)


class Admission:
    """At most `max_active` requests at once and `max_waiting` in the queue, first in, first out."""

    def __init__(self, max_active: int, max_waiting: int) -> None:
        self._max_active = max_active
        self._max_waiting = max_waiting
        self._active = 0
        self._queue: deque[Ticket] = deque()
        self._durations: deque[float] = deque(maxlen=_RECENT_DURATIONS)

    @property
    def active(self) -> int:
        return self._active

    @property
    def waiting(self) -> int:
        return len(self._queue)

    def enter(self) -> Ticket:
        """A ticket, granted at once where a slot is free; `OverloadedError` when the queue is full."""
        ticket = Ticket(self)
        if self._active < self._max_active:
            self._grant(ticket)
        elif len(self._queue) < self._max_waiting:
            self._queue.append(ticket)
        else:
            seconds = self.retry_after()
            raise OverloadedError(
                f"The server is at its limit of {self._max_active} requests at once and {self._max_waiting} waiting; "
                f"try again in {seconds:.0f} s.",
                retry_after=seconds,
            )
        return ticket

    def leave(self, ticket: Ticket) -> None:
        """Called by the ticket."""
        if ticket.state is _TicketState.WAITING:
            self._queue.remove(ticket)
        elif ticket.state is _TicketState.ACTIVE:
            self._active -= 1
            self._durations.append(self._now() - ticket.granted_at)
            if self._queue:
                self._grant(self._queue.popleft())
        ticket.state = _TicketState.LEFT

    def retry_after(self) -> float:
        """Seconds until a request would be admitted if those ahead take as long as the recent ones did."""
        if not self._durations:
            return _MIN_RETRY_SECONDS
        mean = sum(self._durations) / len(self._durations)
        return max(_MIN_RETRY_SECONDS, mean * (len(self._queue) + 1) / self._max_active)

    def _grant(self, ticket: Ticket) -> None:
        self._active += 1
        ticket.grant(self._now())

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
