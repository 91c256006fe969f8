"""How much later than expected streams are heard."""

from collections import deque

_WINDOW = 64
_RARE = 0.05
"""Share of the streams that may be later than usual."""


class Lateness:
    """Seconds by which the first audio of recent streams came later than was forecast when they were admitted."""

    def __init__(self) -> None:
        self._seconds: deque[float] = deque(maxlen=_WINDOW)

    def add(self, seconds: float) -> None:
        self._seconds.append(seconds)

    @property
    def usual(self) -> float:
        """What most streams do not exceed; 0 where they are early."""
        if not self._seconds:
            return 0.0
        return max(0.0, sorted(self._seconds)[int((1.0 - _RARE) * len(self._seconds))])
