"""The hall: every door comes here with a request and leaves with a session."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import structlog

from polyvox.config import Settings
from polyvox.engines.base import Engine, SupportsMixing, SupportsPhonemes
from polyvox.errors import EngineError, InvalidRequestError, PolyvoxError, TextError, UnavailableError, status_of
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.act import Act, Telling
from polyvox.service.admission import Admission
from polyvox.service.cloning import Clone
from polyvox.service.delivery import Delivery, closing
from polyvox.service.metrics import Metrics
from polyvox.service.registry import Registry
from polyvox.service.session import Plan, Session
from polyvox.types import AudioChunk, Utterance

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_LAST_GRACE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """What a door asks for. `door` is the door's own name, for logs and metrics.

    `cast` tells whether `utterance.voice` is a voice of the caller's; one that is gets prepared when the request's turn
    has come. `act` is what to do instead of speaking the utterance's text; `stage` makes the act where something has
    to be looked up for it.
    """

    utterance: Utterance
    model: str | None = None
    sample_rate: int | None = None
    volume: float = 1.0
    loudness: float | None = None
    deadline: float | None = None
    door: str = ""
    cast: Callable[[], Awaitable[Clone | None]] | None = None
    act: Act | None = None
    stage: Callable[[], Awaitable[Act]] | None = None


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether requests that name no model can be spoken, and what keeps each model from it that cannot.

    `warnings` are on models that can speak, though not as well as they should.
    """

    ok: bool
    reasons: dict[str, str]
    warnings: dict[str, str] = field(default_factory=dict)


class SpeechService:
    """Admits requests, gives each a session, and keeps the accounts."""

    def __init__(self, settings: Settings, registry: Registry, metrics: Metrics) -> None:
        self.settings = settings
        self.registry = registry
        self.metrics = metrics
        self._admission = Admission(settings.max_sessions, settings.max_queue)
        self._executor = DeviceExecutor("polyvox-audio", min(4, os.cpu_count() or 1))
        self._sessions: set[Session] = set()
        self._refusal = "The server is starting; try again in a moment."
        metrics.watch(queue_depth=lambda: self._admission.waiting, active=lambda: self._admission.active)

    async def start(self) -> None:
        """Load the models. The service is up even if some cannot be loaded: `ready` tells."""
        await self.registry.start(self.metrics.batch)
        self._refusal = ""

    async def close(self) -> None:
        """Refuse what is new, let what is open finish for `drain_seconds`, cancel the rest, close the engines."""
        self._refusal = "The server is shutting down; send the request to another or later."
        await self._ended(self.settings.drain_seconds)
        for session in list(self._sessions):
            session.cancel(UnavailableError(self._refusal))
        await self._ended(_LAST_GRACE_SECONDS)
        for session in self._sessions:
            log.error("session does not end", session=session.id, engine=session.engine)
        await self.registry.close()
        await asyncio.to_thread(self._executor.close)

    @property
    def ready(self) -> Readiness:
        """Whether the service can speak."""
        models = self.registry.models()
        reasons = {model.id: model.reason for model in models if not model.available}
        if self._refusal:
            reasons = {"server": self._refusal, **reasons}
        default = self.settings.default_model
        ok = not self._refusal and default not in reasons
        return Readiness(ok=ok, reasons=reasons, warnings=self.registry.warnings())

    async def open(self, request: SpeechRequest) -> Session:
        """A session that speaks the request, now or in its turn; the typed error when it cannot be accepted.

        The session starts by itself. A caller who never reads it loses it after `stall_seconds`.
        """
        model = "unknown"
        try:
            model = self.registry.resolve(request.model)
            if request.stage is not None:
                request = replace(request, act=await request.stage())
            if request.act is None:
                self._check_text(request.utterance.text)
            clone = None if request.cast is None else await request.cast()
            return self._open(request, model, clone)
        except PolyvoxError as error:
            self.metrics.failed(error)
            log.info("refused", door=request.door, model=model, error=status_of(error).code, field=error.field)
            raise
        finally:
            self.metrics.requested(request.door, model)

    async def phonemize(self, text: str, language: str, model: str | None = None) -> tuple[str, list[int]]:
        """How a model reads a text: its phonemes and token ids."""
        self._check_text(text)
        engine = self._engine(model)
        if not isinstance(engine, SupportsPhonemes):
            raise InvalidRequestError(f"The model {engine.name!r} does not work with phonemes.", field="model")
        return await self._executor.run(partial(engine.phonemize, text, language))

    async def mixed_voice(self, expression: str, model: str | None = None) -> npt.NDArray[np.float32]:
        """The blend of voices that a mix expression names."""
        engine = self._engine(model)
        if not isinstance(engine, SupportsMixing):
            raise InvalidRequestError(f"The voices of model {engine.name!r} cannot be mixed.", field="model")
        return await self._executor.run(partial(engine.mixed_voice, expression))

    def _open(self, request: SpeechRequest, model: str, clone: Clone | None) -> Session:
        _check_numbers(request)
        engine = self._engine(model)
        session_id = uuid4().hex
        utterance, warnings = _adapted(request.utterance, engine)
        act = request.act or Telling(utterance.text, request.utterance.speed)
        if clone is None:
            _check_with(engine, utterance, act, session_id)
        else:
            if not clone.styled:
                self.registry.check_cloning(engine)
            utterance = replace(utterance, voice=clone.label)
        delivery = _delivery(request, engine)

        def source() -> AsyncIterator[AudioChunk]:
            if clone is None:
                speech = act.perform(engine, utterance)
            else:
                speech = _cloned(engine, utterance, act, clone, session_id)
            return delivery.carry(speech, self._executor)

        plan = Plan(
            id=session_id,
            door=request.door,
            model=model,
            engine=engine.name,
            voice=utterance.voice,
            chars=act.chars,
            sample_rate=delivery.sample_rate,
            channels=delivery.channels,
            warnings=warnings,
            source=source,
            buffer=self.settings.session_buffer,
            deadline=min(self.settings.deadline_seconds, request.deadline or self.settings.deadline_seconds),
            stall=self.settings.stall_seconds,
            max_audio_seconds=act.longest,
        )
        session = Session(plan, self._admission.enter(), self.metrics, self._executor)
        self._sessions.add(session)
        session.task.add_done_callback(lambda _: self._sessions.discard(session))
        return session

    def _engine(self, model: str | None) -> Engine:
        if self._refusal:
            raise UnavailableError(self._refusal)
        return self.registry.engine(model)

    def _check_text(self, text: str) -> None:
        limit = self.settings.max_input_chars
        if len(text) > limit:
            raise TextError(
                f"The text has {len(text):,} characters; this server takes at most {limit:,}.", field="input"
            )
        if not text.strip():
            raise TextError("The text is empty; send something to say.", field="input")

    async def _ended(self, seconds: float) -> None:
        """Wait for the open sessions, no longer than that."""
        if self._sessions:
            await asyncio.wait([session.task for session in self._sessions], timeout=seconds)


