"""Keys, limits and usage of one server, put together and kept going."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import structlog

from polyvox.config import Settings
from polyvox.errors import PolyvoxError
from polyvox.service.keys.access import KeyAccess
from polyvox.service.keys.counters import Counters, MemoryCounters
from polyvox.service.keys.keyring import Keyring
from polyvox.service.keys.ledger import WRITE_SECONDS, UsageLedger
from polyvox.service.keys.limiter import Limiter
from polyvox.service.keys.open_calls import OpenCalls
from polyvox.service.keys.redis_counters import RedisCounters
from polyvox.service.keys.store import KeyStore
from polyvox.service.keys.usage import DayClock
from polyvox.service.telemetry.metrics import Metrics

_FILE = "keys.sqlite"

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


def key_store(settings: Settings) -> KeyStore:
    """The file of keys that the settings name."""
    return KeyStore(key_file(settings))


def key_file(settings: Settings) -> Path:
    return settings.keys_file or settings.data_dir / _FILE


def asks_for_keys(settings: Settings) -> bool:
    """Return whether a server with these settings asks for keys when it starts."""
    return bool(settings.api_keys) or key_store(settings).required


class Accounts:
    """Accounts of a server's callers: keys, limits and use; `start` follows changes and writes usage.

    `counters` and `ledger` are given where several processes count together.
    """

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        counters: Counters | None = None,
        ledger: Callable[[KeyStore, DayClock], UsageLedger] = UsageLedger,
    ) -> None:
        self._store = store = key_store(settings)
        self._keeps_usage = bool(settings.api_keys)
        self.keyring = Keyring([key.get_secret_value() for key in settings.api_keys], store)
        self.access = KeyAccess(self.keyring)
        self.calls = OpenCalls(self.keyring, self.access)
        self.keyring.after_read = self.calls.sweep
        self.ledger = ledger(store, DayClock())
        self.counters = _counters(settings, metrics) if counters is None else counters
        self.limiter = Limiter(settings, self.keyring, self.ledger, self.counters, metrics)
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        metrics.watch_keys(lambda: not self.keyring.problem)

    async def start(self) -> None:
        if self._task is None:
            self.keyring.follow()
            if self._keeps_usage and not self.keyring.problem:
                await asyncio.to_thread(self._make_file)
            await self.ledger.write()
            self._task = asyncio.create_task(self._keep(), name="write usage")

    async def close(self) -> None:
        """Write what is left."""
        if self._task is None:
            return
        self._closing.set()
        await self._task
        self._task = None
        await self.keyring.close()
        await self.ledger.write()
        await self.counters.close()

    def _make_file(self) -> None:
        """Make the file in which the use of keys of the settings is counted."""
        try:
            self._store.make()
        except PolyvoxError as error:
            log.warning("usage of keys is not kept", problem=error.message)

    async def _keep(self) -> None:
        while not self._closing.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(WRITE_SECONDS):
                    await self._closing.wait()
            await self.ledger.write()
            await self.counters.flush()


def _counters(settings: Settings, metrics: Metrics) -> Counters:
    if settings.limits_url is None:
        return MemoryCounters()
    return RedisCounters(settings.limits_url.get_secret_value(), metrics.limits_lost)
