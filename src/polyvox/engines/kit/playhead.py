"""The clock of a listener: when the next chunk of an utterance has to be there."""

from collections.abc import Callable


class Playhead:
    """Plays the first chunk when it arrives, and every later one right behind the one before it, or late.

    `due` is when the player runs dry: the deadline of the next chunk, on the given clock. It orders work in a `Stage`.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started = False
        self.due = clock()

    def push(self, seconds: float) -> None:
        """Add a chunk that has arrived and plays for so many seconds."""
        now = self._clock()
        self.due = (max(self.due, now) if self._started else now) + seconds
        self._started = True
