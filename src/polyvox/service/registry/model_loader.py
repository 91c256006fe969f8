"""Loads models when a request needs them, once for all that wait, and unloads those that nobody uses."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Self

import structlog

from polyvox.config import Settings
from polyvox.engines.base import Engine, SupportsObserver
from polyvox.errors import ConflictError, OverloadedError, PolyvoxError, UnavailableError
from polyvox.runtime.garbage import free_memory, keep_loaded
from polyvox.runtime.stage import Observer
from polyvox.service.registry.load_fault import LoadFault
from polyvox.service.registry.model_slot import ModelSlot

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

EngineFactory = Callable[[Settings], Engine]
Absence = Callable[[str], str]
"""The reason why a model cannot be loaded here, with the remedy; empty where it can."""
ModelEvents = Callable[[str, str], None]
"""Is told a model's name and what became of it: `loaded`, `failed` or `unloaded`."""

_RETRY_SECONDS = 5.0
SHUTTING_DOWN = "The server is shutting down."


@dataclass(slots=True)
class Hold:
    """A model that stays loaded until `release`, or until the block ends."""

    engine: Engine
    _release: Callable[[], None] | None

    def release(self) -> None:
        """Let the model go; no effect the second time."""
        release, self._release = self._release, None
        if release is not None:
            release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.release()


