"""One engine in a process of its own: what it says goes out in parcels, what it raises as a value."""

import asyncio
import os
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeVar
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import structlog
from structlog.contextvars import bind_contextvars

from polyvox.config import Settings
from polyvox.deploy.pulse import Pulse
from polyvox.deploy.remote_engine import abilities_of
from polyvox.deploy.wire import Failure, Parcel, Profile, PromisedVoice, VoiceWanted, is_only_named
from polyvox.engines.base import (
    Engine,
    SupportsCodes,
    SupportsConversion,
    SupportsDialogue,
    SupportsMixing,
    SupportsObserver,
    SupportsPhonemes,
    SupportsWarning,
)
from polyvox.engines.spec import EngineSpec
from polyvox.errors import EngineError, InvalidRequestError, PolyvoxError, UnavailableError
from polyvox.runtime.stage import BatchReport
from polyvox.service.delivery import closing
from polyvox.types import AudioChunk, Capabilities, PreparedVoice, Utterance, VoicePrompt
from polyvox.voices.cache import BoundedCache, CacheEvent

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

Answer = TypeVar("Answer")
Item = Parcel | Failure | VoiceWanted

_MOST_REPORTS = 1_024
_NOTHING = Capabilities(languages=frozenset(), sample_rate=24_000)


@dataclass(frozen=True, slots=True)
class Vitals:
    """How one replica is doing, for those who run it."""

    pid: int
    gpus: tuple[str, ...]
    speaking: int
    voices: int
    warning: str


