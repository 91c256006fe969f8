"""Who may speak now, who waits, and who is sent away."""

import asyncio
from collections import deque
from enum import Enum, auto

from polyvox.errors import OverloadedError

_REMEMBERED = 64
_MIN_RETRY_SECONDS = 1.0


class _Place(Enum):
    WAITING = auto()
    ACTIVE = auto()
    LEFT = auto()


class Ticket:
    """A place in the queue that becomes a place among the active, until it is released."""

    def __init__(self, admission: "Admission") -> None:
        self._admission = admission
        self._turn = asyncio.Event()
        self.place = _Place.WAITING
        self.granted_at = 0.0

    async def granted(self) -> None:
        """Wait for one's turn."""
        await self._turn.wait()

    def grant(self, now: float) -> None:
        self.place = _Place.ACTIVE
        self.granted_at = now
        self._turn.set()

    def release(self) -> None:
        """Leave the queue, or make room for the next in it; again has no effect."""
        self._admission.leave(self)


class Admission:
    """At most `max_active` at once and `max_waiting` in line, first come, first served."""

    def __init__(self, max_active: int, max_waiting: int) -> None:
        self._max_active = max_active
        self._max_waiting = max_waiting
        self._active = 0
        self._line: deque[Ticket] = deque()
        self._durations: deque[float] = deque(maxlen=_REMEMBERED)

    @property
    def active(self) -> int:
        return self._active

    @property
    def waiting(self) -> int:
        return len(self._line)

    def enter(self) -> Ticket:
        """A ticket, granted at once where there is room; `OverloadedError` when the line is full."""
        ticket = Ticket(self)
        if self._active < self._max_active:
            self._grant(ticket)
        elif len(self._line) < self._max_waiting:
            self._line.append(ticket)
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
        if ticket.place is _Place.WAITING:
            self._line.remove(ticket)
        elif ticket.place is _Place.ACTIVE:
            self._active -= 1
            self._durations.append(self._now() - ticket.granted_at)
            if self._line:
                self._grant(self._line.popleft())
        ticket.place = _Place.LEFT

    def retry_after(self) -> float:
        """When a request that came now would be granted if everyone ahead takes as long as the last ones did."""
        if not self._durations:
            return _MIN_RETRY_SECONDS
        usual = sum(self._durations) / len(self._durations)
        return max(_MIN_RETRY_SECONDS, usual * (len(self._line) + 1) / self._max_active)

    def _grant(self, ticket: Ticket) -> None:
        self._active += 1
        ticket.grant(self._now())

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
