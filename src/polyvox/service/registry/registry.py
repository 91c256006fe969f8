"""The models of this server, which of them are available, and the reason for those that are not."""

import asyncio
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from polyvox.bundles.offer import offer
from polyvox.config import Settings
from polyvox.engines.base import (
    Engine,
    SupportsLocation,
    SupportsObstacle,
    SupportsPace,
    SupportsStyle,
    SupportsWarmUp,
    SupportsWarning,
)
from polyvox.engines.spec import ModelOutline
from polyvox.errors import ConflictError, InvalidRequestError, NotServedError, UnavailableError, UnknownModelError
from polyvox.runtime.stage import Observer
from polyvox.service.registry.cloning_choice import CloningModel, best_to_clone
from polyvox.service.registry.model_loader import SHUTTING_DOWN, Absence, EngineFactory, Hold, ModelEvents, ModelLoader
from polyvox.service.registry.model_slot import ModelSlot
from polyvox.suggestions import did_you_mean
from polyvox.types import Capabilities, EngineLocation, Voice

OPENAI_NAMES = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")
_OPENAI_NAME = re.compile(rf"({'|'.join(OPENAI_NAMES)})(-\d{{4}}(-\d{{2}}-\d{{2}})?)?")
"""Model names that OpenAI's clients send, with the date of a release or without; the settings say what they mean."""
_HD = "tts-1-hd"

_UNKNOWN = ModelOutline()