class ModelLoader:
    """Loads and unloads the models of one server; `absence` is None where requests load none."""

    def __init__(
        self,
        settings: Settings,
        factories: Mapping[str, EngineFactory],
        slots: Mapping[str, ModelSlot],
        absence: Absence | None,
        clock: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._factories = factories
        self._slots = slots
        self._absence = absence
        self._clock = clock
        self._observer: Observer | None = None
        self._events: ModelEvents = lambda _model, _event: None
        self._memory = asyncio.Lock()
        """Held while a model is loaded for a request or unloaded, so that room is counted right."""
        self._tasks: set[asyncio.Task[None]] = set()
        self.closed = False

    def observe(self, observer: Observer | None, events: ModelEvents | None) -> None:
        """Report batches of engines and what becomes of models; called before anything is loaded."""
        self._observer = observer
        self._events = self._events if events is None else events

    async def start(self, slot: ModelSlot) -> None:
        """Load a resident model; a failure is kept in its slot."""
        await self._load(slot, in_thread=False)
        slot.on_demand = self._absence is not None

    async def hold(self, slot: ModelSlot) -> Hold:
        """Keep a model loaded, and load it first where it is not; the typed error when that fails or takes long."""
        slot.enter()
        try:
            engine = slot.engine or await self._wait_for(slot)
        except BaseException:
            self._leave(slot)
            raise
        return Hold(engine, partial(self._leave, slot))

    async def unload(self, slot: ModelSlot) -> bool:
        """Unload a model; false where it was not loaded, `ConflictError` where somebody uses it."""
        async with self._memory:
            if slot.uses:
                raise ConflictError(f"The model {slot.name!r} is in use; try again when its requests have ended.")
            if slot.engine is None:
                return False
            await self._close(slot, "asked")
            return True

    async def close(self) -> None:
        """End loads under way and close every engine; one that fails to close does not keep the others open."""
        self.closed = True
        for slot in self._slots.values():
            slot.stop_timer()
        loads = [slot.loading for slot in self._slots.values() if slot.loading is not None]
        for load in loads:
            load.cancel()
        await asyncio.gather(*loads, *self._tasks, return_exceptions=True)
        engines = {slot.name: slot.engine for slot in self._slots.values() if slot.engine is not None}
        for slot in self._slots.values():
            slot.engine = None
        await asyncio.gather(*(_closed(name, engine) for name, engine in engines.items()))

    async def _wait_for(self, slot: ModelSlot) -> Engine:
        """The engine of a model that is not loaded, after a wait of at most `model_load_seconds`."""
        if slot.loading is None:
            self._check_loadable(slot)
            slot.fault, slot.load_began = None, self._clock()
            slot.loading = asyncio.create_task(self._load_for_request(slot))
        if slot.uses > self._settings.max_sessions + self._settings.max_queue:
            raise OverloadedError(
                f"Too many requests wait for the model {slot.name!r}; try again in {_RETRY_SECONDS:.0f} s.",
                retry_after=_RETRY_SECONDS,
            )
        await asyncio.wait({slot.loading}, timeout=self._settings.model_load_seconds)
        if slot.engine is not None:
            return slot.engine
        if slot.fault is not None:
            raise slot.fault.error(self._clock())
        raise UnavailableError(
            SHUTTING_DOWN if self.closed else f"The model {slot.name!r} is still loading; try again in a moment.",
            field="model",
            retry=True,
            retry_after=_RETRY_SECONDS,
        )

    def _check_loadable(self, slot: ModelSlot) -> None:
        now = self._clock()
        if self.closed or not slot.on_demand or self._absence is None:
            reason = (
                SHUTTING_DOWN if self.closed else f"The model {slot.name!r} is still loading; try again in a moment."
            )
            raise slot.fault.error(now) if slot.fault and not self.closed else UnavailableError(reason, field="model")
        if slot.fault is not None and now < slot.fault.until:
            raise slot.fault.error(now)
        if reason := self._absence(slot.name):
            raise UnavailableError(reason, field="model", retry=False)

    async def _load_for_request(self, slot: ModelSlot) -> None:
        try:
            async with self._memory:
                if slot.resident or await self._make_room(slot):
                    await self._load(slot, in_thread=True)
        finally:
            slot.loading = None
            if slot.idle:
                self._watch_idle(slot)

    async def _make_room(self, slot: ModelSlot) -> bool:
        """Unload the model that was idle longest where as many are loaded as may be; false where all are in use."""
        loaded = [other for other in self._slots.values() if other.engine is not None and not other.resident]
        while len(loaded) >= self._settings.max_loaded_models:
            idle = min((other for other in loaded if other.idle), key=lambda other: other.last_used, default=None)
            if idle is None:
                full = UnavailableError(
                    f"The model {slot.name!r} has no room while {', '.join(other.name for other in loaded)} speak; "
                    "try again in a moment, or raise max_loaded_models.",
                    retry=True,
                )
                slot.fault = LoadFault.of(slot.name, full, self._clock())
                return False
            loaded.remove(idle)
            await self._close(idle, "room")
        return True

    async def _load(self, slot: ModelSlot, *, in_thread: bool) -> None:
        """Make and start the engine. With `in_thread`, the imports that making it needs do not stop the event loop."""
        slot.fault, engine, began = None, None, time.monotonic()
        make = partial(self._factories[slot.name], self._settings)
        try:
            engine = await asyncio.to_thread(make) if in_thread else make()
            if self._observer is not None and isinstance(engine, SupportsObserver):
                engine.observe(self._observer)
            await engine.start()
        except Exception as error:
            slot.fault = LoadFault.of(slot.name, error, self._clock())
            if isinstance(error, PolyvoxError):
                log.warning("model unavailable", model=slot.name, reason=error.message)
            else:
                log.exception("model failed to start", model=slot.name)
            self._events(slot.name, "failed")
        else:
            slot.engine, slot.capabilities, slot.voices = engine, engine.capabilities, tuple(engine.voices)
            slot.last_used, slot.last_load_seconds = self._clock(), time.monotonic() - began
            log.info("model ready", model=slot.name, seconds=round(slot.last_load_seconds, 3))
            keep_loaded()
            self._events(slot.name, "loaded")
        finally:
            if slot.engine is None and engine is not None:
                await _closed(slot.name, engine)

    async def _close(self, slot: ModelSlot, cause: str) -> None:
        """Unload an idle model; a request that comes meanwhile loads it again afterwards."""
        slot.stop_timer()
        engine, slot.engine = slot.engine, None
        assert engine is not None
        log.info("model unloads", model=slot.name, cause=cause)
        await _closed(slot.name, engine)
        del engine
        self._events(slot.name, "unloaded")
        try:
            await asyncio.to_thread(free_memory)
        except Exception:  # such as a GPU that has failed: the model is unloaded all the same
            log.exception("memory not given back", model=slot.name)

    def _leave(self, slot: ModelSlot) -> None:
        slot.leave(self._clock())
        if slot.idle:
            self._watch_idle(slot)

    def _watch_idle(self, slot: ModelSlot) -> None:
        slot.stop_timer()
        seconds = self._settings.model_idle_seconds
        if seconds and not slot.resident and not self.closed:
            slot.idle_timer = asyncio.get_running_loop().call_later(seconds, self._idle_long_enough, slot)

    def _idle_long_enough(self, slot: ModelSlot) -> None:
        slot.idle_timer = None
        task = asyncio.create_task(self._unload_idle(slot))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _unload_idle(self, slot: ModelSlot) -> None:
        async with self._memory:
            used_meanwhile = slot.idle_timer is not None  # and left again, which started the next timer
            if slot.idle and not used_meanwhile and not self.closed:
                await self._close(slot, "idle")


async def _closed(name: str, engine: Engine) -> None:
    try:
        await engine.close()
    except Exception:
        log.exception("engine failed to close", model=name)
