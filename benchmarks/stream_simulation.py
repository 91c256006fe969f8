"""A discrete-event simulation of streams that share workers: when each listener hears its first audio, and its gaps.

A stream is a chain of steps. Each takes some work and gives some seconds of audio, and the next one waits for it.
Workers take the step whose listener runs dry first; a worker that batches takes several at once. Time is simulated, so
a thousand streams take less than a second.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from polyvox.bench.player import Arrival, play


@dataclass(frozen=True, slots=True)
class Step:
    """Seconds of a worker's time, and the seconds of audio that are there afterwards.

    `fixed` seconds are spent once for a batch, however many steps are in it.
    """

    work: float
    audio: float
    fixed: float = 0.0


@dataclass(frozen=True, slots=True)
class Stream:
    """A request: when it arrives, and its steps in order."""

    arrival: float
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Workers:
    """Workers that each take up to `width` waiting steps at once, for the sum of their work and the longest `fixed`."""

    number: int = 1
    width: int = 1


@dataclass(frozen=True, slots=True)
class Heard:
    """A stream as its listener heard it; times count from its arrival."""

    first_audio: float
    end: float
    starved: float

    @property
    def gapless(self) -> bool:
        return self.starved == 0.0


@dataclass(slots=True)
class _Progress:
    stream: Stream
    arrivals: list[Arrival] = field(default_factory=list)
    next_step: int = 0
    dry_at: float = 0.0
    """When the listener runs dry; before the first audio, the time of the arrival."""
    end: float = 0.0

    def took(self, now: float) -> bool:
        """Note that a step is done; whether there is another."""
        step = self.step
        self.next_step += 1
        self.end = now
        if step.audio:
            self.arrivals.append(Arrival(now, step.audio))
            self.dry_at = max(self.dry_at, now) + step.audio
        return self.next_step < len(self.stream.steps)

    @property
    def step(self) -> Step:
        return self.stream.steps[self.next_step]

    def heard(self) -> Heard:
        first = self.arrivals[0].time if self.arrivals else self.end
        starved = play(self.arrivals).starved if self.arrivals else 0.0
        return Heard(first - self.stream.arrival, self.end - self.stream.arrival, starved)


class _Run:
    """A simulation under way: events to come, steps that wait for a worker, and idle workers."""

    def __init__(self, streams: Sequence[Stream], workers: Workers) -> None:
        self._workers = workers
        self._idle = workers.number
        self._order = count()
        self._waiting: list[tuple[float, int, _Progress]] = []
        self._streams = [_Progress(stream, dry_at=stream.arrival) for stream in streams]
        # An event has the streams whose step is done, or the one that arrives.
        self._events: list[tuple[float, int, list[_Progress], bool]] = []
        for each in self._streams:
            self._at(each.stream.arrival, [each], arrives=True)

    def heard(self) -> list[Heard]:
        while self._events:
            now, _, batch, arrives = heapq.heappop(self._events)
            self._idle += not arrives
            for each in batch:
                if arrives or each.took(now):
                    heapq.heappush(self._waiting, (each.dry_at, next(self._order), each))
            if not (self._events and self._events[0][0] <= now):  # whatever happens at once is there before work starts
                self._start(now)
        return [each.heard() for each in self._streams]

    def _start(self, now: float) -> None:
        while self._idle and self._waiting:
            room = min(self._workers.width, len(self._waiting))
            batch = [heapq.heappop(self._waiting)[2] for _ in range(room)]
            self._idle -= 1
            busy = max(each.step.fixed for each in batch) + sum(each.step.work for each in batch)
            self._at(now + busy, batch, arrives=False)

    def _at(self, time: float, batch: list[_Progress], *, arrives: bool) -> None:
        heapq.heappush(self._events, (time, next(self._order), batch, arrives))


def simulate(streams: Sequence[Stream], workers: Workers) -> list[Heard]:
    """What each stream's listener hears, in the order of the streams."""
    return _Run(streams, workers).heard()


@dataclass(frozen=True, slots=True)
class Figures:
    """First audio in seconds, at the median and for 19 of 20, and the share of streams without a gap."""

    first_audio: float
    first_audio_95: float
    gapless: float

    @classmethod
    def of(cls, heard: Sequence[Heard]) -> "Figures":
        p50, p95 = (float(value) for value in np.percentile([each.first_audio for each in heard], (50, 95)))
        return cls(p50, p95, float(np.mean([each.gapless for each in heard])))


def poisson_arrivals(rate: float, number: int, seed: int = 0) -> list[float]:
    """Times of so many arrivals, `rate` a second, by chance."""
    return [float(time) for time in np.cumsum(np.random.default_rng(seed).exponential(1 / rate, number))]
