"""When a socket that nobody uses is closed."""

import asyncio
from collections.abc import Callable


class IdleWatch:
    """Waits until nothing has happened for `seconds` and nothing is under way."""

    def __init__(self, seconds: float, is_busy: Callable[[], bool]) -> None:
        self.seconds = seconds
        self._is_busy = is_busy
        self._touched = asyncio.get_running_loop().time()

    def touch(self) -> None:
        """Count from now."""
        self._touched = asyncio.get_running_loop().time()

    async def wait(self) -> None:
        """Return once it is idle for so long."""
        while True:
            left = self._touched + self.seconds - asyncio.get_running_loop().time()
            if left <= 0 and not self._is_busy():
                return
            await asyncio.sleep(left if left > 0 else self.seconds)
