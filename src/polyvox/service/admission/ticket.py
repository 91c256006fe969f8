"""A request's ticket: its place in the queue, then its slot, and what it has produced with it."""

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from functools import partial
from typing import Protocol
from weakref import ref

from polyvox.errors import OverloadedError
from polyvox.runtime.precedence import Precedence, enter_precedence
from polyvox.service.admission.admission_request import AdmissionRequest
from polyvox.service.admission.queue import ModelQueue

LEAD_SECONDS = 10.0
"""Audio ahead of playback with which a stream makes way for those who wait."""

_SPARE_SECONDS = 1.0
"""Audio ahead of playback with which a stream may stay out of the engine while another client's first audio is made."""

LONGEST_START_WAIT = 30.0
"""Seconds after which a stream begins even if others will have gaps for it."""

_AUDIBLE_SECONDS = 0.1
"""Silence that a listener's player does not bridge."""

_UNFINISHED = 0.1
"""Share of its expected audio that a stream is taken to have left, however much it has produced."""


class TicketState(Enum):
    """State of a ticket; only an active one holds a slot."""

    WAITING = auto()
    ACTIVE = auto()
    STARTING = auto()
    PAUSED = auto()
    IDLE = auto()
    YIELDING = auto()
    FINISHED = auto()
    LEFT = auto()


class Controller(Protocol):
    """The part of admission that a ticket asks and tells."""

    def now(self) -> float: ...

    def expired(self, ticket: "Ticket") -> OverloadedError: ...

    def yield_seconds(self, ticket: "Ticket") -> float: ...

    def start(self, ticket: "Ticket") -> bool: ...

    def begin(self, ticket: "Ticket") -> None: ...

    def start_streams(self, queue: "ModelQueue[Ticket]") -> None: ...

    def is_starved(self, ticket: "Ticket") -> bool: ...

    def is_over_share(self, client: str, queue: "ModelQueue[Ticket]") -> bool: ...

    def yield_slot(self, ticket: "Ticket", state: TicketState) -> None: ...

    def take_slot(self, ticket: "Ticket") -> None: ...

    def dispatch(self) -> None: ...

    def leave(self, ticket: "Ticket") -> None: ...


class SessionTicket(Protocol):
    """The part of a ticket that a session asks and tells; `on_drop` is called where the session is to make room."""

    on_drop: Callable[[], None]

    @property
    def seconds_ahead(self) -> float: ...

    async def granted(self) -> None: ...

    async def turn(self) -> None: ...

    def produced(self, audio: float, seconds: float | None) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def idle(self) -> None: ...

    async def text_came(self) -> None: ...

    def read(self) -> None: ...

    def finish(self) -> None: ...

    def release(self) -> None: ...


