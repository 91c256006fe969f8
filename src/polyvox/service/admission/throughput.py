"""What a model delivers to all of its streams together while they contend for it."""

from collections import deque

_WINDOW = 64
_ENOUGH = 16
"""Chunks without which nothing is concluded."""
_ENOUGH_SECONDS = 1.0


class Throughput:
    """Seconds of audio made in each second in which several streams ran.

    Unlike what an engine says of itself it counts all that is lost on the way: cores that are busy otherwise, and time
    in which one stream has ended and the next has not begun. A lone stream says nothing: nobody asked for more.
    """

    def __init__(self) -> None:
        self._chunks: deque[tuple[float, float]] = deque()
        self._audio = 0.0
        self._seconds = 0.0
        self._busy = 0.0
        self._contended = 0.0
        self._updated = 0.0

    def passed(self, now: float, running: int) -> None:
        """Count the time since the last call, in which so many streams ran."""
        seconds, self._updated = now - self._updated, now
        self._busy += seconds * (running > 0)
        self._contended += seconds * (running > 1)

    def chunk(self, audio: float) -> None:
        """Count a chunk that is made now: for the part of the time since the last one in which several streams ran."""
        share = self._contended / self._busy if self._busy else 1.0
        self._add(audio * share, self._contended)
        self._busy = self._contended = 0.0

    @property
    def per_second(self) -> float | None:
        """None while too little was seen."""
        if len(self._chunks) < _ENOUGH or self._seconds < _ENOUGH_SECONDS:
            return None
        return self._audio / self._seconds

    def _add(self, audio: float, seconds: float) -> None:
        if not audio:
            return
        self._chunks.append((audio, seconds))
        self._audio, self._seconds = self._audio + audio, self._seconds + seconds
        if len(self._chunks) > _WINDOW:
            audio, seconds = self._chunks.popleft()
            self._audio, self._seconds = self._audio - audio, self._seconds - seconds
