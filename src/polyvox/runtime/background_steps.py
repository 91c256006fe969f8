"""Background steps of an engine that computes on the server's own cores: they wait while live streams are at work."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from polyvox.runtime.cancellation import CancelToken, InferenceStoppedError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.stage import BatchReport, Observer

T = TypeVar("T")

_BETWEEN_STEPS_SECONDS = 0.05
"""Time after a live step in which its stream is expected to ask for the next."""


class BackgroundSteps:
    """Runs steps of background streams on threads of their own, and begins none while a `live` step is at work.

    Those threads have the lowest priority: a short step that runs when a live one comes leaves the cores to it. With
    `stops`, for steps that are long or have threads of their own, it is stopped and run again later, at most so many
    times. Where live streams are always at work, a step is begun after `patience` seconds without one, so that a
    background stream goes on.
    """

    def __init__(
        self, name: str, threads: int, *, patience: float, stops: int = 0, observer: Observer | None = None
    ) -> None:
        self._name = name
        self._executor = DeviceExecutor(f"{name}-background", threads, niceness=DeviceExecutor.LOWEST)
        self._patience = patience
        self._stops = stops
        self._stoppable: set[CancelToken] = set()
        self._observer = observer
        self._live = 0
        self._live_until = self._began = -float("inf")
        self._changed = asyncio.Event()

    @contextmanager
    def live(self) -> Iterator[None]:
        """A step of a live stream, from its request to its end."""
        self._live += 1
        for token in self._stoppable:
            token.cancel()
        try:
            yield
        finally:
            self._live -= 1
            self._live_until = self._now() + _BETWEEN_STEPS_SECONDS
            self._changed.set()

    async def run(self, fn: Callable[[], T]) -> T:
        """Run a step when the cores are free; a cancelled caller returns at once."""
        for _ in range(self._stops):
            token = CancelToken()
            with suppress(InferenceStoppedError):
                return await self._run(fn, token, stoppable={token})
        return await self._run(fn, CancelToken(), stoppable=set())

    async def _run(self, fn: Callable[[], T], token: CancelToken, *, stoppable: set[CancelToken]) -> T:
        arrived = self._now()
        await self._executor.reserve()
        try:
            await self._turn()
        except BaseException:
            self._executor.release()
            raise
        self._began = began = self._now()
        self._stoppable |= stoppable
        try:
            return await self._executor.run_reserved(fn, token)
        finally:
            self._stoppable -= stoppable
            if self._observer is not None:
                seconds = self._now() - began
                self._observer(BatchReport(self._name, 1, began - arrived, seconds, stopped=token.cancelled))

    async def close(self) -> None:
        """End the threads when the steps under way have ended."""
        await asyncio.to_thread(self._executor.close)

    async def _turn(self) -> None:
        while (seconds := self._seconds_to_wait()) > 0.0:
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._changed.wait()

    def _seconds_to_wait(self) -> float:
        now = self._now()
        until_quiet = float("inf") if self._live else self._live_until - now
        return min(until_quiet, self._began + self._patience - now)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