def _check_numbers(request: SpeechRequest) -> None:
    utterance = request.utterance
    if not 0.25 <= utterance.speed <= 4.0:
        raise InvalidRequestError(f"speed must lie between 0.25 and 4, not {utterance.speed:g}.", field="speed")
    if not 0.0 < request.volume <= 4.0:
        raise InvalidRequestError(f"volume must be above 0 and at most 4, not {request.volume:g}.", field="volume")
    if request.sample_rate is not None and not 8_000 <= request.sample_rate <= 48_000:
        raise InvalidRequestError(
            f"sample_rate must lie between 8000 and 48000 Hz, not {request.sample_rate}.", field="sample_rate"
        )
    if request.loudness is not None and not -50.0 <= request.loudness <= -5.0:
        raise InvalidRequestError(
            f"loudness must lie between -50 and -5 LUFS, not {request.loudness:g}.", field="loudness"
        )
    if request.deadline is not None and not request.deadline > 0:
        raise InvalidRequestError(f"deadline must be above 0 seconds, not {request.deadline:g}.", field="deadline")


def _check_with(engine: Engine, utterance: Utterance, act: Act, session_id: str) -> None:
    """The engine's own check; a defect in it is an engine's failure like any other."""
    try:
        act.check(engine, utterance)
    except PolyvoxError:
        raise
    except Exception as error:
        log.exception("engine failed", session=session_id, engine=engine.name)
        raise EngineError(
            f"The engine {engine.name!r} failed; the server's log has the cause under {session_id}."
        ) from error


async def _cloned(
    engine: Engine, utterance: Utterance, act: Act, clone: Clone, session_id: str
) -> AsyncIterator[AudioChunk]:
    """The engine's speech with a voice that is prepared first."""
    with_voice = replace(utterance, prepared=await clone.prepare(engine))
    _check_with(engine, with_voice, act, session_id)
    speech = act.perform(engine, with_voice)
    async with closing(speech):
        async for chunk in speech:
            yield chunk


def _adapted(utterance: Utterance, engine: Engine) -> tuple[Utterance, tuple[str, ...]]:
    """The utterance without what the engine cannot do, and a warning for what is lost by that."""
    warnings: tuple[str, ...] = ()
    if utterance.instructions and not engine.capabilities.instructions:
        warnings = (f"The model {engine.name!r} cannot follow instructions; they were ignored.",)
        utterance = replace(utterance, instructions=None)
    if not engine.capabilities.native_speed:
        utterance = replace(utterance, speed=1.0)
    return utterance, warnings


def _delivery(request: SpeechRequest, engine: Engine) -> Delivery:
    can = engine.capabilities
    return Delivery(
        source_rate=can.sample_rate,
        sample_rate=request.sample_rate or can.sample_rate,
        channels=can.channels,
        tempo=1.0 if can.native_speed else request.utterance.speed,
        loudness=request.loudness,
        volume=request.volume,
    )
