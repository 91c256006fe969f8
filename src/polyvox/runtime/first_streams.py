"""Streams at work in a stage that go before all others."""

import math
from collections import Counter

from polyvox.runtime.precedence import Precedence

_BETWEEN_STEPS_SECONDS = 0.05
"""Time after a step in which such a stream is expected to ask for its next."""


class FirstStreams:
    """Counts their steps. A stream is at work until its first audio, also for the moment between two steps."""

    def __init__(self) -> None:
        self._steps: Counter[Precedence] = Counter()
        self._until: dict[Precedence, float] = {}

    def began(self, stream: Precedence) -> None:
        """Count a step of a stream, if it goes first."""
        if stream.goes_first:
            self._steps[stream] += 1
            self._until[stream] = math.inf

    def ended(self, stream: Precedence, now: float) -> None:
        """Count the end of a step that was counted."""
        if stream not in self._steps:
            return
        self._steps -= Counter([stream])
        if stream not in self._steps:
            self._until[stream] = now + _BETWEEN_STEPS_SECONDS

    def until(self, now: float) -> float | None:
        """The time at which the first of them is no longer at work, as far as is known; None where there are none."""
        self._until = {stream: until for stream, until in self._until.items() if stream.goes_first and until > now}
        return min(self._until.values(), default=None)
