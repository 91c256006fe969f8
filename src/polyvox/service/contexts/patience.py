"""The time for which a client may send nothing before its work is given up."""

import asyncio

from polyvox.errors import StalledError


class Patience:
    """Waits for events, at most `seconds` after the last sign of life."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._touched = asyncio.get_running_loop().time()

    def touch(self) -> None:
        """Count from now."""
        self._touched = asyncio.get_running_loop().time()

    async def wait(self, event: asyncio.Event) -> None:
        """Wait for the event; `StalledError` when nothing is heard of the client for too long."""
        while not event.is_set():
            try:
                async with asyncio.timeout_at(self._touched + self._seconds):
                    await event.wait()
            except TimeoutError:
                if asyncio.get_running_loop().time() >= self._touched + self._seconds:
                    raise StalledError(f"No text came for {self._seconds:g} s; send text, or an end.") from None
