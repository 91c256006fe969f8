"""A tone engine that a test holds up from another thread."""

import asyncio
import threading
from typing import Any

from helpers.fakes import ToneEngine


class HeldEngine(ToneEngine):
    """Makes `free` chunks of all utterances together, then waits before each further one until `go` is set."""

    def __init__(self, free: int = 0, **options: Any) -> None:
        super().__init__(**options)
        self.free = free
        self.go = threading.Event()

    async def _work(self) -> None:
        self.free -= 1
        while self.free < 0 and not self.go.is_set():  # noqa: ASYNC110 - set by another thread
            await asyncio.sleep(0.002)
