"""The models of this server, which of them are available, and the reason for those that are not."""

import asyncio
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import structlog

from polyvox.config import Settings
from polyvox.engines.base import Engine, SupportsLocation, SupportsObserver, SupportsStyle, SupportsWarning
from polyvox.errors import InvalidRequestError, PolyvoxError, UnavailableError, UnknownModelError
from polyvox.runtime.stage import Observer
from polyvox.types import Capabilities, EngineLocation, Voice

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

EngineFactory = Callable[[Settings], Engine]

OPENAI_NAMES = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")
_OPENAI_NAME = re.compile(rf"({'|'.join(OPENAI_NAMES)})(-\d{{4}}(-\d{{2}}-\d{{2}})?)?")
"""Model names that OpenAI's clients send, with the date of a release or without; here they mean the default model."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model for lists. `reason` says what to do when it is not available."""

    id: str
    available: bool
    reason: str
    capabilities: Capabilities | None
    created: int
    owned_by: str


@dataclass(slots=True)
class _Entry:
    engine: Engine | None = None
    reason: str = "The model is still loading; try again in a moment."

    @property
    def available(self) -> bool:
        return self.engine is not None and not self.reason


class Registry:
    """The engines of one server by model name; `absent` gives the reason for models that cannot be loaded."""

    def __init__(
        self, settings: Settings, factories: Mapping[str, EngineFactory], absent: Mapping[str, str] | None = None
    ) -> None:
        self._settings = settings
        self._factories = factories
        not_loaded = {name: _not_loaded(name) for name in factories if name not in settings.models}
        self._absent = {name: reason for name, reason in (absent or {}).items() if name not in factories} | not_loaded
        self._created = int(time.time())
        self._entries = {name: _Entry() for name in settings.models}
        for name in settings.models:
            if name not in factories:
                known = ", ".join(sorted(factories))
                reason = self._absent.get(name, f"There is no model {name!r}; this version knows {known}.")
                raise InvalidRequestError(reason, field="models")
        if settings.default_model not in self._entries:
            raise InvalidRequestError(
                f"The default model {settings.default_model!r} is not loaded; add it to the setting 'models'.",
                field="default_model",
            )

    async def start(self, observer: Observer | None = None) -> None:
        """Start all engines concurrently. One that cannot start is kept with its reason; the others serve."""
        await asyncio.gather(*(self._start(name, entry, observer) for name, entry in self._entries.items()))

    async def retry_start(self, name: str, observer: Observer | None = None) -> None:
        """Start an engine again that could not start; no effect on one that runs."""
        entry = self._entries[name]
        if not entry.available:
            await self._start(name, entry, observer)

    async def close(self) -> None:
        """Close every engine; one that fails to close does not keep the others open."""
        engines = {name: entry.engine for name, entry in self._entries.items() if entry.engine is not None}
        for entry in self._entries.values():
            entry.engine, entry.reason = None, "The server is shutting down."
        results = await asyncio.gather(*(engine.close() for engine in engines.values()), return_exceptions=True)
        for name, result in zip(engines, results, strict=True):
            if isinstance(result, BaseException):
                log.error("engine failed to close", model=name, exc_info=result)

    def resolve(self, model: str | None) -> str:
        """The model id for the model name of a request."""
        if not model or _OPENAI_NAME.fullmatch(model):
            return self._settings.default_model
        if model in self._entries:
            return model
        if model in self._absent:
            raise UnavailableError(self._absent[model], field="model")
        known = ", ".join(self._entries)
        raise UnknownModelError(f"There is no model {model[:80]!r} here; use one of {known}.", field="model")

    def engine(self, model: str | None) -> Engine:
        """The engine for a request's model; the error names the fix when it is not available."""
        entry = self._entries[self.resolve(model)]
        if entry.engine is None or entry.reason:
            raise UnavailableError(entry.reason, field="model")
        return entry.engine

    def check_cloning(self, engine: Engine, *, registered: bool = False) -> None:
        """Refuse a voice of the caller where the engine cannot clone; name the models that can, or what to do."""
        if engine.capabilities.cloning:
            return
        cloning = [info.id for info in self.models() if info.capabilities is not None and info.capabilities.cloning]
        remedy = f"use one of {', '.join(cloning)}" if cloning else "this server runs no model that can"
        if registered and isinstance(engine, SupportsStyle):
            remedy += ", or fit the voice to this model with `polyvox voices fit` or POST /v1/voices/fit"
        raise InvalidRequestError(f"The model {engine.name!r} cannot clone voices; {remedy}.", field="model")

    def model(self, model: str | None) -> ModelInfo:
        """One model, available or not."""
        return self._absence(model) if model in self._absent else self._info(self.resolve(model))

    def models(self) -> list[ModelInfo]:
        """Every model of the settings, available or not, in their order."""
        return [self._info(name) for name in self._entries]

    def absent(self) -> list[ModelInfo]:
        """Known models that this server does not run."""
        return [self._absence(name) for name in self._absent]

    def warnings(self) -> dict[str, str]:
        """Warnings of models that are available."""
        found: dict[str, str] = {}
        for name, entry in self._entries.items():
            engine = entry.engine
            if entry.available and isinstance(engine, SupportsWarning) and engine.warning:
                found[name] = engine.warning
        return found

    def location(self, model: str | None = None) -> EngineLocation | None:
        """Where a model runs; None where its engine does not tell."""
        engine = self.engine(model)
        return engine.location if isinstance(engine, SupportsLocation) else None

    def voices(self, model: str | None = None) -> Sequence[Voice]:
        """The voices of one model."""
        return self.engine(model).voices

    def default_voice(self, model: str | None = None) -> str:
        """The voice for requests that name none: that of the settings, unless the model has only others of its own."""
        wanted, entry = self._settings.default_voice, self._entries[self.resolve(model)]
        own = [] if entry.engine is None else [voice.id for voice in entry.engine.voices]
        return wanted if wanted in own or not own else own[0]

    async def _start(self, name: str, entry: _Entry, observer: Observer | None) -> None:
        began = time.monotonic()
        try:
            entry.engine = engine = self._factories[name](self._settings)
            if observer is not None and isinstance(engine, SupportsObserver):
                engine.observe(observer)
            await engine.start()
        except PolyvoxError as error:
            entry.reason = error.message
            log.warning("model unavailable", model=name, reason=error.message)
        except Exception:
            entry.reason = f"The model {name!r} failed to start; the server's log has the cause."
            log.exception("model failed to start", model=name)
        else:
            entry.reason = ""
            log.info("model ready", model=name, seconds=round(time.monotonic() - began, 3))

    def _absence(self, name: str) -> ModelInfo:
        reason = self._absent[name]
        return ModelInfo(
            id=name, available=False, reason=reason, capabilities=None, created=self._created, owned_by="polyvox"
        )

    def _info(self, name: str) -> ModelInfo:
        entry = self._entries[name]
        return ModelInfo(
            id=name,
            available=entry.available,
            reason=entry.reason,
            capabilities=entry.engine.capabilities if entry.engine is not None and entry.available else None,
            created=self._created,
            owned_by="polyvox",
        )


def _not_loaded(name: str) -> str:
    return f"The model {name!r} is not loaded; add it to the setting 'models' and restart the server."
