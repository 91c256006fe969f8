"""The chunks of a stream at its listener: the playhead, and all of them in one header."""

from polyvox.types import AudioChunk, Span

_AUDIBLE_SECONDS = 0.02


class Playback:
    """The moment when all audio made so far will have been played; time is the caller's clock, in seconds."""

    def __init__(self) -> None:
        self._until: float | None = None

    def add(self, now: float, duration: float) -> bool:
        """Take a chunk made now; true if it came too late to follow the last one without a gap (an under-run)."""
        late = self._until is not None and now - self._until > _AUDIBLE_SECONDS
        if duration > 0.0:
            self._until = max(now, self._until or now) + duration
        return late and duration > 0.0

    def pause(self, seconds: float) -> None:
        """The client read nothing for so long, so it played nothing that was made meanwhile: that is no gap of ours."""
        if self._until is not None:
            self._until += seconds


_MAX_LENGTH = 2_048
"""Proxies often allow 4 KiB for all headers together."""


class ChunkSummary:
    """Ranges of a session's chunks, as far as a header has room for them.

    `0-9600;tokens=0-25;frames=0-50, 9600-20160;tokens=25-50;frames=50-100`, then `more=7` for those without room.
    """

    def __init__(self) -> None:
        self._items: list[str] = []
        self._length = 0
        self._more = 0

    def add(self, chunk: AudioChunk) -> None:
        item = f"{chunk.start}-{chunk.end}{_parameter('tokens', chunk.tokens)}{_parameter('frames', chunk.frames)}"
        if self._more or self._length + len(item) + 2 > _MAX_LENGTH:
            self._more += 1
            return
        self._items.append(item)
        self._length += len(item) + 2

    def __str__(self) -> str:
        return ", ".join([*self._items, f"more={self._more}"] if self._more else self._items)


def _parameter(name: str, span: Span | None) -> str:
    return "" if span is None else f";{name}={span.start}-{span.end}"
