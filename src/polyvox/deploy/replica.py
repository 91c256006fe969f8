"""One engine in a process of its own: chunks and errors are sent as messages."""

import asyncio
import os
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeVar
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import structlog
from opentelemetry.trace import Span
from structlog.contextvars import bind_contextvars

from polyvox.config import Settings
from polyvox.deploy.messages import (
    ChunkMessage,
    DeferredVoice,
    EngineProfile,
    ErrorMessage,
    VoiceMissing,
    is_digest_only,
)
from polyvox.deploy.remote_engine import abilities_of
from polyvox.deploy.watchdog import Watchdog
from polyvox.engines.base import (
    Engine,
    SupportsCodes,
    SupportsConversion,
    SupportsDialogue,
    SupportsLocation,
    SupportsMixing,
    SupportsObserver,
    SupportsObstacle,
    SupportsPhonemes,
    SupportsStreamingText,
    SupportsStyle,
    SupportsWarmUp,
    SupportsWarning,
)
from polyvox.engines.spec import EngineSpec
from polyvox.errors import EngineError, InvalidRequestError, PolyvoxError, UnavailableError, status_of
from polyvox.runtime.stage import BatchReport
from polyvox.service.delivery import closing
from polyvox.service.telemetry.tracing import NO_HEADERS, RequestTracer, end_span, log_ids
from polyvox.service.voices.voice_resolver import style_model_of
from polyvox.text.detect import load_detector
from polyvox.text.normalize import load_normalizers
from polyvox.types import AudioChunk, Capabilities, EngineLocation, PreparedVoice, Utterance, VoicePrompt
from polyvox.voices.cache import BoundedCache, CacheEvent

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

Answer = TypeVar("Answer")
Item = ChunkMessage | ErrorMessage | VoiceMissing

_MOST_REPORTS = 1_024
_NO_CAPABILITIES = Capabilities(languages=frozenset(), sample_rate=24_000)


@dataclass(frozen=True, slots=True)
class ReplicaStatus:
    """Status of one replica, for operators."""

    pid: int
    gpus: tuple[str, ...]
    speaking: int
    voices: int
    warning: str


