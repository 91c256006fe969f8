"""The queue: whose turn is next among all that wait (fair queueing), and what runs and waits of each model."""

from collections import Counter
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from polyvox.service.admission.capacity import ForecastError, ThroughputEstimator

_MOST_HELD_BACK = 4
"""Streams that wait to begin with a slot of their own; the others wait in the queue."""
_MUCH_SHORTER = 0.5
"""Share of the shortest of these that a stream may have to be let in beside them."""

_BACKGROUND_CHUNK_SECONDS = 2.0
"""Time for a chunk of a background request beyond which fewer of them should run at once."""


class Entry(Protocol):
    """A ticket as the queue sees it; `size` is the audio to expect of it, in seconds."""

    virtual_start: float

    @property
    def queue(self) -> object: ...

    @property
    def client(self) -> str: ...

    @property
    def number(self) -> int: ...

    @property
    def size(self) -> float: ...

    @property
    def background(self) -> bool: ...


E = TypeVar("E", bound=Entry)


class FairQueue(Generic[E]):
    """Those who wait, of all models; clients take turns by the audio that they ask for (start-time fair queueing).

    A request starts, in virtual time, when its client's last one finishes, and finishes as much later as its audio is
    long. Whoever starts first is next. Background requests come after all others, and take turns among themselves: a
    batch does not put off what its client wants to hear now.
    """

    def __init__(self) -> None:
        self._waiting: list[E] = []
        self._virtual_time = 0.0
        self._virtual_finish: dict[tuple[str, bool], float] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[E]:
        """In the order in which they came."""
        return iter(self._waiting)

    def push(self, entry: E) -> None:
        flow = _flow(entry)
        entry.virtual_start = max(self._virtual_time, self._virtual_finish.get(flow, 0.0))
        self._virtual_finish[flow] = entry.virtual_start + entry.size
        self._waiting.append(entry)

    def pop(self, entry: E) -> None:
        """Take out one that gets its slot."""
        self._waiting.remove(entry)
        self._virtual_time = max(self._virtual_time, entry.virtual_start)

    def withdraw(self, entry: E) -> None:
        """Take out one that leaves without its turn; the later ones of its client move up."""
        place, flow, finish = self._waiting.index(entry), _flow(entry), entry.virtual_start
        del self._waiting[place]
        for later in self._waiting[place:]:
            if _flow(later) == flow:
                later.virtual_start = min(later.virtual_start, max(self._virtual_time, finish))
                finish = later.virtual_start + later.size
        self._virtual_finish[flow] = finish

    def forget(self, client: str) -> None:
        """Keep nothing of a client that has no request any more."""
        for background in (False, True):
            self._virtual_finish.pop((client, background), None)

    def in_order(self) -> list[E]:
        """Those who wait, the next first."""
        return sorted(self._waiting, key=lambda entry: (entry.background, entry.virtual_start, entry.number))

    def live(self) -> list[E]:
        """Those with a listener."""
        return [entry for entry in self._waiting if not entry.background]

    def last_of(self, client: str) -> E:
        """The request with a listener of a client that came last."""
        return next(entry for entry in reversed(self.live()) if entry.client == client)

    def ahead_of(self, entry: E) -> list[E]:
        """Those of the same model that get a slot before it."""
        ahead = []
        for other in self.in_order():
            if other is entry or other.background > entry.background:
                break
            if other.queue is entry.queue:
                ahead.append(other)
        return ahead


def _flow(entry: Entry) -> tuple[str, bool]:
    """The line of its client that a request stands in."""
    return entry.client, entry.background


class ModelQueue(Generic[E]):
    """Requests of one model that have a slot: those that run, and those held back until they can be kept playing.

    `running` counts those that keep the engine busy. `background_limit` is how many background requests may run at
    once: it grows while their chunks come soon, as on an engine that batches, and shrinks where each waits for the
    others, since a live request would wait behind them, too. `retry_at` is until when others were told to stay away.
    """

    def __init__(self, model: str, throughput: ThroughputEstimator) -> None:
        self.model = model
        self.throughput = throughput
        self.forecast_error = ForecastError()
        self.active: set[E] = set()
        self.held_back: set[E] = set()
        self.streams_of: Counter[str] = Counter()
        """Number of these that each client has."""
        self.running = 0
        self.retry_at = 0.0
        self.background_limit = 1.0
        self._load = 0.0
        self._updated = 0.0

    def add(self, entry: E, now: float) -> None:
        self.load(now)
        self.active.add(entry)
        self.streams_of[entry.client] += 1
        self.running += 1

    def discard(self, entry: E, now: float) -> None:
        self.load(now)
        if entry in self.active:
            self.active.remove(entry)
            self._forget(entry.client)
            self.running -= 1

    def hold_back(self, entry: E, now: float) -> None:
        """Count one that waits until it can be kept playing."""
        self.load(now)
        self.held_back.add(entry)
        self.streams_of[entry.client] += 1

    def let_begin(self, entry: E, now: float) -> None:
        self.load(now)
        if entry in self.held_back:
            self.held_back.remove(entry)
            self._forget(entry.client)

    def has_room_for(self, entry: E) -> bool:
        """Return whether one more may have a slot; those that are held back keep all but one from it.

        Where some are held back already, the next ones are better off in the queue, where clients take turns; but one
        that is much shorter may begin before them.
        """
        if self.running + len(self.held_back) >= self.throughput.limit + bool(self.held_back):
            return False
        sizes = [other.size for other in self.held_back]
        return len(sizes) < _MOST_HELD_BACK or entry.size < _MUCH_SHORTER * min(sizes)

    def count_chunk(self, audio: float, seconds: float, running: float) -> None:
        """Count a chunk: the time a stream waited for it, and how many streams ran meanwhile."""
        self.throughput.chunk(audio, seconds, running)
        self.throughput.delivered(audio)

    def count_background_chunk(self, seconds: float) -> None:
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

    def _forget(self, client: str) -> None:
        self.streams_of[client] -= 1
        if not self.streams_of[client]:
            del self.streams_of[client]
