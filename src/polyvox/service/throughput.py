"""What a model delivers while streams wait for it: it tells how soon a line of them will have begun."""

from collections import deque

_WINDOW = 64
_ENOUGH = 8
"""Chunks without which nothing is concluded."""
_ENOUGH_SECONDS = 1.0


class Throughput:
    """Seconds of audio made in each second in which somebody waited to begin.

    Unlike an engine's capacity it counts all that is lost on the way: cores that are busy otherwise, and time in which
    one stream has ended and the next has not begun. Without a line it says nothing, as nobody asked for more.
    """

    def __init__(self) -> None:
        self._chunks: deque[tuple[float, float]] = deque()
        self._audio = 0.0
        self._seconds = 0.0
        self._waited = 0.0
        self._counted = 0.0
        self._updated = 0.0

    def waited(self, now: float, somebody_waits: bool) -> float:
        """Seconds in which somebody waited, until now; to be told of each change, with how it was before."""
        if somebody_waits:
            self._waited += now - self._updated
        self._updated = now
        return self._waited

    def chunk(self, audio: float, share: float) -> None:
        """Count a chunk; `share` is the part of its time in which somebody waited."""
        self._add(audio * min(1.0, share), self._waited - self._counted)
        self._counted = self._waited

    @property
    def per_second(self) -> float | None:
        """None while too little was seen."""
        if len(self._chunks) < _ENOUGH or self._seconds < _ENOUGH_SECONDS:
            return None
        return self._audio / self._seconds

    def _add(self, audio: float, seconds: float) -> None:
        self._chunks.append((audio, seconds))
        if len(self._chunks) > _WINDOW:
            oldest = self._chunks.popleft()
            self._audio, self._seconds = self._audio - oldest[0], self._seconds - oldest[1]
        self._audio, self._seconds = self._audio + audio, self._seconds + seconds