Outline = Callable[[str], ModelOutline]
"""Describes a model by its name without loading it."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """Readiness to serve requests for the default model, and the reason for each model that is not available.

    `warnings` are about models that work, but not as their settings ask.
    """

    ok: bool
    reasons: dict[str, str]
    warnings: dict[str, str] = field(default_factory=dict)


_NAMED_MODELS = 6
"""Models that a refusal names beside the one whose installation it explains."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model for lists. `reason` says what to do when it is not available.

    One that is available and not `loaded` is loaded for the first request that names it. A `resident` one is named in
    the setting `models`.
    """

    id: str
    available: bool
    reason: str
    capabilities: Capabilities | None
    created: int
    owned_by: str
    loaded: bool = False
    resident: bool = False
    outline: ModelOutline = _UNKNOWN
    """As it is known without a load."""

    @property
    def cloning(self) -> bool:
        """True if it speaks with voices of the caller; false where it is not available."""
        known = self.outline if self.capabilities is None else self.capabilities
        return self.available and known.cloning

    @property
    def wordless(self) -> bool:
        """True if it clones voices without a transcript; false where it is not available."""
        known = self.outline if self.capabilities is None else self.capabilities
        return self.available and known.cloning and known.wordless

    @property
    def voice_design(self) -> bool:
        """True if it makes voices from descriptions; false where it is not available."""
        known = self.outline if self.capabilities is None else self.capabilities
        return self.available and known.voice_design

    @property
    def languages(self) -> frozenset[str]:
        """BCP 47 tags that it speaks; none where it is not available."""
        known = self.outline if self.capabilities is None else self.capabilities
        return known.languages if self.available else frozenset()


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """A load under way: for how long, how many requests wait for it, and how long the last one took, if any."""

    seconds: float
    waiting: int
    last_seconds: float | None

    def public(self) -> dict[str, float | int | None]:
        """For `/ready`."""
        last = None if self.last_seconds is None else round(self.last_seconds, 1)
        return {"seconds": round(self.seconds, 1), "waiting": self.waiting, "last_seconds": last}


@dataclass(frozen=True, slots=True)
class Unloaded:
    """Names of models that were unloaded, and of those that were not since they are in use."""

    models: list[str]
    busy: list[str]


class Registry:
    """The engines of one server by model name; `absent` gives the reason for models that cannot be loaded.

    Where `absence` is given, models that the settings do not name are loaded when a request names them, unless it
    gives a reason why they cannot. `outline` describes models that are not loaded, so that lists load none.
    """

    def __init__(
        self,
        settings: Settings,
        factories: Mapping[str, EngineFactory],
        absent: Mapping[str, str] | None = None,
        *,
        absence: Absence | None = None,
        outline: Outline | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._absence = absence
        self._outline = outline
        self._clock = clock
        others = [name for name in factories if name not in settings.models]
        lazy = others if absence is not None and settings.max_loaded_models else []
        not_loaded = {name: _not_loaded(name) for name in others if name not in lazy}
        self._absent = {name: reason for name, reason in (absent or {}).items() if name not in factories} | not_loaded
        self._created = int(time.time())
        self._slots = {name: ModelSlot(name, resident=True, on_demand=False) for name in settings.models}
        self._slots |= {name: ModelSlot(name, resident=False, on_demand=True) for name in lazy}
        self._loader = ModelLoader(settings, factories, self._slots, absence, clock)
        for name in settings.models:
            if name not in factories:
                advice = did_you_mean(name, factories, f"this version knows {', '.join(sorted(factories))}.")
                reason = self._absent.get(name, f"There is no model {name!r}; {advice}")
                raise InvalidRequestError(reason, field="models")
        if settings.default_model not in settings.models:
            raise InvalidRequestError(
                f"The default model {settings.default_model!r} is not loaded; add it to the setting 'models'.",
                field="default_model",
            )
        if settings.hd_model and settings.hd_model not in self._slots:
            known = ", ".join(self._slots)
            raise InvalidRequestError(
                f"The setting 'hd_model' names {settings.hd_model!r}, which is not served here; use one of {known}.",
                field="hd_model",
            )

    async def start(self, observer: Observer | None = None, events: ModelEvents | None = None) -> None:
        """Start all resident engines concurrently. One that cannot start is kept with its reason; the others serve."""
        self._loader.observe(observer, events)
        await asyncio.gather(*(self._loader.start(slot) for slot in self._slots.values() if slot.resident))

    async def warm_up(self) -> None:
        """Load what resident models would let their first callers wait for."""
        for slot in list(self._slots.values()):
            if slot.resident and isinstance(slot.engine, SupportsWarmUp):
                await asyncio.to_thread(slot.engine.warm_up)

    async def retry_start(self, name: str, observer: Observer | None = None) -> None:
        """Start an engine again that could not start; no effect on one that runs."""
        slot = self._slots[name]
        if slot.engine is None:
            self._loader.observe(observer, None)
            await self._loader.start(slot)

    async def close(self) -> None:
        """Close every engine; one that fails to close does not keep the others open."""
        await self._loader.close()

    def resolve(self, model: str | None) -> str:
        """The model id for the model name of a request."""
        if not model:
            return self._settings.default_model
        if openai := _OPENAI_NAME.fullmatch(model):
            better = self._settings.hd_model if openai[1] == _HD else ""
            return better or self._settings.default_model
        if slot := self._slots.get(model):
            if reason := self._missing(slot):
                raise NotServedError(reason, field="model")
            return model
        if model in self._absent:
            raise NotServedError(self._absent[model], field="model")
        known = ", ".join(info.id for info in self.models())
        raise UnknownModelError(f"There is no model {model[:80]!r} here; use one of {known}.", field="model")

    def engine(self, model: str | None) -> Engine:
        """The engine for a request's model; the error names the fix when it is not available."""
        slot = self._slots[self.resolve(model)]
        if slot.engine is None:
            if slot.fault is not None and not self._loader.closed:
                raise slot.fault.error(self._clock())
            reason = self._reason(slot) or f"The model {slot.name!r} is not loaded; a request for speech loads it."
            raise UnavailableError(reason, field="model")
        return slot.engine

    async def hold(self, model: str | None) -> Hold:
        """The engine for a request's model, loaded first where that is needed; it stays loaded until released."""
        return await self._loader.hold(self._slots[self.resolve(model)])

    async def unload(self, model: str | None) -> Unloaded:
        """Unload a model, or all but the default one; `ConflictError` where the one that is named is in use."""
        if model is not None:
            name = self.resolve(model)
            return Unloaded([name] if await self._loader.unload(self._slots[name]) else [], [])
        done = Unloaded([], [])
        for slot in self._slots.values():
            if slot.name != self._settings.default_model and slot.engine is not None:
                try:
                    if await self._loader.unload(slot):
                        done.models.append(slot.name)
                except ConflictError:
                    done.busy.append(slot.name)
        return done

    async def reload(self, model: str | None) -> ModelInfo:
        """Load a model anew from its files, the default one unless named; one that failed is tried again at once."""
        slot = self._slots[self.resolve(model)]
        await self._loader.unload(slot)
        slot.fault = None
        (await self._loader.hold(slot)).release()
        return self._info(slot)

    def without_phoneme_times(self, engine: Engine) -> str:
        """The sentence for an engine that does not know when its phonemes are heard; empty for one that does."""
        if engine.capabilities.phoneme_timings:
            return ""
        able = [info.id for info in self.models() if info.capabilities and info.capabilities.phoneme_timings]
        remedy = f"use {' or '.join(able)}" if able else "use a model of GET /v1/models that has phoneme_timings"
        return f"The model {engine.name!r} does not know when its phonemes are heard; {remedy}, or ask for words."

    def check_cloning(self, engine: Engine, *, registered: bool = False) -> None:
        """Refuse a voice of the caller where the engine cannot clone; name the models that can, or what to do."""
        if engine.capabilities.cloning:
            return
        cloning = [info.id for info in self.models() if info.cloning]
        remedy = f"use one of {', '.join(cloning)}" if cloning else "this server runs no model that can"
        refusal = f"The model {engine.name!r} cannot clone voices; {remedy}"
        fits = registered and isinstance(engine, SupportsStyle)
        if fits:
            refusal += ", or fit the voice to this model with `polyvox voices fit` or POST /v1/voices/fit"
        absent = {} if cloning else self._absent_cloning()
        if not absent:
            raise InvalidRequestError(f"{refusal}.", field="model")
        first, *others = absent
        about = f" It is {offer(first)}." if offer(first) else ""
        more = f" Others that clone: {', '.join(others[:_NAMED_MODELS])}." if others else ""
        error = InvalidRequestError if fits else NotServedError
        raise error(f"{refusal}. {absent[first]}{about}{more}", field="model")

    def _absent_cloning(self) -> dict[str, str]:
        """Known models that clone voices and are not here, each with what to do to have it; the one to fetch first."""
        outline = self._outline
        if outline is None:
            return {}
        absent = [info for info in self.absent() if outline(info.id).cloning]
        absent.sort(key=lambda info: not outline(info.id).first_to_clone)
        return {info.id: info.reason for info in absent}

    def clones_for(self, model: str | None) -> bool:
        """Return whether a request for this model may bring a voice of its own: also where another one speaks it."""
        return self.model(model).cloning or (not self.is_named(model) and any(i.cloning for i in self.models()))

    def model_to_clone(self, model: str | None, language: str, *, worded: bool) -> str | None:
        """The model that speaks a voice of the caller's: the one that is asked for, unless it was not named and cannot.

        `language` is that of the speech or of the recording, empty where neither is known; a recording is `worded`
        where it has a transcript.
        """
        if self.is_named(model) or self.model(model).cloning:
            return model
        found = self.cloning_model(language, worded=worded)
        return model if found is None else found.name

    def cloning_model(self, language: str = "", *, worded: bool = False) -> CloningModel | None:
        """The model that speaks a voice of the caller's where none is named: the default one if it can, else the best.

        None where no model here clones.
        """
        default = self._settings.default_model
        cloning = {
            info.id: CloningModel(info.id, info.wordless, info.languages, resident=info.resident)
            for info in self.models()
            if info.cloning
        }
        return cloning.get(default) or best_to_clone(cloning.values(), language, worded=worded)

    def is_named(self, model: str | None) -> bool:
        """Return whether a request names a model of this server, rather than leave the choice to it."""
        return bool(model) and _OPENAI_NAME.fullmatch(model or "") is None

    def model(self, model: str | None) -> ModelInfo:
        """One model, available or not."""
        if model in self._absent:
            return self._absence_info(model, self._absent[model])
        return self._info(self._slots[model] if model in self._slots else self._slots[self.resolve(model)])

    def models(self) -> list[ModelInfo]:
        """Every model of the settings, available or not, in their order; then those that a request loads."""
        return [self._info(slot) for slot in self._slots.values() if not self._missing(slot)]

    def absent(self) -> list[ModelInfo]:
        """Known models that this server does not run."""
        missing = {slot.name: reason for slot in self._slots.values() if (reason := self._missing(slot))}
        return [self._absence_info(name, reason) for name, reason in (missing | self._absent).items()]

    def loading(self) -> dict[str, LoadProgress]:
        """The loads under way that requests have asked for."""
        now = self._clock()
        return {
            slot.name: LoadProgress(now - slot.load_began, slot.uses, slot.last_load_seconds)
            for slot in self._slots.values()
            if slot.loading is not None
        }

    def warnings(self) -> dict[str, str]:
        """Warnings of models that are loaded."""
        found: dict[str, str] = {}
        for name, slot in self._slots.items():
            if isinstance(slot.engine, SupportsWarning) and slot.engine.warning:
                found[name] = slot.engine.warning
        return found

    def obstacles(self) -> dict[str, str]:
        """The reasons why models that are loaded cannot speak now."""
        found: dict[str, str] = {}
        for name, slot in self._slots.items():
            if isinstance(slot.engine, SupportsObstacle) and slot.engine.obstacle:
                found[name] = slot.engine.obstacle
        return found

    def location(self, model: str | None = None) -> EngineLocation | None:
        """The location of a model; None where its engine does not give it."""
        engine = self.engine(model)
        return engine.location if isinstance(engine, SupportsLocation) else None

    def pace(self, model: str | None = None) -> float | None:
        """Audio per second that all streams of a model share; None where it is not known, or not shared."""
        engine = self.engine(model)
        return engine.pace if isinstance(engine, SupportsPace) else None

    def voices(self, model: str | None = None) -> Sequence[Voice]:
        """The voices of one model; of one that a request would load, as they were or will be."""
        slot = self._slots[self.resolve(model)]
        return self.engine(model).voices if self._reason(slot) else self._voices(slot)

    def default_voice(self, model: str | None = None, *, instructed: bool = False) -> str:
        """The voice for requests that name none: that of the settings, unless the model has only others of its own.

        Where it is to be `instructed`, those that follow no instructions do not count.
        """
        wanted, slot = self._settings.default_voice, self._slots[self.resolve(model)]
        own = [voice.id for voice in self._voices(slot) if voice.instructions or not instructed]
        return wanted if wanted in own or not own else own[0]

    def _voices(self, slot: ModelSlot) -> Sequence[Voice]:
        if slot.engine is not None:
            return slot.engine.voices
        return self._outlined(slot).voices if slot.voices is None else slot.voices

    def _outlined(self, slot: ModelSlot) -> ModelOutline:
        if slot.outline is None:
            slot.outline = _UNKNOWN if self._outline is None else self._outline(slot.name)
        return slot.outline

    def _missing(self, slot: ModelSlot) -> str:
        """The reason why a model that only requests load cannot be loaded; empty where it can or is."""
        if slot.resident or slot.engine is not None or slot.loading is not None or self._absence is None:
            return ""
        return self._absence(slot.name)

    def _reason(self, slot: ModelSlot) -> str:
        """The reason why a model cannot speak; empty where it can, be it after a load."""
        if self._loader.closed:
            return SHUTTING_DOWN
        if slot.engine is not None:
            return ""
        if slot.fault is not None:
            return slot.fault.message
        return "" if slot.on_demand else "The model is still loading; try again in a moment."

    def _absence_info(self, name: str, reason: str) -> ModelInfo:
        return ModelInfo(name, False, reason, None, self._created, "polyvox")

    def _info(self, slot: ModelSlot) -> ModelInfo:
        reason = self._reason(slot) or self._missing(slot)
        return ModelInfo(
            id=slot.name,
            available=not reason,
            reason=reason,
            capabilities=None if reason else slot.capabilities,
            created=self._created,
            owned_by="polyvox",
            loaded=slot.engine is not None,
            resident=slot.resident,
            outline=_UNKNOWN if reason or slot.capabilities is not None else self._outlined(slot),
        )


def _not_loaded(name: str) -> str:
    return f"The model {name!r} is not loaded; add it to the setting 'models' and restart the server."
