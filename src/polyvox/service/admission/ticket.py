"""A request's ticket: its place in the queue, then its slot, and what it has produced with it."""

import asyncio
import math
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING

from polyvox.errors import OverloadedError
from polyvox.runtime.precedence import Precedence, enter_precedence
from polyvox.service.admission.lateness import Lateness
from polyvox.service.admission.pace import Pace
from polyvox.service.admission.throughput import Throughput

if TYPE_CHECKING:
    from polyvox.service.admission.admission import Admission

LEAD_SECONDS = 10.0
"""Audio ahead of playback with which a stream makes way for those who wait."""

LONGEST_START_WAIT = 30.0
"""Seconds after which a stream begins even if others will have gaps for it."""

_MOST_HELD_BACK = 4
"""Streams that wait to begin with a slot of their own; the others wait in the queue."""
_MUCH_SHORTER = 0.5
"""Share of the shortest of these that a stream may have to be let in beside them."""

_BACKGROUND_CHUNK_SECONDS = 2.0
"""Time for a chunk of a background request beyond which fewer of them should run at once."""

_UNFINISHED = 0.1
"""Share of its expected audio that a stream is taken to have left, however much it has produced."""


@dataclass(frozen=True, slots=True)
class Job:
    """What admission has to know of a request.

    `client` is its key or its address. `chars` is the length of its text, 0 where that is not known. `paced` is false
    where the time between chunks is not the engine's alone, as for a text that is still arriving or a silence. Nobody
    listens to a `background` job while it is spoken: live ones go first. `capacity` is the audio per second that all
    streams of the model share, where the model knows it before any was heard.
    """

    model: str = ""
    client: str = ""
    chars: int = 0
    max_wait: float = math.inf
    paced: bool = True
    background: bool = False
    capacity: float | None = None


class TicketState(Enum):
    """State of a ticket; only an active one holds a slot."""

    WAITING = auto()
    ACTIVE = auto()
    STARTING = auto()
    PAUSED = auto()
    NAPPING = auto()
    FINISHED = auto()
    LEFT = auto()


class Lane:
    """The requests of one model: its pace, its active tickets, and until when others were told to stay away.

    `running` counts those of them that keep the engine busy. `background_limit` is how many background requests may run
    at once: it grows while their chunks come soon, as on an engine that batches, and shrinks where each waits for the
    others, since a live request would wait behind them, too.
    """

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self.active: set[Ticket] = set()
        self.starting: set[Ticket] = set()
        """Those that have a slot, and begin when they can be kept playing."""
        self.streams_of: Counter[str] = Counter()
        """How many of these each client has."""
        self.running = 0
        self.throughput = Throughput()
        self.lateness = Lateness()
        self.retry_at = 0.0
        self.background_limit = 1.0
        self._load = 0.0
        self._updated = 0.0

    def add(self, ticket: "Ticket", now: float) -> None:
        self.load(now)
        self.active.add(ticket)
        self.streams_of[ticket.job.client] += 1
        self.running += ticket.job.paced

    def discard(self, ticket: "Ticket", now: float) -> None:
        self.load(now)
        if ticket in self.active:
            self.active.remove(ticket)
            self._forget(ticket.job.client)
            self.running -= ticket.job.paced

    def hold_back(self, ticket: "Ticket", now: float) -> None:
        """Count one that waits until it can be kept playing."""
        self.load(now)
        self.starting.add(ticket)
        self.streams_of[ticket.job.client] += 1

    def let_begin(self, ticket: "Ticket", now: float) -> None:
        self.load(now)
        if ticket in self.starting:
            self.starting.remove(ticket)
            self._forget(ticket.job.client)

    def _forget(self, client: str) -> None:
        self.streams_of[client] -= 1
        if not self.streams_of[client]:
            del self.streams_of[client]

    def has_room_for(self, ticket: "Ticket") -> bool:
        """Whether one more may have a slot; those that are held back keep all but one from it.

        Where some are held back already, the next ones are better off in the queue, where clients take turns; but one
        that is much shorter may begin before them.
        """
        if not ticket.job.paced:
            return True
        if self.running + len(self.starting) >= self.pace.limit + bool(self.starting):
            return False
        held_back = [other.size for other in self.starting]
        return len(held_back) < _MOST_HELD_BACK or ticket.size < _MUCH_SHORTER * min(held_back)

    def background_chunk(self, seconds: float) -> None:
        """Count the time in which a background request got a chunk."""
        soon = seconds <= _BACKGROUND_CHUNK_SECONDS
        self.background_limit = (
            self.background_limit + 1 / self.background_limit if soon else max(1.0, self.background_limit / 2)
        )

    def load(self, now: float) -> float:
        """The time integral of `running`."""
        self.throughput.passed(now, self.running)
        self._load += self.running * (now - self._updated)
        self._updated = now
        return self._load


