"""The bounded queue of chunks between a session and its reader."""

import asyncio
from collections import deque

from polyvox.errors import PolyvoxError, StalledError
from polyvox.types import AudioChunk


class ChunkBuffer:
    """One writer, one reader, at most `size` chunks between them.

    The writer waits for room before it produces a chunk, so that nothing is held beyond `size`.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._chunks: deque[AudioChunk] = deque()
        self._taken = asyncio.Event()
        self._filled = asyncio.Event()
        self._over = False
        self._error: PolyvoxError | None = None

    def __len__(self) -> int:
        return len(self._chunks)

    @property
    def is_full(self) -> bool:
        return len(self._chunks) >= self._size

    async def room(self, patience: float) -> None:
        """Wait until one more chunk fits; `StalledError` when the reader takes nothing for `patience` seconds."""
        await self._below(self._size, patience)

    async def emptied(self, patience: float) -> None:
        """Wait until the reader has taken everything, with the same patience for each chunk."""
        await self._below(1, patience)

    def put(self, chunk: AudioChunk) -> None:
        self._chunks.append(chunk)
        self._filled.set()

    async def get(self) -> AudioChunk | None:
        """The next chunk; None at the end; the error that ended the stream once the chunks before it are read."""
        while not self._chunks:
            if self._error is not None:
                raise self._error
            if self._over:
                return None
            self._filled.clear()
            await self._filled.wait()
        self._taken.set()
        return self._chunks.popleft()

    def finish(self, error: PolyvoxError | None = None, *, discard: bool = False) -> None:
        """End the stream. With `discard`, chunks that were not read yet are dropped."""
        if discard:
            self._chunks.clear()
        self._error = error
        self._over = True
        self._filled.set()

    async def _below(self, level: int, patience: float) -> None:
        while len(self._chunks) >= level:
            self._taken.clear()
            try:
                async with asyncio.timeout(patience):
                    await self._taken.wait()
            except TimeoutError:
                raise StalledError(
                    f"The client read no audio for {patience:g} s, so its session was dropped; read as it arrives."
                ) from None
