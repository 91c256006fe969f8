"""Admission control: who is spoken now, who waits, and who is refused because the wait would be too long.

A request waits for a slot of its model. It is admitted to the queue only if it can expect one within the wait that it
accepts, and refused when that time is over. Clients take turns in the queue. A slot is held only while the engine works
for its request: not while the client does not read, and not while a stream that is well ahead of its playback lets
others begin. Background requests, the items of a batch, come after all others and hold half of the slots at most.

The rules, the problem that each solves, and the trial that shows it are in docs/scheduling.md.
"""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Self

from polyvox.config import Settings
from polyvox.errors import OverloadedError, RefusalReason
from polyvox.service.admission.admission_request import AdmissionRequest
from polyvox.service.admission.capacity import PLAYBACK_RATE, ThroughputEstimator
from polyvox.service.admission.fair_share import FEW_STREAMS, FairShare
from polyvox.service.admission.queue import FairQueue, ModelQueue
from polyvox.service.admission.start_gate import StartGate
from polyvox.service.admission.ticket import LEAD_SECONDS, Ticket, TicketState
from polyvox.service.admission.wait_forecast import MARGIN, WaitForecast

_LOW_LEAD_SECONDS = 5.0
"""Audio ahead of playback with which a stream goes on in any case."""
_YIELD_SECONDS = (1.0, 5.0)
_STALLED_SECONDS = 5.0
"""Time without reading after which a client's session can be dropped in favour of one that waits."""
_MIN_RETRY_SECONDS = 1.0
_MAX_SPREAD_SECONDS = 30.0
_OPEN_PER_SLOT = 2
"""Sessions per slot that may be open, those without a slot included."""
_BACKGROUND_SHARE = 0.5
"""Share of the slots that background requests may hold, so that a live one finds a slot."""
_AT_WORK = (TicketState.ACTIVE, TicketState.YIELDING)
_STALLED = (TicketState.PAUSED, TicketState.IDLE, TicketState.FINISHED)


