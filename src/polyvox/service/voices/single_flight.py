"""Runs work that several callers wait for once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class SingleFlight(Generic[Result]):
    """Runs one task per key; callers that come while it runs wait for the same task.

    A caller that is cancelled does not disturb the others; when the last one is, the task is cancelled.
    """

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[Result]] = {}
        self._waiting: dict[str, int] = {}

    async def run(self, key: str, work: Callable[[], Awaitable[Result]]) -> Result:
        """The result or the exception of the work, for every caller that waits for it."""
        task = self._running.get(key)
        if task is None or task.cancelling():
            task = self._running[key] = asyncio.create_task(_awaited(work))
            task.add_done_callback(lambda done: self._forget(key, done))
            self._waiting[key] = 0
        self._waiting[key] += 1
        try:
            return await asyncio.shield(task)
        finally:
            if self._running.get(key) is task:
                self._waiting[key] -= 1
                if not self._waiting[key]:
                    task.cancel()

    async def close(self) -> None:
        """Cancel what is under way."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self, key: str, task: "asyncio.Task[Result]") -> None:
        if self._running.get(key) is task:
            del self._running[key], self._waiting[key]
        if not task.cancelled():
            task.exception()  # retrieved here, since no caller may be left


async def _awaited(work: Callable[[], Awaitable[Result]]) -> Result:
    return await work()
