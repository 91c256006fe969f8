"""Admission control: who is spoken now, who waits, and who is refused because the wait would be too long.

A request waits for a slot of its model. It is admitted to the queue only if it can expect one within the wait that it
accepts, and refused when that time is over. Clients take turns in the queue. A slot is held only while the engine works
for its request: not while the client does not read, and not while a stream that is well ahead of its playback lets
others begin. Background requests, the items of a batch, come after all others and hold half of the slots at most.
"""

import asyncio
import heapq
import math
import time
from collections import Counter
from collections.abc import Callable
from itertools import count

from polyvox.errors import OverloadedError, RefusalReason
from polyvox.service.admission.pace import PLAYING, Pace
from polyvox.service.admission.playing_streams import PlayingStream, has_room
from polyvox.service.admission.start_forecast import StartForecast
from polyvox.service.admission.ticket import LEAD_SECONDS, LONGEST_START_WAIT, Job, Lane, Ticket, TicketState

_LOW_LEAD_SECONDS = 5.0
"""Audio ahead of playback with which a stream goes on in any case."""
_NAP_SECONDS = (1.0, 5.0)
_STALLED_SECONDS = 5.0
"""How long a client must have read nothing before its session can be dropped in favour of one that waits."""
_MIN_RETRY_SECONDS = 1.0
_MAX_SPREAD_SECONDS = 30.0
_MARGIN = 0.7
"""Share of the accepted wait that may be expected, so that few of those admitted wait in vain."""
_FEW = 4
"""Streams of a model that are not refused for a late start: so few would rather wait than be refused."""
_PATIENCE = 0.25
"""Share of the accepted wait after which a stream is not overtaken by shorter ones any more."""
_OPEN_PER_SLOT = 2
"""Sessions per slot that may be open, those without a slot included."""
_BACKGROUND_SHARE = 0.5
"""Share of the slots that background requests may hold, so that a live one finds a slot."""
_AT_WORK = (TicketState.ACTIVE, TicketState.NAPPING)
_WANTS_A_SLOT = (TicketState.WAITING, TicketState.STARTING, *_AT_WORK)