class EngineReplica:
    """Runs an engine for callers in other processes.

    An engine that cannot start for a reason its operator can fix, such as a missing model, leaves a replica that
    answers with that reason; any other exception is raised. Where the self-test fails on the GPU, an engine that may
    choose its device is started again on the CPU. `place` tells the ids of this process and its machine. Without a
    `spec` it loads nothing, and speaks with the engine that it adopts.
    """

    def __init__(
        self,
        model: str,
        settings: Settings,
        spec: EngineSpec | None,
        gpus: Sequence[str] = (),
        place: EngineLocation = EngineLocation(),
        clock: Callable[[], float] = time.monotonic,
        tracer: RequestTracer | None = None,
    ) -> None:
        self._model = model
        self._tracer = tracer
        self._settings = settings if gpus or spec is None else spec.on_cpu(settings)
        self._spec = spec
        self._gpus = tuple(gpus)
        self._place = place
        self._engine: Engine | None = None
        self._reason = ""
        self._fallback = ""
        self._speaking = 0
        self._reports: deque[BatchReport] = deque(maxlen=_MOST_REPORTS)
        self._watchdog = Watchdog(settings.ray_wedged_seconds, clock)
        self.probe: asyncio.Task[None] | None = None
        self._probe_error = ""
        self._voices: BoundedCache[PreparedVoice] = BoundedCache(
            "prepared",
            max_bytes=settings.prepared_cache_bytes,
            max_age=settings.prepared_cache_seconds,
            observer=_ignore_event,
        )

    def adopt(self, engine: Engine) -> None:
        """Speak with an engine that somebody else has loaded, and will close."""
        self._engine = engine

    async def start(self) -> None:
        """Load the engine, which speaks one short utterance as its self-test."""
        log.info("replica starts", model=self._model, gpus=self._gpus, cpus=os.environ.get("OMP_NUM_THREADS"))
        await asyncio.to_thread(load_normalizers)
        await asyncio.to_thread(load_detector)
        try:
            self._engine = await self._started(self._settings)
        except PolyvoxError as error:
            self._reason = error.message
            log.warning("model unavailable", model=self._model, reason=error.message)
        except Exception as error:
            assert self._spec is not None
            if not self._gpus or self._spec.on_cpu(self._settings) == self._settings:
                raise
            log.exception("GPU failed its self-test", model=self._model, gpus=self._gpus)
            self._engine = await self._started(self._spec.on_cpu(self._settings))
            self._fallback = (
                f"The GPU failed its self-test ({type(error).__name__}); the model {self._model!r} runs on the CPU."
            )

    async def close(self) -> None:
        if self.probe is not None:
            self.probe.cancel()
        if self._engine is not None:
            await self._engine.close()
        if self._tracer is not None:
            await asyncio.to_thread(self._tracer.close)

    async def describe(self) -> EngineProfile:
        """The profile for the doors."""
        engine = self._engine
        if engine is None:
            return EngineProfile(self._model, _NO_CAPABILITIES, (), reason=self._reason)
        abilities = abilities_of(engine)
        return EngineProfile(
            engine.name,
            engine.capabilities,
            tuple(engine.voices),
            abilities,
            self._warning,
            location=self._location,
            obstacle=engine.obstacle if isinstance(engine, SupportsObstacle) else None,
            style_model=style_model_of(engine) if isinstance(engine, SupportsStyle) else "",
        )

    async def status(self) -> ReplicaStatus:
        return ReplicaStatus(os.getpid(), self._gpus, self._speaking, len(self._voices), self._warning)

    async def speak(
        self, utterance: Utterance, session: str, headers: Mapping[str, str] = NO_HEADERS
    ) -> AsyncGenerator[Item, None]:
        """Stream the utterance's chunks; an error is the last item. `headers` are W3C's of the caller's trace."""

        def speech(engine: Engine, utterance: Utterance) -> AsyncIterator[AudioChunk]:
            engine.check(utterance)
            return engine.speak(utterance)

        async with aclosing(self._stream(speech, utterance, session, headers)) as items:
            async for item in items:
                yield item

    async def convert(
        self, source: VoicePrompt, utterance: Utterance, session: str, headers: Mapping[str, str] = NO_HEADERS
    ) -> AsyncGenerator[Item, None]:
        """Stream the recording in the utterance's voice; an error is the last item."""

        def speech(engine: Engine, utterance: Utterance) -> AsyncIterator[AudioChunk]:
            assert isinstance(engine, SupportsConversion)
            return engine.convert(source, utterance)

        async with aclosing(self._stream(speech, utterance, session, headers)) as items:
            async for item in items:
                yield item

    async def speak_stream(
        self, pieces: AsyncIterator[str], utterance: Utterance, session: str, headers: Mapping[str, str] = NO_HEADERS
    ) -> AsyncGenerator[Item, None]:
        """Stream a text that is still arriving; an error is the last item."""

        def speech(engine: Engine, utterance: Utterance) -> AsyncIterator[AudioChunk]:
            assert isinstance(engine, SupportsStreamingText)
            return engine.speak_stream(utterance, pieces)

        async with aclosing(self._stream(speech, utterance, session, headers)) as items:
            async for item in items:
                yield item

    async def hold(self, digest: str) -> str:
        """Called for each voice used here, so that a subclass can route later requests with it to this replica."""
        return digest

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice | ErrorMessage:
        """The engine's prepared voice for a recording, cached."""

        async def made(engine: Engine) -> PreparedVoice:
            await self.hold(prompt.digest)
            voice = self._voices.get(prompt.digest)
            if voice is None:
                voice = await engine.prepare(prompt)
                self._keep(prompt.digest, voice)
            return voice

        return await self._call(made)

    async def phonemize(self, text: str, language: str) -> tuple[str, list[int]] | ErrorMessage:
        async def made(engine: Engine) -> tuple[str, list[int]]:
            assert isinstance(engine, SupportsPhonemes)
            return await asyncio.to_thread(engine.phonemize, text, language)

        return await self._call(made)

    async def mixed_voice(self, expression: str) -> npt.NDArray[np.float32] | ErrorMessage:
        async def made(engine: Engine) -> npt.NDArray[np.float32]:
            assert isinstance(engine, SupportsMixing)
            return await asyncio.to_thread(engine.mixed_voice, expression)

        return await self._call(made)

    async def check_health(self) -> None:
        """Raise if the engine is stuck or its last probe failed; never blocks.

        An idle engine is probed with one word, so that a failure is found before the next request.
        """
        stuck = self._watchdog.stuck_seconds
        if stuck:
            raise RuntimeError(
                f"The engine {self._model!r} has produced nothing for {stuck:.0f} s while requests wait."
            )
        if self._probe_error:
            raise RuntimeError(f"The engine {self._model!r} fails: {self._probe_error}")
        no_probe_running = self.probe is None or self.probe.done()
        if no_probe_running and self._watchdog.idle_seconds > self._settings.ray_probe_seconds:
            self.probe = asyncio.create_task(self._probe(), name=f"probe of {self._model}")

    async def _started(self, settings: Settings) -> Engine:
        """An engine that has started, with what its first callers would wait for."""
        assert self._spec is not None
        engine = self._spec.make(self._model, settings)
        if isinstance(engine, SupportsObserver):
            engine.observe(self._reports.append)
        try:
            await engine.start()
            if isinstance(engine, SupportsWarmUp):
                await asyncio.to_thread(engine.warm_up)
        except BaseException:
            await engine.close()
            raise
        return engine

    @property
    def _warning(self) -> str:
        own = self._engine.warning if isinstance(self._engine, SupportsWarning) else ""
        return self._fallback or own

    @property
    def _location(self) -> EngineLocation:
        if isinstance(self._engine, SupportsLocation):
            return replace(self._place, device=self._engine.location.device)
        return self._place

    async def _stream(
        self,
        speech: Callable[[Engine, Utterance], AsyncIterator[AudioChunk]],
        utterance: Utterance,
        session: str,
        headers: Mapping[str, str],
    ) -> AsyncGenerator[Item, None]:
        span = self._span(headers, session)
        bind_contextvars(session=session, **({} if span is None else log_ids(span)))
        failure: str | None = None
        self._speaking += 1
        try:
            engine = self._usable()
            if utterance.prepared is not None:
                await self.hold(utterance.prepared.digest)
            spoken = self._with_voice(engine, utterance)
            if spoken is None:
                yield VoiceMissing()
                return
            async with aclosing(self._messages(speech(engine, spoken), phonemes=spoken.phonemes)) as messages:
                async for message in messages:
                    yield message
        except PolyvoxError as error:
            failure = status_of(error).code
            yield ErrorMessage.of(error)
        except Exception as error:  # noqa: BLE001 - every exception must reach the caller
            failure = type(error).__name__
            yield self._unexpected(error, session)
        finally:
            self._speaking -= 1
            if span is not None:
                end_span(span, failure)

    def _span(self, headers: Mapping[str, str], session: str) -> Span | None:
        """A span of this process in the caller's trace; None where either traces nothing."""
        if self._tracer is None or not headers:
            return None
        place = {"polyvox.ray.actor": self._place.actor, "polyvox.ray.node": self._place.node}
        known = {name: value for name, value in place.items() if value is not None}
        attributes = {"polyvox.session.id": session, "polyvox.engine": self._model, **known}
        return self._tracer.start(f"replica {self._model}", headers, attributes)

    async def _messages(
        self, source: AsyncIterator[AudioChunk], *, phonemes: bool
    ) -> AsyncGenerator[ChunkMessage, None]:
        """Without `phonemes` none are sent: to find those of a word takes longer than all else of a message."""
        warning, location = (
            self._warning,
            self._location,
        )  # once an utterance: to ask an engine for its protocols is slow
        async with closing(source):
            while True:
                with self._watchdog.waiting():
                    chunk = await anext(source, None)
                if chunk is None:
                    return
                reports = tuple(self._reports)
                self._reports.clear()
                yield ChunkMessage(chunk if phonemes else chunk.without_phonemes(), reports, warning, location)

    async def _call(self, made: Callable[[Engine], Awaitable[Answer]]) -> Answer | ErrorMessage:
        try:
            with self._watchdog.waiting():
                return await made(self._usable())
        except PolyvoxError as error:
            return ErrorMessage.of(error)
        except Exception as error:  # noqa: BLE001 - every exception must reach the caller
            return self._unexpected(error, "")

    def _usable(self) -> Engine:
        if self._engine is None:
            raise UnavailableError(self._reason or f"The engine {self._model!r} is not running.")
        return self._engine

    def _with_voice(self, engine: Engine, utterance: Utterance) -> Utterance | None:
        """The utterance with its whole voice, or None where only its digest was sent and it is not cached."""
        sent = utterance.prepared
        if sent is None:
            return utterance
        if is_digest_only(sent):
            known = self._voices.get(sent.digest)
            return None if known is None else replace(utterance, prepared=known)
        voice = _make_deferred(engine, sent) if isinstance(sent, DeferredVoice) else sent
        self._keep(sent.digest, voice)
        return replace(utterance, prepared=voice)

    def _keep(self, digest: str, voice: PreparedVoice) -> None:
        self._voices.put(digest, voice, voice.nbytes)

    def _unexpected(self, error: Exception, session: str) -> ErrorMessage:
        reference = session or uuid4().hex
        log.error("engine failed", engine=self._model, session=reference, exc_info=error)
        return ErrorMessage.of(
            EngineError(f"The engine {self._model!r} failed; its replica's log has the cause under {reference}.")
        )

    async def _probe(self) -> None:
        """Speak one word with the engine's first voice; an engine without voices of its own is not probed."""
        engine = self._engine
        if engine is None or not engine.voices:
            return
        try:
            source = engine.speak(Utterance("Ready.", engine.voices[0].id, seed=0))
            async with aclosing(self._messages(source, phonemes=False)) as messages:
                async for _ in messages:
                    continue
            self._probe_error = ""
        except InvalidRequestError:
            self._probe_error = ""  # a working engine that does not speak English refuses the text
        except Exception as error:
            self._probe_error = f"{type(error).__name__}: {error}"
            log.exception("probe failed", engine=self._model)


def _make_deferred(engine: Engine, voice: DeferredVoice) -> PreparedVoice:
    if voice.method == "voice_from_codes" and isinstance(engine, SupportsCodes):
        return engine.voice_from_codes(*voice.arguments)
    if voice.method == "dialogue_voice" and isinstance(engine, SupportsDialogue):
        first, second = (
            _make_deferred(engine, part) if isinstance(part, DeferredVoice) else part for part in voice.arguments
        )
        return engine.dialogue_voice(first, second)
    if voice.method == "voice_from_style" and isinstance(engine, SupportsStyle):
        return engine.voice_from_style(*voice.arguments)
    raise InvalidRequestError(f"The model {engine.name!r} cannot make such a voice.", field="voice")


def _ignore_event(kind: str, event: CacheEvent) -> None:
    """Cache events are counted by the ingress; a replica has no metrics."""