class Ticket:
    """A place in the queue that becomes an active slot, until it is released."""

    def __init__(
        self,
        controller: Controller,
        queue: "ModelQueue[Ticket]",
        number: int,
        asked: AdmissionRequest = AdmissionRequest(),
    ) -> None:
        self.queue = queue
        self.number = number
        self.client = asked.client
        self.chars = asked.chars
        self.max_wait = asked.max_wait
        self.paced = asked.paced
        self.background = asked.background
        self.continues = asked.continues
        self.virtual_start = 0.0
        self.size = queue.throughput.expected_seconds(asked.chars)
        self.state = TicketState.WAITING
        self.forecast: float | None = None
        """Seconds from its entry to its first audio, as forecast then; None where that is not known."""
        self.entered = controller.now()
        self.granted_at = 0.0
        self.stalled_since = 0.0
        self.audio = 0.0
        self.started = False
        self.on_drop: Callable[[], None] = lambda: None
        self._controller = controller
        self._admitted = asyncio.Event()
        self._refusal: OverloadedError | None = None
        self._woken = asyncio.Event()
        self._begun = asyncio.Event()
        self._plays_until = 0.0
        self._paused_at: float | None = None
        self._idle_since: float | None = None
        self._idle_seconds = 0.0
        self._turned_at = 0.0
        self._load = 0.0
        self._ran_dry = False
        # Tasks that outlive the stream keep this: it must not hold the ticket, and so the session.
        self.precedence = Precedence(background=asked.background, makes_way=partial(_makes_way, ref(self)))
        """That of the tasks which work for the stream."""

    async def granted(self) -> None:
        """Wait until the request is admitted; `OverloadedError` when that takes longer than it accepts."""
        try:
            async with asyncio.timeout(None if math.isinf(self.max_wait) else self.max_wait):
                await self._admitted.wait()
        except TimeoutError:
            raise self._controller.expired(self) from None
        if self._refusal is not None:
            raise self._refusal

    async def turn(self) -> None:
        """Let others begin while this stream can do without the engine; to be awaited before each chunk.

        The first chunk waits until the stream can be kept playing beside those that are heard already.
        """
        if not self.started:
            await self._start()
        seconds = self._controller.yield_seconds(self)
        if seconds:
            await self._yield_slot(seconds)
        self._measure_from(self._controller.now())

    def _measure_from(self, now: float) -> None:
        self._turned_at, self._load = now, self.queue.load(now)

    async def _yield_slot(self, seconds: float) -> None:
        self._woken.clear()
        self._controller.yield_slot(self, TicketState.YIELDING)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        self._controller.take_slot(self)

    async def _start(self) -> None:
        if not self._controller.start(self):
            with suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_START_WAIT):
                    await self._begun.wait()
            self._controller.begin(self)
        self.precedence.goes_first = self._controller.is_starved(self)
        enter_precedence(self.precedence)

    def begin(self) -> None:
        """Called by the controller: the first chunk may be made."""
        self.started = True
        self._begun.set()

    def produced(self, audio: float, seconds: float | None) -> None:
        """Count a chunk and the time since its turn; None where that time says nothing about the engine."""
        now = self._controller.now()
        is_first = not self.audio
        if is_first:
            self.precedence.goes_first = False
        elif now - self._plays_until > _AUDIBLE_SECONDS:
            self._ran_dry = True
        self.audio += audio
        self._plays_until = max(now, self._plays_until) + audio
        if seconds is not None and self.paced:
            self._count(audio, seconds, now, is_first=is_first)
        elif audio > 0.0:
            self.queue.throughput.delivered(audio)
        self._controller.start_streams(self.queue)

    def _count(self, audio: float, seconds: float, now: float, *, is_first: bool) -> None:
        queue = self.queue
        elapsed = now - self._turned_at  # longer than `seconds`, by much where the chunk was there at once
        running = (queue.load(now) - self._load) / elapsed if elapsed > 0 else queue.running
        queue.count_chunk(audio, seconds, running)
        if self.background:
            queue.count_background_chunk(seconds)
            self._controller.dispatch()
        elif is_first:
            queue.throughput.first_chunk(seconds)
            if self.forecast is not None:
                queue.forecast_error.add(self.forecast, now - self.entered - self._idle_seconds, now)

    def pause(self) -> None:
        """Give up the slot while the client does not read."""
        if self._paused_at is None:
            self._paused_at = self._controller.now()
        self._controller.yield_slot(self, TicketState.PAUSED)

    def resume(self) -> None:
        """Go on at once, even where that is one more than the limit: the next in the queue waits for it instead.

        If it waited itself, engines with slots of their own could come to a halt: a stream that has one would wait for
        another that needs it.
        """
        if self._paused_at is not None:  # what was not read was not played either
            self._plays_until += self._controller.now() - self._paused_at
            self._paused_at = None
        self._controller.take_slot(self)

    def idle(self) -> None:
        """Give up the slot while there is no text to speak; unlike in a pause, the listener plays on.

        A stream that is not heard yet has not begun.
        """
        if self._idle_since is None:
            self._idle_since = self._controller.now()
            if not self.audio:
                self.started = False
                self._begun.clear()
            self._controller.yield_slot(self, TicketState.IDLE)

    async def text_came(self) -> None:
        """Go on as after a pause, or begin; what was not there to be spoken is no delay."""
        if self._idle_since is None:
            return
        now = self._controller.now()
        self._idle_seconds += now - self._idle_since
        self._idle_since = None
        self._plays_until = max(self._plays_until, now)
        self._controller.take_slot(self)
        if not self.started:
            await self._start()
        self._measure_from(self._controller.now())

    def read(self) -> None:
        """Note that the client takes what it is given."""
        self.stalled_since = self._controller.now()

    def finish(self) -> None:
        """Give up the slot because everything is produced; only the client still has to read."""
        self.queue.throughput.finished(self.chars, self.audio)
        if self.paced and not self.background:
            self.queue.throughput.played(ran_dry=self._ran_dry)
        self._controller.yield_slot(self, TicketState.FINISHED)

    def release(self) -> None:
        """Leave the queue, or free the slot for the next in it; idempotent."""
        self._controller.leave(self)

    @property
    def is_granted(self) -> bool:
        """True if the request is admitted, so that `granted` does not wait."""
        return self._admitted.is_set() and self._refusal is None

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
    def seconds_ahead(self) -> float:
        """The same now."""
        return self.ahead(self._controller.now())

    @property
    def makes_way(self) -> bool:
        """True if its client has more than its share, and its listener does not notice that the stream stands still."""
        has_spare = self.ahead(self._controller.now()) >= _SPARE_SECONDS
        return has_spare and self._controller.is_over_share(self.client, self.queue)

    @property
    def is_heard(self) -> bool:
        """True if its listener waits for more; nobody listens to a background request.

        One that waits for text needs nothing, nor does one that has run dry where the engine itself waits for it.
        """
        at_work = self.state in (TicketState.ACTIVE, TicketState.YIELDING, TicketState.PAUSED)
        ran_dry = not self.paced and self.audio > 0.0 and self.ahead(self._controller.now()) <= 0.0
        return at_work and not ran_dry and not self.background

    @property
    def audio_left(self) -> float:
        """Seconds of audio that are still to be expected."""
        return max(self.size - self.audio, _UNFINISHED * self.size)

    def seconds_left(self, now: float, throughput: float) -> float:
        """Time for which it will need its slot: until its end, or until it can make way for others."""
        left = self.audio_left / throughput
        makes_way = max(0.0, LEAD_SECONDS - self.ahead(now)) / (throughput - 1.0) if throughput > 1.0 else math.inf
        return min(left, makes_way)


def _makes_way(ticket: ref[Ticket]) -> bool:
    found = ticket()
    return found is not None and found.makes_way