class Admission:
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
    ) -> None:
        self._max_active = max_active
        self._max_waiting = max_waiting
        self._adaptive = adaptive
        self._max_share = max_share
        self._on_grant = on_grant
        self._lanes: dict[str, Lane] = {}
        self._waiting: list[Ticket] = []
        self._open: dict[Ticket, None] = {}
        self._turns: dict[str, float] = {}
        self._served = 0.0
        self._numbers = count()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def active(self) -> int:
        return sum(len(lane.active) for lane in self._lanes.values())

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def limit(self) -> int:
        """Requests that may be spoken at once as things are; the least of all models."""
        return min((lane.pace.limit for lane in self._lanes.values()), default=self._max_active)

    def expected_wait(self) -> float:
        """Seconds that a new request of a new client would wait; the longest of all models."""
        waits = [self._expected_wait(self._ticket(Job(model))) for model in self._lanes]
        return max((wait for wait in waits if wait is not None), default=0.0)

    def enter(self, job: Job = Job()) -> Ticket:
        """A ticket, granted at once where a slot is free; `OverloadedError` where it would wait too long."""
        ticket = self._ticket(job)
        self._queue(ticket)
        wait = None if job.background else self._expected_wait(ticket)
        if wait is not None and self._has_to_fit(ticket):
            ticket.forecast = wait / ticket.lane.lateness.factor(self.now())
        if not self._begins_too_late(ticket, wait):
            self.dispatch()
        if ticket.state is TicketState.WAITING and not job.background:  # a batch bounds the number of its own
            try:
                self._check(ticket, wait)
            except OverloadedError:
                self._withdraw(ticket)
                raise
        return ticket

    def expired(self, ticket: Ticket) -> OverloadedError:
        """The refusal of a request that has waited as long as it accepts."""
        problem = f"The request did not get its turn within {ticket.job.max_wait:g} s"
        return self._refusal(ticket, RefusalReason.WAIT, problem, self._expected_wait(ticket))

    def nap_seconds(self, ticket: Ticket) -> float:
        """How long a stream should let others use the engine before its next chunk."""
        if ticket.job.background:
            return _NAP_SECONDS[0] if ticket.audio and self._is_in_the_way(ticket) else 0.0
        waiting = [*self._live_waiting(), *ticket.lane.starting]
        if not ticket.audio or not (waiting or self._took_too_much(ticket)):
            return 0.0
        full = self.active >= self._max_active
        others = [other for other in waiting if full or other.lane is ticket.lane]
        lead = ticket.ahead(self.now())
        in_its_way = any(other.job.client != ticket.job.client for other in others) and self._holds_too_much(ticket)
        if in_its_way or self._took_too_much(ticket) or (others and lead >= LEAD_SECONDS):
            shortest, longest = _NAP_SECONDS
            return min(longest, max(shortest, lead - _LOW_LEAD_SECONDS))
        return 0.0

    def start(self, ticket: Ticket) -> bool:
        """Called by the ticket that has got its slot: whether it may begin; if not, it leaves the slot to others."""
        if self.may_start(ticket):
            ticket.begin()
            return True
        ticket.lane.hold_back(ticket, self.now())
        self.give(ticket, TicketState.STARTING)
        return ticket.started

    def start_streams(self, lane: Lane) -> None:
        """Let those streams of a model begin that can be kept playing, now that audio was made or one has ended."""
        shortest = math.inf
        for ticket in self._start_order(lane):
            if (ticket.size < shortest or self.is_passed_over(ticket)) and self.may_start(ticket):
                self.begin(ticket)
            else:
                shortest = min(shortest, ticket.size)

    def begin(self, ticket: Ticket) -> None:
        """Give a stream that was held back its slot, even where that is one more than the limit."""
        if not ticket.started:
            ticket.lane.let_begin(ticket, self.now())
            self.take(ticket)
            ticket.begin()

    def may_start(self, ticket: Ticket) -> bool:
        """Whether a stream can begin without gaps for itself or for those of its model that are heard already.

        Where the engine is slower than playback even for one, waiting helps nobody.
        """
        if not self._has_to_fit(ticket):
            return True
        beside = self._beside(ticket)
        if any(self._is_not_overtaken(other, ticket) for other in self._starting_before(ticket, beside)):
            return False
        pace, now = ticket.lane.pace, self.now()
        unheard = sum(not other.audio for other in beside)
        if unheard >= pace.streams_at_once:
            return False  # each would only make the other's first audio late
        lead = min(self._time_alone(ticket) * (1 + unheard), LEAD_SECONDS)
        heard = [PlayingStream(other.ahead(now), other.audio_left) for other in beside if other.audio]
        coming = [PlayingStream(lead, other.size) for other in beside if not other.audio]
        return has_room([*heard, *coming], ticket.size, lead, (pace.capacity or 0.0) / PLAYING)

    def _has_to_fit(self, ticket: Ticket) -> bool:
        """Whether it begins only when it can be kept playing: where streams take the audio from each other."""
        capacity, job = ticket.lane.pace.capacity, ticket.job
        return capacity is not None and capacity >= PLAYING and job.paced and not job.background

    def _beside(self, ticket: Ticket) -> list[Ticket]:
        """The streams of its model that it must not disturb. If it is passed over, those of greedy clients are none."""
        greedy = self._greedy(ticket.lane) if self.is_passed_over(ticket) else set()
        return [
            other
            for other in self._open
            if other.lane is ticket.lane and other.started and other.is_heard and other.job.client not in greedy
        ]

    def _starting_before(self, ticket: Ticket, beside: list[Ticket]) -> list[Ticket]:
        """Those that are held back and whose turn comes first: clients take turns, those with fewest streams first."""
        greedy = self._greedy(ticket.lane) if self.is_passed_over(ticket) else set()
        streams_of = Counter(other.job.client for other in beside)
        own = (streams_of[ticket.job.client], ticket.number)
        return [
            other
            for other in ticket.lane.starting
            if other.job.client not in greedy and (streams_of[other.job.client], other.number) < own
        ]

    def _is_not_overtaken(self, first: Ticket, ticket: Ticket) -> bool:
        """Whether a stream waits for one before it: short ones need not wait for long ones, unless these wait long."""
        patience = _PATIENCE * min(first.job.max_wait, LONGEST_START_WAIT)
        return first.size <= ticket.size or self.now() - first.entered > patience

    def _time_alone(self, ticket: Ticket) -> float:
        """Chunks are made whole: the others must be able to wait until a stream is made, or has a lead of its own."""
        return min(ticket.size / (ticket.lane.pace.capacity or PLAYING), LEAD_SECONDS)

    def _start_order(self, lane: Lane) -> list[Ticket]:
        """Those that are held back, the next first: clients take turns."""
        if not lane.starting:
            return []
        streams_of = Counter(
            other.job.client for other in self._open if other.lane is lane and other.started and other.is_heard
        )
        return sorted(lane.starting, key=lambda ticket: (streams_of[ticket.job.client], ticket.number))

    def is_passed_over(self, ticket: Ticket) -> bool:
        """Whether its client has no other stream of the model, while another has or wants more than its share."""
        if ticket.job.background or not ticket.job.paced:
            return False
        own = ticket.state in (TicketState.ACTIVE, TicketState.STARTING)
        if ticket.lane.streams_of[ticket.job.client] > own:
            return False
        return bool(self._greedy(ticket.lane) - {ticket.job.client})

    def has_too_much(self, client: str, lane: Lane) -> bool:
        """Whether a client has or wants more than its share of the model."""
        return client in self._greedy(lane)

    def give(self, ticket: Ticket, state: TicketState) -> None:
        """Called by the ticket: it needs no slot while it is in this state."""
        if ticket.state is TicketState.ACTIVE:
            self._deactivate(ticket, state)
            ticket.stalled_since = self.now()
            self.dispatch()

    def take(self, ticket: Ticket) -> None:
        """Called by the ticket: it needs a slot again."""
        if ticket.state in (TicketState.STARTING, TicketState.PAUSED, TicketState.NAPPING):
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
        if not ticket.job.model:  # it reports no chunks: its whole time counts as one
            ticket.lane.pace.chunk(ticket.size, self.now() - ticket.granted_at, 1.0)
        self._forget(ticket)
        ticket.lane.let_begin(ticket, self.now())
        self._deactivate(ticket, TicketState.LEFT)
        self.dispatch()

    def _withdraw(self, ticket: Ticket) -> None:
        """Take a ticket out of the queue; that frees no slot."""
        self._waiting.remove(ticket)
        self._forget(ticket)
        ticket.state = TicketState.LEFT

    @staticmethod
    def now() -> float:
        return time.monotonic()

    def _ticket(self, job: Job) -> Ticket:
        lane = self._lanes.get(job.model)
        if lane is None:
            lane = self._lanes[job.model] = Lane(Pace(self._max_active, adaptive=self._adaptive, capacity=job.capacity))
        return Ticket(self, job, lane, next(self._numbers))

    def dispatch(self) -> None:
        """Grant free slots to those who wait, in their order; with nobody left, wake streams that made way."""
        if self._live_waiting() and len(self._open) >= _OPEN_PER_SLOT * self._max_active:
            self._drop_stalled()
        for ticket in self._in_order():
            if self.active >= self._max_active or len(self._open) >= _OPEN_PER_SLOT * self._max_active:
                break
            has_room = ticket.lane.has_room_for(ticket) or self.is_passed_over(ticket)
            if has_room and self._may_hold_a_slot(ticket):
                self._waiting.remove(ticket)
                self._open[ticket] = None
                self._served = max(self._served, ticket.start)
                self._activate(ticket)
                if not ticket.job.background:
                    self._on_grant(self.now() - ticket.entered)
                ticket.grant(self.now())
        if not self._live_waiting():
            napping = [ticket for ticket in self._open if ticket.state is TicketState.NAPPING]
            for ticket in napping[: self._max_active - self.active]:
                has_room = ticket.lane.has_room_for(ticket) and not ticket.lane.starting
                if has_room and not self._is_in_the_way(ticket):
                    ticket.wake()
        for lane in self._lanes.values():
            self.start_streams(lane)

    def _activate(self, ticket: Ticket) -> None:
        ticket.lane.add(ticket, self.now())
        ticket.state = TicketState.ACTIVE

    def _deactivate(self, ticket: Ticket, state: TicketState) -> None:
        ticket.lane.discard(ticket, self.now())
        ticket.state = state

    def _in_order(self) -> list[Ticket]:
        """Those who wait, the next first."""
        return sorted(self._waiting, key=lambda ticket: (ticket.job.background, ticket.start, ticket.number))

    def _live_waiting(self) -> list[Ticket]:
        return [ticket for ticket in self._waiting if not ticket.job.background]

    def _may_hold_a_slot(self, ticket: Ticket) -> bool:
        """Whether a slot that is free is for this ticket: not all of them are for background requests."""
        if not ticket.job.background:
            return True
        held = [other for other in self._open if other.job.background and other.state in _AT_WORK]
        share = min(_BACKGROUND_SHARE * ticket.lane.pace.limit, ticket.lane.background_limit)
        return len(held) < max(1, int(_BACKGROUND_SHARE * self._max_active)) and sum(
            other.lane is ticket.lane for other in held
        ) < max(1, int(share))

    def _is_in_the_way(self, ticket: Ticket) -> bool:
        """Whether a background request slows down a live one that waits, or that may run out of audio."""
        now = self.now()
        return ticket.job.background and (
            any(other.lane is ticket.lane for other in self._live_waiting())
            or any(not other.job.background and other.ahead(now) < _LOW_LEAD_SECONDS for other in ticket.lane.active)
        )

    def _queue(self, ticket: Ticket) -> None:
        """Give a ticket its place: clients take turns, and longer requests use up more of them (fair queueing)."""
        ticket.start = max(self._served, self._turns.get(ticket.job.client, 0.0))
        self._turns[ticket.job.client] = ticket.start + ticket.size
        self._waiting.append(ticket)

    def _forget(self, ticket: Ticket) -> None:
        """Give back the turn of a ticket that did not use it; keep nothing of a client that has no others."""
        client = ticket.job.client
        if ticket.state is TicketState.WAITING:
            self._turns[client] -= ticket.size
        if not any(other.job.client == client for other in (*self._waiting, *self._open)):
            del self._turns[client]

    def _holds_too_much(self, ticket: Ticket) -> bool:
        mine = ticket.lane.streams_of[ticket.job.client]
        return mine > max(1.0, self._max_share * ticket.lane.pace.limit)

    def _greedy(self, lane: Lane) -> set[str]:
        """Clients with more live streams, under way or waiting, than their share of those that there are or may be."""
        streams = Counter(
            ticket.job.client
            for ticket in (*self._open, *self._waiting)
            if ticket.lane is lane and ticket.state in _WANTS_A_SLOT and not ticket.job.background
        )
        share = max(1.0, self._max_share * min(lane.pace.limit, max(_FEW, streams.total())))
        return {client for client, count in streams.items() if count > share}

    def _took_too_much(self, ticket: Ticket) -> bool:
        """Whether it makes way because more streams run than should, one of another client among them."""
        lane = ticket.lane
        return (
            lane.running > lane.pace.limit
            and self._holds_too_much(ticket)
            and any(other.job.client != ticket.job.client for other in lane.active)
        )

    def _drop_stalled(self) -> None:
        """Drop the longest stalled session of the client that has most; where none has stalled for long, look later."""
        stalled = [ticket for ticket in self._open if ticket.state in (TicketState.PAUSED, TicketState.FINISHED)]
        if not stalled:
            return
        held = Counter(ticket.job.client for ticket in self._open)
        worst = max(stalled, key=lambda ticket: (held[ticket.job.client], -ticket.stalled_since))
        wait = worst.stalled_since + _STALLED_SECONDS - self.now()
        if wait <= 0:
            worst.on_drop()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(wait, self._look_again)

    def _look_again(self) -> None:
        self._timer = None
        self.dispatch()

    def _check(self, ticket: Ticket, wait: float | None) -> None:
        """Refuse a request that has just come by its client's share of the queue, the queue's length, or its wait."""
        waiting = Counter(other.job.client for other in self._live_waiting())
        share = max(1.0, self._max_share * self._max_waiting)
        if len(waiting) > 1 and waiting[ticket.job.client] > share:
            raise self._refusal(ticket, RefusalReason.SHARE, "Your other requests fill their share of the queue", wait)
        if wait is not None and wait > _MARGIN * ticket.job.max_wait:
            raise self._refusal(ticket, RefusalReason.WAIT, f"The request would wait {wait:.1f} s for its turn", wait)
        if waiting.total() > self._max_waiting and not self._made_room_for(ticket, waiting, share):
            problem = (
                f"The server is at its limit of {self._max_active} requests at once and {self._max_waiting} waiting"
            )
            raise self._refusal(ticket, RefusalReason.QUEUE, problem, wait)

    def _made_room_for(self, ticket: Ticket, waiting: Counter[str], share: float) -> bool:
        """Take the last place of a client that has more than its share of the queue."""
        client, places = waiting.most_common(1)[0]
        if places <= share or client == ticket.job.client:
            return False
        last = next(other for other in reversed(self._waiting) if other.job.client == client)
        problem = "Your other requests fill their share of the queue"
        last.refuse(self._refusal(last, RefusalReason.SHARE, problem, self._expected_wait(last)))
        self.leave(last)
        return True

    def _begins_too_late(self, ticket: Ticket, wait: float | None) -> bool:
        """Whether it would find a slot, but begin only after the wait that it accepts."""
        if wait is None or wait <= _MARGIN * ticket.job.max_wait or not self._has_to_fit(ticket):
            return False
        lane = ticket.lane
        return lane.running + len(lane.starting) >= _FEW and not self.is_passed_over(ticket)

    def _expected_wait(self, ticket: Ticket) -> float | None:
        """Seconds until the turn of this ticket, from the work that is under way and ahead of it in the queue.

        Where streams are held back until they can be kept playing, its turn is over with its first audio. None while
        the pace of the model is not known.
        """
        if ticket.lane.pace.of_stream is None:
            return None
        if not self._has_to_fit(ticket):
            return self._seconds_until_slot(ticket, ticket.lane.pace.of_stream)
        lane, longest = ticket.lane, min(_MARGIN * ticket.job.max_wait, LONGEST_START_WAIT)
        wait = self._seconds_until_slot(ticket, ticket.lane.pace.of_stream)
        if wait <= longest:  # else it is refused already, which should cost little
            wait = max(wait, self._seconds_until_start(ticket, longest))
        return (wait + lane.pace.first_chunk_seconds) * lane.lateness.factor(self.now())

    def _seconds_until_slot(self, ticket: Ticket, pace: float) -> float:
        lane, now = ticket.lane, self.now()
        slots = max(1, min(lane.pace.limit, self._max_active - self.active + len(lane.active)))
        each = pace * slots / max(slots, lane.running)  # while more run than should, all of them are slower
        holders = [other for other in (*lane.active, *lane.starting) if other.job.paced]
        free = sorted(self._seconds_held(other, ticket, now, each) for other in holders)
        free = [0.0] * (slots - len(free)) + free[max(0, len(free) - slots) :]
        for other in self._ahead_in_queue(ticket):
            heapq.heapreplace(free, free[0] + other.seconds_left(now, pace))
        return free[0]

    def _line_before(self, ticket: Ticket) -> list[Ticket]:
        """Those that begin before it as things are; the first stream of a client goes before most others."""
        lane, beside = ticket.lane, self._beside(ticket)
        others = lane.streams_of[ticket.job.client]
        held_back = list(lane.starting) if others else self._starting_before(ticket, beside)
        about_to_start = [other for other in lane.active if not other.started and other.is_heard]
        with_slot = sorted([*about_to_start, *held_back], key=lambda other: other.number)
        return [*with_slot, *self._ahead_in_queue(ticket)]

    def _yet_to_come(self, ticket: Ticket, line: list[Ticket]) -> list[float]:
        """Audio of streams that will begin before it, though they have not come yet: with each of its client's own that
        wait in the queue, each of the other clients has a turn, too.
        """
        waiting = [other for other in line if other.state is TicketState.WAITING]
        own = sum(other.size for other in waiting if other.job.client == ticket.job.client)
        clients = len({other.job.client for other in (*line, ticket)})
        audio = own * clients - sum(other.size for other in waiting)
        return [ticket.size] * max(0, round(audio / ticket.size))

    def _seconds_until_start(self, ticket: Ticket, longest: float) -> float:
        """Time until a stream begins, after those before it, beside those that are heard."""
        pace, now = ticket.lane.pace, self.now()
        rate = pace.capacity or PLAYING
        line, beside = self._line_before(ticket), self._beside(ticket)
        forecast = StartForecast(
            rate=rate,
            capacity=rate / PLAYING,
            apart=pace.quickest_first_chunk / pace.streams_at_once,
            lead=LEAD_SECONDS,
        )
        streams = [PlayingStream(other.ahead(now), other.audio_left) for other in beside]
        sizes = [*(other.size for other in line), *self._yet_to_come(ticket, line), ticket.size]
        return forecast.seconds(streams, sizes, longest)

    def _ahead_in_queue(self, ticket: Ticket) -> list[Ticket]:
        """Those of its model that get a slot before it."""
        ahead = []
        for other in self._in_order():
            if other is ticket or other.job.background > ticket.job.background:
                break
            if other.lane is ticket.lane and other.job.paced:
                ahead.append(other)
        return ahead

    def _seconds_held(self, active: Ticket, ticket: Ticket, now: float, pace: float) -> float:
        seconds = active.seconds_left(now, pace)
        makes_way = active.job.background > ticket.job.background
        if makes_way or (active.job.client != ticket.job.client and self._holds_too_much(active)):
            return min(seconds, ticket.lane.pace.chunk_seconds)
        return seconds

    def _refusal(self, ticket: Ticket, reason: RefusalReason, problem: str, wait: float | None) -> OverloadedError:
        seconds = self._retry_after(ticket, wait, has_place=reason is RefusalReason.WAIT)
        return OverloadedError(f"{problem}; try again in {seconds:.0f} s.", retry_after=seconds, reason=reason)

    def _retry_after(self, ticket: Ticket, wait: float | None, *, has_place: bool) -> float:
        """Seconds until the request would be admitted, if those turned away before it come back when they were told.

        One that has no place in the queue gets it when the next of its client's begins.
        """
        lane, now = ticket.lane, self.now()
        pace = lane.pace.of_stream
        if wait is None or pace is None:
            return _MIN_RETRY_SECONDS
        place = 0.0 if has_place else self._seconds_until_place(ticket)
        soonest = now + max(place, wait - _MARGIN * ticket.job.max_wait)
        at = min(max(soonest, lane.retry_at), soonest + _MAX_SPREAD_SECONDS)
        rate = (lane.pace.capacity or PLAYING) if self._has_to_fit(ticket) else pace * lane.pace.limit
        lane.retry_at = at + ticket.size / rate
        return max(_MIN_RETRY_SECONDS, at - now)

    def _seconds_until_place(self, ticket: Ticket) -> float:
        """Time until the next of its client begins, and leaves its place in the queue."""
        mine = next(other for other in self._in_order() if other.job.client == ticket.job.client)
        return self._expected_wait(mine) or 0.0
