"""The quickest pace at which a model was seen to speak lately, to tell what cannot be done in time."""

from collections import defaultdict, deque

_RECENT = 16
_SHORTEST_SECONDS = 3.0
"""Of audio, below which a request tells little about the pace."""


class QuickestPace:
    """Seconds of work for each second of audio, by model, at their best among the recent requests."""

    def __init__(self) -> None:
        self._factors: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=_RECENT))

    def observe(self, model: str, audio_seconds: float, busy_seconds: float) -> None:
        """Count a request that has ended."""
        if audio_seconds >= _SHORTEST_SECONDS:
            self._factors[model].append(busy_seconds / audio_seconds)

    def needed(self, model: str, audio_seconds: float) -> float:
        """Seconds in which so much audio could be made at best; 0 while the pace is not known."""
        factors = self._factors.get(model)
        return min(factors) * audio_seconds if factors else 0.0
