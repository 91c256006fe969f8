"""Each client's fair share of a model: who holds or wants more, and who is starved because of it."""

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import chain

from polyvox.service.admission.queue import ModelQueue
from polyvox.service.admission.ticket import Ticket, TicketState

FEW_STREAMS = 4
"""Streams of a model that are neither too many for one client nor refused for a late start."""
_WANTS_A_SLOT = (TicketState.WAITING, TicketState.STARTING, TicketState.ACTIVE, TicketState.YIELDING)


class FairShare:
    """The share `max_share` of a model's streams that one client may have while another wants some.

    `waiting` and `open_tickets` are the controller's own, seen as they are at any time.
    """

    def __init__(self, max_share: float, waiting: Iterable[Ticket], open_tickets: Collection[Ticket]) -> None:
        self._max_share = max_share
        self._waiting = waiting
        self._open = open_tickets

    def over_share(self, queue: ModelQueue[Ticket]) -> set[str]:
        """Clients with more live streams, under way or waiting, than their share of those that there are or may be."""
        streams = Counter(
            ticket.client
            for ticket in chain(self._open, self._waiting)
            if ticket.queue is queue and ticket.state in _WANTS_A_SLOT and not ticket.background
        )
        most = min(queue.throughput.limit, max(FEW_STREAMS, streams.total()))
        share = max(1.0, self._max_share * most)
        return {client for client, count in streams.items() if count > share}

    def is_starved(self, ticket: Ticket) -> bool:
        """Return whether its client has no other stream of the model, while another is over its share."""
        if ticket.background:
            return False
        own = ticket.state in (TicketState.ACTIVE, TicketState.STARTING)
        if ticket.queue.streams_of[ticket.client] > own:
            return False
        return bool(self.over_share(ticket.queue) - {ticket.client})

    def holds_over_share(self, ticket: Ticket) -> bool:
        """Return whether its client holds more of the model's slots than its share."""
        mine = ticket.queue.streams_of[ticket.client]
        return mine > max(1.0, self._max_share * ticket.queue.throughput.limit)

    def crowds_others(self, ticket: Ticket) -> bool:
        """Return whether too many streams run, some of another client, because this client is over its share."""
        queue = ticket.queue
        return (
            queue.running > queue.throughput.limit
            and self.holds_over_share(ticket)
            and any(other.client != ticket.client for other in queue.active)
        )

    def places(self, max_waiting: int) -> float:
        """Places of a queue that one client may have while another waits."""
        return max(1.0, self._max_share * max_waiting)
