"""How much later than forecast streams are heard."""

from collections import deque

_WINDOW = 32
_WINDOW_SECONDS = 10.0
_SHORTEST_SECONDS = 1.0
"""A shorter wait says little about the forecast of a long one."""
_LEAST, _MOST = 0.5, 1.5
_MOST_STREAMS = 0.9
"""Share of the streams that the forecast is to be long enough for."""
_AS_FORECAST = 4
"""Streams that count as heard when they should be, so that a few others do not change the forecast by much."""


class Lateness:
    """What recent streams waited until their first audio, as a share of what was forecast when they were admitted."""

    def __init__(self) -> None:
        self._shares: deque[tuple[float, float]] = deque(maxlen=_WINDOW)

    def add(self, forecast: float, waited: float, now: float) -> None:
        if max(forecast, waited) >= _SHORTEST_SECONDS:
            self._shares.append((now, waited / max(forecast, _SHORTEST_SECONDS)))

    def factor(self, now: float) -> float:
        """By which a forecast is to be multiplied."""
        while self._shares and self._shares[0][0] < now - _WINDOW_SECONDS:
            self._shares.popleft()
        shares = sorted([*(share for _, share in self._shares), *[1.0] * _AS_FORECAST])
        return min(_MOST, max(_LEAST, shares[int(_MOST_STREAMS * len(shares))]))
