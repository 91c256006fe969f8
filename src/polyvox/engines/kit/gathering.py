"""Items that are about to arrive, and others that wait a moment for them so as to share a batch."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Gathering:
    """Counts what is about to arrive. One event loop may use it."""

    def __init__(self) -> None:
        self._arriving = 0
        self._arrived = asyncio.Event()

    @contextmanager
    def arriving(self) -> Iterator[None]:
        """Let others wait a moment for the item that this block leads to."""
        self._arriving += 1
        self._arrived.clear()
        try:
            yield
        finally:
            self._arriving -= 1
            if not self._arriving:
                self._arrived.set()

    async def wait(self, seconds: float) -> None:
        """Wait until nothing is on its way, or for so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._arriving:
                    await self._arrived.wait()
