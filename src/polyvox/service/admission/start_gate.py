"""The gate of a model's first chunks: a stream begins when it and those that are heard can all be kept playing."""

from collections import Counter
from collections.abc import Callable, Collection

from polyvox.service.admission.capacity import PLAYBACK_RATE
from polyvox.service.admission.fair_share import FairShare
from polyvox.service.admission.queue import ModelQueue
from polyvox.service.admission.schedulability import PlayingStream, has_room
from polyvox.service.admission.ticket import LEAD_SECONDS, LONGEST_START_WAIT, Ticket

_PATIENCE = 0.25
"""Share of the accepted wait after which a stream is not overtaken by shorter ones any more."""


class StartGate:
    """Decides by the EDF test, over those that are heard and the one that wants to begin."""

    def __init__(self, share: FairShare, open_tickets: Collection[Ticket], now: Callable[[], float]) -> None:
        self._share = share
        self._open = open_tickets
        self._now = now

    @staticmethod
    def guards(ticket: Ticket) -> bool:
        """Return whether it begins only when it can be kept playing: where streams take the audio from each other.

        Where the engine is slower than playback even for one, waiting helps nobody.
        """
        capacity = ticket.queue.throughput.capacity
        return capacity is not None and capacity >= PLAYBACK_RATE and not (ticket.background or ticket.continues)

    def may_start(self, ticket: Ticket) -> bool:
        """Return whether a stream can begin without gaps for itself or for those of its model that are heard."""
        if not self.guards(ticket):
            return True
        beside = self.beside(ticket)
        if any(self._is_not_overtaken(other, ticket) for other in self.starting_before(ticket, beside)):
            return False
        throughput, now = ticket.queue.throughput, self._now()
        unheard = sum(not other.audio for other in beside)
        if unheard >= throughput.streams_at_once:
            return False  # each would only make the other's first audio late
        lead = min(_lead_beside(ticket, 1 + unheard), LEAD_SECONDS)
        heard = [PlayingStream(other.ahead(now), other.audio_left) for other in beside if other.audio]
        coming = [PlayingStream(lead, other.size) for other in beside if not other.audio]
        return has_room([*heard, *coming], ticket.size, lead, (throughput.capacity or 0.0) / PLAYBACK_RATE)

    def beside(self, ticket: Ticket) -> list[Ticket]:
        """The streams of its model that it must not disturb: if it is starved, none of clients over their share."""
        over_share = self._over_share_for(ticket)
        return [other for other in self._heard(ticket.queue) if other.client not in over_share]

    def starting_before(self, ticket: Ticket, beside: list[Ticket]) -> list[Ticket]:
        """Those that are held back and whose turn comes first: clients take turns, those with fewest streams first."""
        over_share = self._over_share_for(ticket)
        streams_of = Counter(other.client for other in beside)
        own = (streams_of[ticket.client], ticket.number)
        return [
            other
            for other in ticket.queue.held_back
            if other.client not in over_share and (streams_of[other.client], other.number) < own
        ]

    def order(self, queue: ModelQueue[Ticket]) -> list[Ticket]:
        """Those that are held back, the next first: clients take turns."""
        if not queue.held_back:
            return []
        streams_of = Counter(other.client for other in self._heard(queue))
        return sorted(queue.held_back, key=lambda ticket: (streams_of[ticket.client], ticket.number))

    def _heard(self, queue: ModelQueue[Ticket]) -> list[Ticket]:
        return [other for other in self._open if other.queue is queue and other.started and other.is_heard]

    def _over_share_for(self, ticket: Ticket) -> set[str]:
        """Clients over their share, where the ticket is starved because of them."""
        return self._share.over_share(ticket.queue) if self._share.is_starved(ticket) else set()

    def _is_not_overtaken(self, first: Ticket, ticket: Ticket) -> bool:
        """Return whether a stream waits for one before it: short ones pass long ones, unless these wait long."""
        patience = _PATIENCE * min(first.max_wait, LONGEST_START_WAIT)
        return first.size <= ticket.size or self._now() - first.entered > patience


def _lead_beside(ticket: Ticket, starts: int) -> float:
    """The lead of others with which a stream may begin, as one of so many: they can wait until it is made, and for the
    chunks that come before theirs, also where the cores are taken away meanwhile.
    """
    throughput = ticket.queue.throughput
    made = starts * ticket.size / (throughput.capacity or PLAYBACK_RATE)
    return max(made, throughput.start_seconds(starts)) + throughput.spare_lead
