"""Limits and usage that several processes count together, in the process of the engines."""

import asyncio
from typing import cast

from polyvox.deploy.workers.control import Control
from polyvox.errors import PolyvoxError
from polyvox.service.keys.counters import Level, Reservation
from polyvox.service.keys.ledger import UsageLedger
from polyvox.service.keys.store import KeyStore
from polyvox.service.keys.usage import DayClock

_TELL_SECONDS = 0.02


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
    """Tells the process of the engines what is used as soon as it is, so that little is lost with this process."""

    def __init__(self, control: Control, store: KeyStore, clock: DayClock) -> None:
        super().__init__(store, clock)
        self._control = control
        self._telling: asyncio.TimerHandle | None = None

    def add(
        self, name: str, *, requests: int = 0, characters: int = 0, audio_seconds: float = 0.0, refused: int = 0
    ) -> None:
        super().add(name, requests=requests, characters=characters, audio_seconds=audio_seconds, refused=refused)
        if self._telling is None:
            self._telling = asyncio.get_running_loop().call_later(_TELL_SECONDS, self._tell)

    def _tell(self) -> None:
        self._telling = None
        pending, self._pending = self._pending, {}
        for (name, _), usage in pending.items():
            self._control.tell("used", name, *usage.values)

    async def write(self) -> None:
        """Read what the process of the engines has written."""
        try:
            await asyncio.to_thread(self.read)
        except PolyvoxError:
            return  # the one that writes reports it
