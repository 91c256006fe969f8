"""Limits and usage that several processes count together, in the process of the engines."""

import asyncio
from typing import cast

from polyvox.deploy.workers.control import Control
from polyvox.errors import PolyvoxError
from polyvox.service.keys.counters import Level, Reservation
from polyvox.service.keys.ledger import UsageLedger
from polyvox.service.keys.store import KeyStore
from polyvox.service.keys.usage import DayClock


class RemoteCounters:
    """Implements `Counters` with those of the process of the engines, which frees the streams of one that ends."""

    def __init__(self, control: Control) -> None:
        self._control = control

    async def request(self, holder: str, limit: int) -> Level:
        return cast(Level, await self._control.ask("request", holder, limit))

    async def reserve(self, asked: Reservation) -> tuple[Level, ...]:
        return cast(tuple[Level, ...], await self._control.ask("reserve", asked))

    def spend(self, holder: str, day: str, characters: int, audio_seconds: float) -> None:
        self._control.tell("spend", holder, day, characters, audio_seconds)

    def release(self, holder: str, stream: str) -> None:
        self._control.tell("release", holder, stream)

    async def flush(self) -> None:
        """Nothing is held back."""

    async def close(self) -> None: ...


class RemoteLedger(UsageLedger):
    """Tells the process of the engines at once what is used, so that nothing is lost with this process."""

    def __init__(self, control: Control, store: KeyStore, clock: DayClock) -> None:
        super().__init__(store, clock)
        self._control = control

    def add(
        self, name: str, *, requests: int = 0, characters: int = 0, audio_seconds: float = 0.0, refused: int = 0
    ) -> None:
        self._control.tell("used", name, requests, characters, audio_seconds, refused)

    async def write(self) -> None:
        """Read what the process of the engines has written."""
        try:
            await asyncio.to_thread(self.read)
        except PolyvoxError:
            return  # the one that writes reports it
