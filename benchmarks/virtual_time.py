"""An event loop whose clock jumps to the next timer, so that minutes pass in a moment and always in the same way."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Answer = TypeVar("Answer")


class _JumpingSelector(selectors.SelectSelector):
    """Does not wait for timers: it moves the clock on by as much."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("Nothing will ever happen: all tasks wait for each other.")
        self.now += max(0.0, timeout)
        return super().select(0)


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """For code that waits on nothing but timers and itself."""

    def __init__(self) -> None:
        self._clock = _JumpingSelector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now

    def run(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Run to the end, and close the loop."""
        try:
            return self.run_until_complete(work)
        finally:
            self.close()