class AdmissionController:
    """At most `max_active` requests at once and `max_waiting` in the queue.

    With `adaptive`, fewer run at once where more would not be kept playing. `max_share` of the slots and of the queue
    is what one client may hold while another waits. `on_grant` is told how long each live request waited.
    """

    def __init__(
        self,
        max_active: int,
        max_waiting: int,
        *,
        adaptive: bool = False,
        max_share: float = 1.0,
        on_grant: Callable[[float], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_active = max_active
        self._max_waiting = max_waiting
        self._adaptive = adaptive
        self._on_grant = on_grant
        self._clock = clock
        self._queues: dict[str, ModelQueue[Ticket]] = {}
        self._waiting: FairQueue[Ticket] = FairQueue()
        self._open: dict[Ticket, None] = {}
        self._share = FairShare(max_share, self._waiting, self._open)
        self._gate = StartGate(self._share, self._open, self.now)
        self._forecast = WaitForecast(
            self._waiting, self._share, self._gate, free_slots=lambda: max_active - self.active, now=self.now
        )
        self._numbers = count()
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    def of(cls, settings: Settings, on_grant: Callable[[float], None]) -> Self:
        """The controller of the settings."""
        return cls(
            settings.max_sessions,
            settings.max_queue,
            adaptive=settings.adaptive_sessions,
            max_share=settings.max_share,
            on_grant=on_grant,
        )

    def now(self) -> float:
        """Seconds on the controller's clock."""
        return self._clock()

    @property
    def active(self) -> int:
        return sum(len(queue.active) for queue in self._queues.values())

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def limit(self) -> int:
        """Requests that may be spoken at once as things are; the least of all models."""
        return min((queue.throughput.limit for queue in self._queues.values()), default=self._max_active)

    def expected_wait(self) -> float:
        """Seconds that a new request of a new client would wait; the longest of all models."""
        waits = [self._forecast.seconds(Ticket(self, queue, next(self._numbers))) for queue in self._queues.values()]
        return max((wait for wait in waits if wait is not None), default=0.0)

    def completed(self, model: str, audio: float, busy_seconds: float) -> None:
        """Count the work that an engine had with a whole request."""
        if model in self._queues:
            self._queues[model].throughput.completed(audio, busy_seconds)

    def least_seconds(self, model: str, audio: float) -> float:
        """Seconds in which a model could make so much audio at best; 0 while that is not known."""
        queue = self._queues.get(model)
        return 0.0 if queue is None else queue.throughput.least_seconds(audio)

    def enter(self, asked: AdmissionRequest = AdmissionRequest(), capacity: float | None = None) -> Ticket:
        """A ticket, granted at once where a slot is free; `OverloadedError` where it would wait too long.

        `capacity` is the audio per second that all streams of the model share, where the model knows it before any was
        heard. One that `continues` a stream which is heard still has that one's slot.
        """
        ticket = Ticket(self, self._queue(asked.model, capacity), next(self._numbers), asked)
        self._waiting.push(ticket)
        if asked.continues:
            self._grant(ticket)
            return ticket
        wait = None if asked.background else self._forecast.seconds(ticket)
        if wait is not None and self._gate.guards(ticket):
            ticket.forecast = wait / ticket.queue.forecast_error.factor(self.now())
        if not self._begins_too_late(ticket, wait):
            self.dispatch()
        if ticket.state is TicketState.WAITING and not asked.background:  # a batch bounds the number of its own
            try:
                self._check(ticket, wait)
            except OverloadedError:
                self._withdraw(ticket)
                raise
        return ticket

    async def admit(self, asked: AdmissionRequest, capacity: float | None) -> Ticket:
        """The same for a caller that would also wait for an admission elsewhere."""
        return self.enter(asked, capacity)

    def expired(self, ticket: Ticket) -> OverloadedError:
        """The refusal of a request that has waited as long as it accepts."""
        problem = f"The request did not get its turn within {ticket.max_wait:g} s"
        return self._refusal(ticket, RefusalReason.WAIT, problem, self._forecast.seconds(ticket))

    def dispatch(self) -> None:
        """Grant free slots to those who wait, in their order; with nobody left, wake streams that yielded theirs."""
        if self._waiting.live() and len(self._open) >= _OPEN_PER_SLOT * self._max_active:
            self._drop_stalled()
        for ticket in self._waiting.in_order():
            if self.active >= self._max_active or len(self._open) >= _OPEN_PER_SLOT * self._max_active:
                break
            has_room = ticket.queue.has_room_for(ticket) or self.is_starved(ticket)
            if has_room and self._may_hold_a_slot(ticket):
                self._grant(ticket)
        if not self._waiting.live():
            self._wake()
        for queue in self._queues.values():
            self.start_streams(queue)

    def start(self, ticket: Ticket) -> bool:
        """Called by the ticket that has got its slot: whether it may begin; if not, it leaves the slot to others."""
        if self.may_start(ticket):
            ticket.begin()
            return True
        ticket.queue.hold_back(ticket, self.now())
        self.yield_slot(ticket, TicketState.STARTING)
        return ticket.started

    def start_streams(self, queue: ModelQueue[Ticket]) -> None:
        """Let those streams of a model begin that can be kept playing, now that audio was made or one has ended."""
        shortest = math.inf
        for ticket in self._gate.order(queue):
            if (ticket.size < shortest or self.is_starved(ticket)) and self.may_start(ticket):
                self.begin(ticket)
            else:
                shortest = min(shortest, ticket.size)

    def begin(self, ticket: Ticket) -> None:
        """Give a stream that was held back its slot, even where that is one more than the limit."""
        if not ticket.started:
            ticket.queue.let_begin(ticket, self.now())
            self.take_slot(ticket)
            ticket.begin()

    def may_start(self, ticket: Ticket) -> bool:
        """Return whether a stream can begin without gaps for itself or for those of its model that are heard."""
        return self._gate.may_start(ticket)

    def is_starved(self, ticket: Ticket) -> bool:
        """Return whether its client has no other stream of the model, while another is over its share."""
        return self._share.is_starved(ticket)

    def is_over_share(self, client: str, queue: ModelQueue[Ticket]) -> bool:
        """Return whether a client has or wants more than its share of the model."""
        return client in self._share.over_share(queue)

    def yield_seconds(self, ticket: Ticket) -> float:
        """Time for which a stream should let others use the engine before its next chunk."""
        if ticket.background:
            return _YIELD_SECONDS[0] if ticket.audio and self._is_in_the_way(ticket) else 0.0
        waiting = [*self._waiting.live(), *ticket.queue.held_back]
        if not ticket.audio or not (waiting or self._share.crowds_others(ticket)):
            return 0.0
        full = self.active >= self._max_active
        others = [other for other in waiting if full or other.queue is ticket.queue]
        lead = ticket.ahead(self.now())
        starves = any(other.client != ticket.client for other in others) and self._share.holds_over_share(ticket)
        if starves or self._share.crowds_others(ticket) or (others and lead >= LEAD_SECONDS):
            shortest, longest = _YIELD_SECONDS
            return min(longest, max(shortest, lead - _LOW_LEAD_SECONDS))
        return 0.0

    def yield_slot(self, ticket: Ticket, state: TicketState) -> None:
        """Called by the ticket: it needs no slot while it is in this state."""
        if ticket.state is TicketState.ACTIVE:
            self._deactivate(ticket, state)
            ticket.stalled_since = self.now()
            self.dispatch()

    def take_slot(self, ticket: Ticket) -> None:
        """Called by the ticket: it needs a slot again."""
        if ticket.state in (TicketState.STARTING, TicketState.PAUSED, TicketState.IDLE, TicketState.YIELDING):
            self._activate(ticket)

    def leave(self, ticket: Ticket) -> None:
        """Called by the ticket."""
        if ticket.state is TicketState.LEFT:
            return
        if ticket.state is TicketState.WAITING:
            self._withdraw(ticket)
            self.dispatch()
            return
        del self._open[ticket]
        if not ticket.queue.model:  # it reports no chunks: its whole time counts as one
            ticket.queue.throughput.chunk(ticket.size, self.now() - ticket.granted_at, 1.0)
        self._forget(ticket.client)
        ticket.queue.let_begin(ticket, self.now())
        self._deactivate(ticket, TicketState.LEFT)
        self.dispatch()

    def _queue(self, model: str, capacity: float | None) -> ModelQueue[Ticket]:
        queue = self._queues.get(model)
        if queue is None:
            throughput = ThroughputEstimator(self._max_active, adaptive=self._adaptive, capacity=capacity)
            queue = self._queues[model] = ModelQueue(model, throughput)
        return queue

    def _grant(self, ticket: Ticket) -> None:
        self._waiting.pop(ticket)
        self._open[ticket] = None
        self._activate(ticket)
        if not ticket.background:
            self._on_grant(self.now() - ticket.entered)
        ticket.grant(self.now())

    def _wake(self) -> None:
        """Wake streams that yielded their slots, as many as there are free ones."""
        yielding = [ticket for ticket in self._open if ticket.state is TicketState.YIELDING]
        for ticket in yielding[: self._max_active - self.active]:
            has_room = ticket.queue.has_room_for(ticket) and not ticket.queue.held_back
            if has_room and not self._is_in_the_way(ticket):
                ticket.wake()

    def _withdraw(self, ticket: Ticket) -> None:
        """Take a ticket out of the queue; that frees no slot."""
        self._waiting.withdraw(ticket)
        self._forget(ticket.client)
        ticket.state = TicketState.LEFT

    def _forget(self, client: str) -> None:
        """Keep nothing of a client that has no requests any more."""
        if not any(other.client == client for other in (*self._waiting, *self._open)):
            self._waiting.forget(client)

    def _activate(self, ticket: Ticket) -> None:
        ticket.queue.add(ticket, self.now())
        ticket.state = TicketState.ACTIVE

    def _deactivate(self, ticket: Ticket, state: TicketState) -> None:
        ticket.queue.discard(ticket, self.now())
        ticket.state = state

    def _may_hold_a_slot(self, ticket: Ticket) -> bool:
        """Return whether a slot that is free is for this ticket: not all of them are for background requests."""
        if not ticket.background:
            return True
        held = [other for other in self._open if other.background and other.state in _AT_WORK]
        share = min(_BACKGROUND_SHARE * ticket.queue.throughput.limit, ticket.queue.background_limit)
        return len(held) < max(1, int(_BACKGROUND_SHARE * self._max_active)) and sum(
            other.queue is ticket.queue for other in held
        ) < max(1, int(share))

    def _is_in_the_way(self, ticket: Ticket) -> bool:
        """Return whether a background request slows down a live one that waits, or that may run out of audio."""
        now = self.now()
        return ticket.background and (
            any(other.queue is ticket.queue for other in self._waiting.live())
            or any(not other.background and other.ahead(now) < _LOW_LEAD_SECONDS for other in ticket.queue.active)
        )

    def _drop_stalled(self) -> None:
        """Drop the longest stalled session of the client that has most; where none has stalled for long, look later."""
        stalled = [ticket for ticket in self._open if ticket.state in _STALLED]
        if not stalled:
            return
        held = Counter(ticket.client for ticket in self._open)
        worst = max(stalled, key=lambda ticket: (held[ticket.client], -ticket.stalled_since))
        wait = worst.stalled_since + _STALLED_SECONDS - self.now()
        if wait <= 0:
            worst.on_drop()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(wait, self._look_again)

    def _look_again(self) -> None:
        self._timer = None
        self.dispatch()

    def _begins_too_late(self, ticket: Ticket, wait: float | None) -> bool:
        """Return whether it would find a slot, but begin only after the wait that it accepts."""
        if wait is None or wait <= MARGIN * ticket.max_wait or not self._gate.guards(ticket):
            return False
        queue = ticket.queue
        return queue.running + len(queue.held_back) >= FEW_STREAMS and not self.is_starved(ticket)

    def _check(self, ticket: Ticket, wait: float | None) -> None:
        """Refuse a request that has just come by its client's share of the queue, the queue's length, or its wait."""
        waiting = Counter(other.client for other in self._waiting.live())
        share = self._share.places(self._max_waiting)
        if len(waiting) > 1 and waiting[ticket.client] > share:
            raise self._refusal(ticket, RefusalReason.SHARE, "Your other requests fill their share of the queue", wait)
        if wait is not None and wait > MARGIN * ticket.max_wait:
            raise self._refusal(ticket, RefusalReason.WAIT, f"The request would wait {wait:.1f} s for its turn", wait)
        if waiting.total() > self._max_waiting and not self._made_room_for(ticket, waiting, share):
            problem = (
                f"The server is at its limit of {self._max_active} requests at once and {self._max_waiting} waiting"
            )
            raise self._refusal(ticket, RefusalReason.QUEUE, problem, wait)

    def _made_room_for(self, ticket: Ticket, waiting: Counter[str], share: float) -> bool:
        """Take the last place of a client that has more than its share of the queue."""
        client, places = waiting.most_common(1)[0]
        if places <= share or client == ticket.client:
            return False
        last = self._waiting.last_of(client)
        problem = "Your other requests fill their share of the queue"
        last.refuse(self._refusal(last, RefusalReason.SHARE, problem, self._forecast.seconds(last)))
        self.leave(last)
        return True

    def _refusal(self, ticket: Ticket, reason: RefusalReason, problem: str, wait: float | None) -> OverloadedError:
        seconds = self._retry_after(ticket, wait, has_place=reason is RefusalReason.WAIT)
        return OverloadedError(f"{problem}; try again in {seconds:.0f} s.", retry_after=seconds, reason=reason)

    def _retry_after(self, ticket: Ticket, wait: float | None, *, has_place: bool) -> float:
        """Seconds until the request would be admitted, if those turned away before it come back when they were told.

        One that has no place in the queue gets it when the next of its client's begins.
        """
        queue, now = ticket.queue, self.now()
        per_stream = queue.throughput.per_stream
        if wait is None or per_stream is None:
            return _MIN_RETRY_SECONDS
        place = 0.0 if has_place else self._forecast.seconds_until_place(ticket)
        soonest = now + max(place, wait - MARGIN * ticket.max_wait)
        at = min(max(soonest, queue.retry_at), soonest + _MAX_SPREAD_SECONDS)
        is_guarded = self._gate.guards(ticket)
        rate = (queue.throughput.capacity or PLAYBACK_RATE) if is_guarded else per_stream * queue.throughput.limit
        queue.retry_at = at + ticket.size / rate
        return max(_MIN_RETRY_SECONDS, at - now)
