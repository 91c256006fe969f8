"""The clock of a listener: when the next chunk of an utterance has to be there."""

from collections import deque
from collections.abc import Callable


class Playhead:
    """Plays the first chunk when it arrives, and every later one right behind the one before it, or late.

    `due` is when the player runs dry: the deadline of the next chunk, on the given clock. It orders work in a `Stage`.
    Chunks that are requested before those in front of them have arrived count with their expected durations.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started = False
        self._dry = clock()
        self._expected: deque[float] = deque()

    @property
    def due(self) -> float:
        """The time at which all that has arrived or is expected will have been played."""
        return self._dry + sum(self._expected)

    def expect(self, seconds: float) -> float:
        """Add a chunk that is requested ahead and should play for so many seconds; returns its deadline."""
        due = self.due
        self._expected.append(seconds)
        return due

    def push(self, seconds: float, *, last: bool = True) -> None:
        """Add audio that has arrived and plays for so many seconds: the rest of the oldest expected chunk.

        Where it is not the `last` of its chunk, what is left of that is still expected.
        """
        if self._expected:
            left = self._expected.popleft() - seconds
            if not last:
                self._expected.appendleft(max(0.0, left))
        now = self._clock()
        self._dry = (max(self._dry, now) if self._started else now) + seconds
        self._started = True