class Ticket:
    """A place in the queue that becomes an active slot, until it is released."""

    def __init__(self, admission: "Admission", job: Job, lane: Lane, number: int) -> None:
        self.job = job
        self.lane = lane
        self.number = number
        self.start = 0.0
        self.size = lane.pace.expected_seconds(job.chars)
        self.state = TicketState.WAITING
        self.forecast: float | None = None
        """Seconds from its entry to its first audio, as forecast then; None where that is not known."""
        self.entered = admission.now()
        self.granted_at = 0.0
        self.stalled_since = 0.0
        self.audio = 0.0
        self.started = False
        self.on_drop: Callable[[], None] = lambda: None
        self._admission = admission
        self._admitted = asyncio.Event()
        self._refusal: OverloadedError | None = None
        self._woken = asyncio.Event()
        self._begun = asyncio.Event()
        self._plays_until = 0.0
        self._paused_at: float | None = None
        self._turned_at = 0.0
        self._load = 0.0
        # Tasks that outlive the stream keep this: it must not hold the ticket, and so the session.
        self._precedence = Precedence(makes_way=partial(admission.has_too_much, job.client, lane))

    async def granted(self) -> None:
        """Wait until the request is admitted; `OverloadedError` when that takes longer than it accepts."""
        wait = self.job.max_wait
        try:
            async with asyncio.timeout(None if math.isinf(wait) else wait):
                await self._admitted.wait()
        except TimeoutError:
            raise self._admission.expired(self) from None
        if self._refusal is not None:
            raise self._refusal

    async def turn(self) -> None:
        """Let others begin while this stream can do without the engine; to be awaited before each chunk.

        The first chunk waits until the stream can be kept playing beside those that are heard already.
        """
        if not self.started:
            await self._start()
        nap = self._admission.nap_seconds(self)
        if nap:
            self._woken.clear()
            self._admission.give(self, TicketState.NAPPING)
            with suppress(TimeoutError):
                async with asyncio.timeout(nap):
                    await self._woken.wait()
            self._admission.take(self)
        self._turned_at = now = self._admission.now()
        self._load = self.lane.load(now)

    async def _start(self) -> None:
        if not self._admission.start(self):
            with suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_START_WAIT):
                    await self._begun.wait()
            self._admission.begin(self)
        self._precedence.goes_first = self._admission.is_passed_over(self)
        enter_precedence(self._precedence)

    def begin(self) -> None:
        """Called by the admission: the first chunk may be made."""
        self.started = True
        self._begun.set()

    def produced(self, audio: float, seconds: float | None) -> None:
        """Count a chunk and the time since its turn; None where that time says nothing about the engine."""
        now = self._admission.now()
        is_first = not self.audio
        if is_first:
            self._precedence.goes_first = False
        self.audio += audio
        self._plays_until = max(now, self._plays_until) + audio
        if seconds is not None and self.job.paced:
            self._count(audio, seconds, now, is_first=is_first)
        self._admission.start_streams(self.lane)

    def _count(self, audio: float, seconds: float, now: float, *, is_first: bool) -> None:
        lane = self.lane
        elapsed = now - self._turned_at  # longer than `seconds`, by much where the chunk was there at once
        running = (lane.load(now) - self._load) / elapsed if elapsed > 0 else lane.running
        lane.pace.chunk(audio, seconds, running)
        lane.throughput.chunk(audio)
        if lane.throughput.per_second is not None:
            lane.pace.delivered(lane.throughput.per_second)
        if self.job.background:
            lane.background_chunk(seconds)
            self._admission.dispatch()
        elif is_first:
            lane.pace.first_chunk(seconds)
            if self.forecast is not None:
                lane.lateness.add(self.forecast, now - self.entered, now)

    def pause(self) -> None:
        """Give up the slot while the client does not read."""
        if self.job.paced and self._paused_at is None:  # a text that is still arriving may be paused while it is heard
            self._paused_at = self._admission.now()
        self._admission.give(self, TicketState.PAUSED)

    def resume(self) -> None:
        """Go on at once, even where that is one more than the limit: the next in the queue waits for it instead.

        If it waited itself, engines with slots of their own could come to a halt: a stream that has one would wait for
        another that needs it.
        """
        if self._paused_at is not None:  # what was not read was not played either
            self._plays_until += self._admission.now() - self._paused_at
            self._paused_at = None
        self._admission.take(self)

    def read(self) -> None:
        """Note that the client takes what it is given."""
        self.stalled_since = self._admission.now()

    def finish(self) -> None:
        """Give up the slot because everything is produced; only the client still has to read."""
        self.lane.pace.finished(self.job.chars, self.audio)
        self._admission.give(self, TicketState.FINISHED)

    def release(self) -> None:
        """Leave the queue, or free the slot for the next in it; idempotent."""
        self._admission.leave(self)

    def grant(self, now: float) -> None:
        self.granted_at = now
        self._admitted.set()

    def refuse(self, refusal: OverloadedError) -> None:
        """End the wait in favour of another client."""
        self._refusal = refusal
        self._admitted.set()

    def wake(self) -> None:
        self._woken.set()

    def ahead(self, now: float) -> float:
        """Seconds of audio ahead of a client that has played since the first audio, except while it did not read."""
        return self._plays_until - (now if self._paused_at is None else self._paused_at) if self.audio else 0.0

    @property
    def is_heard(self) -> bool:
        """Whether its listener waits for more; nobody listens to a background request."""
        at_work = self.state in (TicketState.ACTIVE, TicketState.NAPPING, TicketState.PAUSED)
        return at_work and self.job.paced and not self.job.background

    @property
    def audio_left(self) -> float:
        """Seconds of audio that are still to be expected."""
        return max(self.size - self.audio, _UNFINISHED * self.size)

    def seconds_left(self, now: float, pace: float) -> float:
        """Time for which it will need its slot at this pace: until its end, or until it can make way for others."""
        left = self.audio_left / pace
        makes_way = max(0.0, LEAD_SECONDS - self.ahead(now)) / (pace - 1.0) if pace > 1.0 else math.inf
        return min(left, makes_way)
