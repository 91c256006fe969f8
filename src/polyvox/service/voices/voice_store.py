"""The voice store for the event loop: opened lazily, run on threads, with visibility by owner."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import structlog

from polyvox.errors import ForbiddenError, InvalidRequestError, NotFoundError, UnavailableError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.voices.names import is_voice_id, voice_name
from polyvox.voices.records import SHARED_OWNER, VoiceRecord
from polyvox.voices.storage.contract import VoiceStore
from polyvox.voices.storage.database import is_damaged
from polyvox.voices.storage.location import StoreLocation

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_THREADS = 4
_RETRY_SECONDS = 60.0

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class StoreState:
    """State of the registered voices: usable or not, and what the server's operator should mend."""

    available: bool = True
    warnings: tuple[str, ...] = ()


class AsyncVoiceStore:
    """The voices in one place, and who may see which.

    Everyone sees the shared voices besides their own; only the owner may change one or get its recording. A folder
    is created with the first voice that is registered, by this process or another.
    """

    def __init__(self, location: StoreLocation, on_failure: Callable[[], None] = lambda: None) -> None:
        self._location = location
        self._on_failure = on_failure
        self._store: VoiceStore | None = None
        self._executor = DeviceExecutor("polyvox-voices", _THREADS)
        self._opening = asyncio.Lock()
        self._failed: tuple[object, float] = (None, 0.0)
        self.state = StoreState()

    async def close(self) -> None:
        if self._store is not None:
            await self.run(self._store.close)
        await asyncio.to_thread(self._executor.close)

    async def run(self, fn: Callable[[], Result]) -> Result:
        """Run a blocking call on a thread; one that finds the store out of order is reported."""
        try:
            return await self._executor.run(fn)
        except UnavailableError:
            self._on_failure()
            raise

    async def opened(self) -> VoiceStore:
        """The store, created if there is none."""
        async with self._opening:
            if self._store is None:
                self._store = await self.run(self._location.open)
            return self._store

    async def opened_if_any(self) -> VoiceStore | None:
        """The store, or None as long as no voice was ever registered."""
        if self._store is None and not await self.run(self._location.exists):
            return None
        return await self.opened()

    async def check(self) -> bool:
        """Update `state`. True if another database was opened, because somebody has replaced the one in use.

        A store that cannot be opened is tried again when something has changed about it, and every minute.
        """
        before, reopened = self.state, False
        try:
            if self._store is not None and await self.run(self._store.is_replaced):
                await self._let_go()
                reopened = True
            if self._store is None and not await self._is_worth_opening():
                return False
            store = await self.opened_if_any()
            self.state = StoreState() if store is None else await self.run(partial(_state_of, store))
        except UnavailableError as error:
            self.state = StoreState(available=False, warnings=(error.message,))
            if self._store is not None and is_damaged(error.__cause__):
                await self._let_go()  # so that it can be repaired meanwhile
            self._failed = (await self.run(self._location.signature), time.monotonic())
        if self.state != before:
            report = log.info if self.state == StoreState() else log.warning
            report("voice store", available=self.state.available, warnings=list(self.state.warnings))
        return reopened and self.state.available

    async def _is_worth_opening(self) -> bool:
        signature, failed = self._failed
        if self.state.available or time.monotonic() - failed > _RETRY_SECONDS:
            return True
        return await self.run(self._location.signature) != signature

    async def _let_go(self) -> None:
        async with self._opening:
            if self._store is not None:
                store, self._store = self._store, None
                await self.run(store.close)

    async def find(self, name: str, owner: str) -> VoiceRecord | None:
        """A voice by name or id, if visible to this owner: their own before a shared one."""
        store = await self.opened_if_any()
        if store is None:
            return None
        if is_voice_id(name):
            record = await self.run(partial(store.get, name))
            return record if record is not None and record.owner in visible_to(owner) else None
        return await self.run(partial(_first_named, store, visible_to(owner), name))

    async def get(self, voice_id: str, owner: str) -> VoiceRecord:
        """The voice of an id; NotFoundError if it is not visible to this owner."""
        record = await self.find(voice_id, owner) if is_voice_id(voice_id) else None
        if record is None:
            raise NotFoundError("There is no voice of this id; GET /v1/voices lists yours.", field="id")
        return record

    async def owned(self, voice_id: str, owner: str) -> VoiceRecord:
        """The voice of an id; ForbiddenError if it belongs to another owner."""
        record = await self.get(voice_id, owner)
        if record.owner != owner:
            raise ForbiddenError(
                "This voice is shared by all keys; change it on the server with the command polyvox voices."
            )
        return record


def _state_of(store: VoiceStore) -> StoreState:
    store.check()
    return StoreState(warnings=store.warnings())


def _first_named(store: VoiceStore, owners: tuple[str, ...], name: str) -> VoiceRecord | None:
    try:
        possible = voice_name(name)
    except InvalidRequestError:
        return None  # no voice can have this name
    return next((record for owner in owners if (record := store.find(owner, possible)) is not None), None)


def visible_to(owner: str) -> tuple[str, ...]:
    """The owners whose voices this one may use."""
    return (owner,) if owner == SHARED_OWNER else (owner, SHARED_OWNER)
