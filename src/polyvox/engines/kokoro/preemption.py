"""Preemption: a chunk that is not needed yet makes way for one that is, and is synthesised again after it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from polyvox.runtime.cancellation import CancelToken, current_token
from polyvox.runtime.precedence import Precedence

_SMOOTHING = 0.3
_SMALLEST = 32
"""Phonemes below which a chunk takes no less time."""
_SAFETY = 2.0
"""Factor of the expected cost by which a stream must be ahead of its playback to make way."""
_WORTH = 0.5
"""Share of its own cost that an urgent chunk waits for one that is nearly done."""


@dataclass(frozen=True, slots=True, eq=False)
class _RunningChunk:
    size: int
    due: float
    stream: Precedence
    token: CancelToken
    began: float


class Preemption:
    """Decides which running chunk is stopped for an urgent one; `workers` chunks run at once.

    The chunks themselves stay as they are, since their boundaries must not depend on load: work is repeated instead.
    That is done only where the stream remains ahead of its playback, so its player never runs dry for it, and a stream
    that was stopped again and again is left alone at last. A stream of a client that has too many makes way in any case
    for one that goes first. Sizes are in phonemes, `due` and `now` on the loop's clock.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._running: dict[_RunningChunk, None] = {}
        self._phoneme_seconds: float | None = None

    @contextmanager
    def running(self, size: int, due: float, stream: Precedence) -> Iterator[None]:
        """Synthesise a chunk within the block, on its worker's thread."""
        chunk = _RunningChunk(size, due, stream, current_token(), time.perf_counter())
        self._running[chunk] = None
        try:
            yield
            self._learn(size, time.perf_counter() - chunk.began)
        finally:
            del self._running[chunk]

    def make_way(self, size: int, due: float, now: float, stream: Precedence) -> bool:
        """Stop the running chunk that is needed last, where a chunk that has just come would be late without that.

        For a stream that goes first, all those of clients that have too many are stopped. Whether any is.
        """
        running = list(self._running)
        if len(running) < self._workers or self._phoneme_seconds is None:
            return False
        own, last = self._cost(size), max(running, key=lambda chunk: chunk.due)
        in_time = due > now and due - now > self._left(last) + own
        stopped = [last] if last.due - now > _SAFETY * (own + self._cost(last.size)) else []
        if stream.goes_first:
            stopped += [chunk for chunk in running if chunk.stream.makes_way() and not chunk.stream.goes_first]
        stopped = [chunk for chunk in stopped if not in_time and self._left(chunk) > _WORTH * own]
        for chunk in stopped:
            chunk.token.cancel()
        return bool(stopped)

    def waits_long(self, size: int, due: float, now: float, stream: Precedence) -> bool:
        """Return whether a chunk that is due already would wait longer for a worker than it takes itself."""
        running = list(self._running)
        if due > now or len(running) < self._workers or self._phoneme_seconds is None:
            return False
        if stream.makes_way() and any(chunk.stream.goes_first for chunk in running):
            return False  # it would slow that one down
        return min(self._left(chunk) for chunk in running) > self._cost(size)

    def _left(self, chunk: _RunningChunk) -> float:
        return self._cost(chunk.size) - (time.perf_counter() - chunk.began)

    def _cost(self, size: int) -> float:
        return max(size, _SMALLEST) * (self._phoneme_seconds or 0.0)

    def _learn(self, size: int, seconds: float) -> None:
        each = seconds / max(size, _SMALLEST)
        known = self._phoneme_seconds
        self._phoneme_seconds = each if known is None else known + _SMOOTHING * (each - known)