class EngineReplica:
    """Runs an engine for callers in other processes.

    An engine that cannot start for a reason that its owner can mend, such as a missing model, leaves a replica that
    tells everyone so; any other failure is raised. On a GPU that fails the engine's first utterance, an engine that may
    choose its device is started once more on the CPU.
    """

    def __init__(
        self,
        model: str,
        settings: Settings,
        spec: EngineSpec,
        gpus: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._settings = settings if gpus else spec.on_cpu(settings)
        self._spec = spec
        self._gpus = tuple(gpus)
        self._engine: Engine | None = None
        self._reason = ""
        self._fallback = ""
        self._speaking = 0
        self._reports: deque[BatchReport] = deque(maxlen=_MOST_REPORTS)
        self._pulse = Pulse(settings.ray_wedged_seconds, clock)
        self.probe: asyncio.Task[None] | None = None
        self._ailment = ""
        self._voices: BoundedCache[PreparedVoice] = BoundedCache(
            "prepared",
            max_bytes=settings.prepared_cache_bytes,
            max_age=settings.prepared_cache_seconds,
            observer=_unobserved,
        )

    async def start(self) -> None:
        """Load the engine; it speaks one short utterance by itself, which is its test."""
        log.info("replica starts", model=self._model, gpus=self._gpus, cpus=os.environ.get("OMP_NUM_THREADS"))
        try:
            self._engine = await self._started(self._settings)
        except PolyvoxError as error:
            self._reason = error.message
            log.warning("model unavailable", model=self._model, reason=error.message)
        except Exception as error:
            if not self._gpus or self._spec.on_cpu(self._settings) == self._settings:
                raise
            log.exception("GPU failed its test", model=self._model, gpus=self._gpus)
            self._engine = await self._started(self._spec.on_cpu(self._settings))
            self._fallback = f"The GPU failed its test ({type(error).__name__}); {self._model!r} runs on the CPU."

    async def close(self) -> None:
        if self.probe is not None:
            self.probe.cancel()
        if self._engine is not None:
            await self._engine.close()

    async def describe(self) -> Profile:
        """What the doors need to know."""
        engine = self._engine
        if engine is None:
            return Profile(self._model, _NOTHING, (), reason=self._reason)
        abilities = abilities_of(engine)
        return Profile(engine.name, engine.capabilities, tuple(engine.voices), abilities, self._warning)

    async def vitals(self) -> Vitals:
        return Vitals(os.getpid(), self._gpus, self._speaking, len(self._voices), self._warning)

    async def speak(self, utterance: Utterance, session: str) -> AsyncGenerator[Item, None]:
        """The utterance's chunks; a failure is the last item."""

        def speech(engine: Engine, utterance: Utterance) -> AsyncIterator[AudioChunk]:
            engine.check(utterance)
            return engine.speak(utterance)

        async with aclosing(self._answered(speech, utterance, session)) as items:
            async for item in items:
                yield item

    async def convert(self, source: VoicePrompt, utterance: Utterance, session: str) -> AsyncGenerator[Item, None]:
        """The recording in the utterance's voice; a failure is the last item."""

        def speech(engine: Engine, utterance: Utterance) -> AsyncIterator[AudioChunk]:
            assert isinstance(engine, SupportsConversion)
            return engine.convert(source, utterance)

        async with aclosing(self._answered(speech, utterance, session)) as items:
            async for item in items:
                yield item

    async def hold(self, digest: str) -> str:
        """Called for each voice that is used here, for whoever wants to send the next request with it here too."""
        return digest

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice | Failure:
        """The engine's voice for a recording; made once for as long as it is remembered."""

        async def made(engine: Engine) -> PreparedVoice:
            await self.hold(prompt.digest)
            voice = self._voices.get(prompt.digest)
            if voice is None:
                voice = await engine.prepare(prompt)
                self._keep(prompt.digest, voice)
            return voice

        return await self._answer(made)

    async def phonemize(self, text: str, language: str) -> tuple[str, list[int]] | Failure:
        async def made(engine: Engine) -> tuple[str, list[int]]:
            assert isinstance(engine, SupportsPhonemes)
            return await asyncio.to_thread(engine.phonemize, text, language)

        return await self._answer(made)

    async def mixed_voice(self, expression: str) -> npt.NDArray[np.float32] | Failure:
        async def made(engine: Engine) -> npt.NDArray[np.float32]:
            assert isinstance(engine, SupportsMixing)
            return await asyncio.to_thread(engine.mixed_voice, expression)

        return await self._answer(made)

    async def check_health(self) -> None:
        """Raise if the engine is stuck or failed when it was last tried; returns at once in any case.

        An engine that nobody has used for a while is tried with a word, so that its next caller is not the first to
        find out.
        """
        stuck = self._pulse.stuck_seconds
        if stuck:
            raise RuntimeError(f"The engine {self._model!r} has made nothing for {stuck:.0f} s while callers wait.")
        if self._ailment:
            raise RuntimeError(f"The engine {self._model!r} fails: {self._ailment}")
        tried = self.probe is None or self.probe.done()
        if tried and self._pulse.idle_seconds > self._settings.ray_probe_seconds:
            self.probe = asyncio.create_task(self._tried(), name=f"probe of {self._model}")

    async def _started(self, settings: Settings) -> Engine:
        engine = self._spec.make(self._model, settings)
        if isinstance(engine, SupportsObserver):
            engine.observe(self._reports.append)
        try:
            await engine.start()
        except BaseException:
            await engine.close()
            raise
        return engine

    @property
    def _warning(self) -> str:
        own = self._engine.warning if isinstance(self._engine, SupportsWarning) else ""
        return self._fallback or own

    async def _answered(
        self, speech: Callable[[Engine, Utterance], AsyncIterator[AudioChunk]], utterance: Utterance, session: str
    ) -> AsyncGenerator[Item, None]:
        bind_contextvars(session=session)
        self._speaking += 1
        try:
            engine = self._usable()
            if utterance.prepared is not None:
                await self.hold(utterance.prepared.digest)
            spoken = self._with_voice(engine, utterance)
            if spoken is None:
                yield VoiceWanted()
                return
            async with aclosing(self._parcels(speech(engine, spoken))) as parcels:
                async for parcel in parcels:
                    yield parcel
        except PolyvoxError as error:
            yield Failure.of(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller must hear of it
            yield self._defect(error, session)
        finally:
            self._speaking -= 1

    async def _parcels(self, source: AsyncIterator[AudioChunk]) -> AsyncGenerator[Parcel, None]:
        async with closing(source):
            while True:
                with self._pulse.waiting():
                    chunk = await anext(source, None)
                if chunk is None:
                    return
                reports = tuple(self._reports)
                self._reports.clear()
                yield Parcel(chunk, reports, self._warning)

    async def _answer(self, made: Callable[[Engine], Awaitable[Answer]]) -> Answer | Failure:
        try:
            with self._pulse.waiting():
                return await made(self._usable())
        except PolyvoxError as error:
            return Failure.of(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller must hear of it
            return self._defect(error, "")

    def _usable(self) -> Engine:
        if self._engine is None:
            raise UnavailableError(self._reason or f"The engine {self._model!r} is not running.")
        return self._engine

    def _with_voice(self, engine: Engine, utterance: Utterance) -> Utterance | None:
        """The utterance with its whole voice, or None where only its name came and it is not here."""
        sent = utterance.prepared
        if sent is None:
            return utterance
        if is_only_named(sent):
            known = self._voices.get(sent.digest)
            return None if known is None else replace(utterance, prepared=known)
        voice = _kept_promise(engine, sent) if isinstance(sent, PromisedVoice) else sent
        self._keep(sent.digest, voice)
        return replace(utterance, prepared=voice)

    def _keep(self, digest: str, voice: PreparedVoice) -> None:
        self._voices.put(digest, voice, voice.nbytes)

    def _defect(self, error: Exception, session: str) -> Failure:
        reference = session or uuid4().hex
        log.error("engine failed", engine=self._model, session=reference, exc_info=error)
        return Failure.of(
            EngineError(f"The engine {self._model!r} failed; its replica's log has the cause under {reference}.")
        )

    async def _tried(self) -> None:
        """Say one word with the engine's first voice; an engine with none of its own is only watched."""
        engine = self._engine
        if engine is None or not engine.voices:
            return
        try:
            source = engine.speak(Utterance("Ready.", engine.voices[0].id, seed=0))
            async with aclosing(self._parcels(source)) as parcels:
                async for _ in parcels:
                    continue
            self._ailment = ""
        except InvalidRequestError:
            self._ailment = ""  # it has read the text and refused it, as it should if it does not speak English
        except Exception as error:
            self._ailment = f"{type(error).__name__}: {error}"
            log.exception("probe failed", engine=self._model)


def _kept_promise(engine: Engine, voice: PromisedVoice) -> PreparedVoice:
    if voice.method == "voice_from_codes" and isinstance(engine, SupportsCodes):
        return engine.voice_from_codes(*voice.arguments)
    if voice.method == "dialogue_voice" and isinstance(engine, SupportsDialogue):
        first, second = (
            _kept_promise(engine, part) if isinstance(part, PromisedVoice) else part for part in voice.arguments
        )
        return engine.dialogue_voice(first, second)
    raise InvalidRequestError(f"The model {engine.name!r} cannot make such a voice.", field="voice")


def _unobserved(kind: str, event: CacheEvent) -> None:
    """The ingress counts what its own cache does; a replica's has no counter."""
