"""The chunks of a session in one header."""

from polyvox.types import AudioChunk, Span

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
