"""Shows a text word by word while it is heard."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from polyvox.types import WordTiming

PLAYER_SECONDS = 0.2
"""Time for which a player holds a sample back before it is heard."""


class SpokenWords:
    """Writes the words of a text at the times at which a player plays them.

    A player that has to wait for speech goes on when it comes, so times count from when a stretch could be heard.
    """

    def __init__(self, text: str, write: Callable[[str], None]) -> None:
        self._text = text
        self._write = write
        self._shown = 0
        self._position = 0.0
        self._played_until = 0.0
        self._due: asyncio.Queue[tuple[float, int]] = asyncio.Queue()

    def add(self, words: Sequence[WordTiming], seconds: float) -> None:
        """A stretch of so many seconds goes to the player, and words are known."""
        now = asyncio.get_running_loop().time()
        starts = max(now + PLAYER_SECONDS, self._played_until)
        for word in words:
            self._due.put_nowait((starts - self._position + word.start, word.span.end))
        self._position += seconds
        self._played_until = starts + seconds

    @asynccontextmanager
    async def shown(self) -> AsyncIterator["SpokenWords"]:
        """Within the block words are shown; what is left of the text when all is played follows at its end."""
        showing = asyncio.create_task(self._show())
        try:
            yield self
            self._show_up_to(len(self._text))
        finally:
            showing.cancel()
            await asyncio.wait([showing])
            self._write("\n")

    async def _show(self) -> None:
        while True:
            due, end = await self._due.get()
            await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
            self._show_up_to(end)

    def _show_up_to(self, end: int) -> None:
        if end > self._shown:
            self._write(self._text[self._shown : end])
            self._shown = end
