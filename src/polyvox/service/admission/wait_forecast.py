"""The forecast of a request's wait, by which it is admitted or refused."""

import heapq
from collections.abc import Callable

from polyvox.service.admission.capacity import PLAYBACK_RATE
from polyvox.service.admission.fair_share import FairShare
from polyvox.service.admission.queue import FairQueue
from polyvox.service.admission.schedulability import PlayingStream, StartForecast
from polyvox.service.admission.start_gate import StartGate
from polyvox.service.admission.ticket import LEAD_SECONDS, LONGEST_START_WAIT, Ticket, TicketState

MARGIN = 0.7
"""Share of the accepted wait that may be expected, so that few of those admitted wait for longer."""


class WaitForecast:
    """Seconds until a request's turn, from the work that is under way and ahead of it in the queue.

    `free_slots` tells how many slots of the server nobody holds.
    """

    def __init__(
        self,
        waiting: FairQueue[Ticket],
        share: FairShare,
        gate: StartGate,
        *,
        free_slots: Callable[[], int],
        now: Callable[[], float],
    ) -> None:
        self._waiting = waiting
        self._share = share
        self._gate = gate
        self._free_slots = free_slots
        self._now = now

    def seconds(self, ticket: Ticket) -> float | None:
        """None while the throughput of the model is not known.

        Where streams are held back until they can be kept playing, its turn is over with its first audio.
        """
        queue = ticket.queue
        per_stream = queue.throughput.per_stream
        if per_stream is None:
            return None
        wait = self._until_slot(ticket, per_stream)
        if not self._gate.guards(ticket):
            return wait
        longest = min(MARGIN * ticket.max_wait, LONGEST_START_WAIT)
        if wait <= longest:  # else it is refused already, which should cost little
            wait = max(wait, self._until_start(ticket, longest))
        return (wait + queue.throughput.first_chunk_seconds) * queue.forecast_error.factor(self._now())

    def seconds_until_place(self, ticket: Ticket) -> float:
        """Time until the next of its client begins, and leaves its place in the queue."""
        mine = next(other for other in self._waiting.in_order() if other.client == ticket.client)
        return self.seconds(mine) or 0.0

    def _until_slot(self, ticket: Ticket, per_stream: float) -> float:
        queue, now = ticket.queue, self._now()
        slots = max(1, min(queue.throughput.limit, self._free_slots() + len(queue.active)))
        each = per_stream * slots / max(slots, queue.running)  # while more run than should, all of them are slower
        holders = (*queue.active, *queue.held_back)
        free = sorted(self._seconds_held(other, ticket, now, each) for other in holders)
        free = [0.0] * (slots - len(free)) + free[max(0, len(free) - slots) :]
        for other in self._waiting.ahead_of(ticket):
            heapq.heapreplace(free, free[0] + other.seconds_left(now, per_stream))
        return free[0]

    def _seconds_held(self, active: Ticket, ticket: Ticket, now: float, throughput: float) -> float:
        seconds = active.seconds_left(now, throughput)
        makes_way = active.background > ticket.background
        if makes_way or (active.client != ticket.client and self._share.holds_over_share(active)):
            return min(seconds, ticket.queue.throughput.chunk_seconds)
        return seconds

    def _until_start(self, ticket: Ticket, longest: float) -> float:
        """Time until a stream begins, after those before it, beside those that are heard."""
        throughput, now = ticket.queue.throughput, self._now()
        rate = throughput.capacity or PLAYBACK_RATE
        line, beside = self._line_before(ticket), self._gate.beside(ticket)
        forecast = StartForecast(
            rate=rate,
            capacity=rate / PLAYBACK_RATE,
            apart=throughput.quickest_first_chunk / throughput.streams_at_once,
            lead=LEAD_SECONDS,
            least_lead=throughput.start_seconds(throughput.streams_at_once),
            spare=throughput.spare_lead,
        )
        streams = [PlayingStream(other.ahead(now), other.audio_left) for other in beside]
        sizes = [*(other.size for other in line), *_yet_to_come(ticket, line), ticket.size]
        return forecast.seconds(streams, sizes, longest)

    def _line_before(self, ticket: Ticket) -> list[Ticket]:
        """Those that begin before it as things are; the first stream of a client goes before most others."""
        queue, beside = ticket.queue, self._gate.beside(ticket)
        others = queue.streams_of[ticket.client]
        held_back = list(queue.held_back) if others else self._gate.starting_before(ticket, beside)
        about_to_start = [other for other in queue.active if not other.started and other.is_heard]
        with_slot = sorted([*about_to_start, *held_back], key=lambda other: other.number)
        return [*with_slot, *self._waiting.ahead_of(ticket)]


def _yet_to_come(ticket: Ticket, line: list[Ticket]) -> list[float]:
    """Audio of streams that will begin before it, though they have not come yet: with each of its client's own that
    wait in the queue, each of the other clients has a turn, too.
    """
    waiting = [other for other in line if other.state is TicketState.WAITING]
    own = sum(other.size for other in waiting if other.client == ticket.client)
    clients = len({other.client for other in (*line, ticket)})
    audio = own * clients - sum(other.size for other in waiting)
    return [ticket.size] * max(0, round(audio / ticket.size))
