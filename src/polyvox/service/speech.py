"""The speech service: every door opens its sessions here."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import structlog

from polyvox.config import Settings
from polyvox.engines.base import Engine, SupportsMixing, SupportsPhonemes
from polyvox.errors import (
    InvalidRequestError,
    MarkupError,
    OverloadedError,
    PolyvoxError,
    TextError,
    UnavailableError,
    status_of,
)
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.admission import Admission
from polyvox.service.batch_slots import BatchSlots
from polyvox.service.chunk_log import ChunkLog
from polyvox.service.delivery import Delivery
from polyvox.service.dictionaries import Dictionaries
from polyvox.service.keys.accounts import Accounts
from polyvox.service.keys.counters import Level
from polyvox.service.keys.limiter import Allowance, Holder, require
from polyvox.service.keys.record import Scope
from polyvox.service.metrics import Metrics
from polyvox.service.model_fingerprint import ModelFingerprints
from polyvox.service.model_loader import Hold
from polyvox.service.output_budget import OutputBudget
from polyvox.service.pending_bodies import PendingBodies
from polyvox.service.pronunciation import Pronunciation
from polyvox.service.quickest_pace import QuickestPace
from polyvox.service.registry import Registry
from polyvox.service.request_checks import (
    adapted,
    check_numbers,
    check_with,
    delivery_of,
    speak_with_voice,
    with_code_blocks,
)
from polyvox.service.request_kind import CollectsWarnings, RequestKind, SpeakSilence, SpeakText, TakesPronunciation
from polyvox.service.rotated_file import RotatedFile
from polyvox.service.script_reader import MarkupRequest, ScriptReader, ssml_rules
from polyvox.service.session import Session, SessionPlan
from polyvox.service.session_trace import SessionTrace
from polyvox.service.side_work import SideWork
from polyvox.service.slotless import SlotlessTicket
from polyvox.service.speech_cache import CacheUse, SpeechCache, SpeechKey
from polyvox.service.speech_key import speech_key
from polyvox.service.stream_in import SpeakStream
from polyvox.service.text_limits import TextLimits
from polyvox.service.ticket import Job, Ticket
from polyvox.service.timed_engine import timed_engine
from polyvox.service.tracing import Tracer
from polyvox.service.voice_resolver import ResolvedVoice
from polyvox.service.word_timer import WordTimer
from polyvox.text import ssml
from polyvox.text.dictionary import Dictionary
from polyvox.text.warnings import Warnings
from polyvox.types import SPEED_RANGE, AudioChunk, CodeBlocks, Utterance
from polyvox.voices.records import SHARED_OWNER

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_LAST_GRACE_SECONDS = 5.0
_ESTIMATE_ERROR = 1.25
_ANY_TEXT = "a"
"""In place of a text that is not there yet."""

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """A request of a door. `door` is the door's name, for logs and metrics.

    `resolve_voice` looks up a voice that is not the engine's own; it is prepared once the request is admitted. `kind`
    replaces speaking the utterance's text; `resolve_kind` makes it where something has to be looked up. `client` is
    whom the request is counted for, a key or an address. `max_wait` is the longest wait for its turn, in seconds; None
    leaves it to the server. A `whole` answer is sent when all of it is spoken. `request_id` is the caller's own id.
    Nobody waits for the first words of a `background` request, such as an item of a batch; it has its own memory for
    whole answers.
    Dictionaries say how words are pronounced: those in `dictionaries`, those of `dictionary_names`, and the default
    ones of `owner`.
    `markup` says which markup of the text is obeyed. With `words` an engine that has no word timings is given them.
    `owner` is also whose cached speech may answer it, and for whom it is cached; None for nobody's. Without `use_cache`
    it is spoken in any case.
    """

    utterance: Utterance
    model: str | None = None
    sample_rate: int | None = None
    volume: float = 1.0
    loudness: float | None = None
    deadline: float | None = None
    door: str = ""
    resolve_voice: Callable[[], Awaitable[ResolvedVoice | None]] | None = None
    kind: RequestKind | None = None
    resolve_kind: Callable[[], Awaitable[RequestKind]] | None = None
    client: str = ""
    max_wait: float | None = None
    whole: bool = False
    markup: MarkupRequest = field(default_factory=MarkupRequest)
    request_id: str | None = None
    background: bool = False
    words: bool = False
    owner: str | None = None
    use_cache: bool = True
    dictionary_names: tuple[str, ...] = ()
    dictionaries: tuple[Dictionary, ...] = ()


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether requests for the default model can be served, and the reason for each model that is not available.

    `warnings` are about models that work, but not as their settings ask.
    """

    ok: bool
    reasons: dict[str, str]
    warnings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SpeechOutput:
    """What a request's audio will be, known before its text is; `warnings` are of what the model does not obey."""

    model: str
    sample_rate: int
    channels: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Caller:
    """Whom a request is counted for, and how that one stands to its limit of requests."""

    holder: Holder | None
    rate: Level | None


class SpeechService:
    """Admits requests, gives each a session, and counts them."""

    def __init__(self, settings: Settings, registry: Registry, metrics: Metrics, tracer: Tracer | None = None) -> None:
        self.tracer = tracer
        self.settings = settings
        self.registry = registry
        self.metrics = metrics
        self.accounts = Accounts(settings, metrics)
        self.bodies = PendingBodies(settings.max_pending_body_bytes, metrics)
        self._admission = Admission(
            settings.max_sessions,
            settings.max_queue,
            adaptive=settings.adaptive_sessions,
            max_share=settings.max_share,
            on_grant=metrics.waited,
        )
        self._executor = DeviceExecutor("polyvox-audio", min(4, os.cpu_count() or 1))
        self._timer = WordTimer(settings)
        self._timing_executor = DeviceExecutor("polyvox-words", _side_threads())
        self._limits = TextLimits.of(settings)
        self._pace = QuickestPace()
        self._output = OutputBudget(settings.max_buffered_bytes)
        self._background_output = OutputBudget(settings.batch_buffered_bytes)
        metrics.watch_output(lambda: self._output.used + self._background_output.used)
        self.batches = BatchSlots(settings.max_batches)
        self.side_work = SideWork(
            _side_threads(), settings.side_work_queue, settings.side_work_chars, metrics.side_refused
        )
        self.dictionaries = Dictionaries(settings, metrics.slow_patterns)
        self.cache = SpeechCache(settings, metrics)
        self._fingerprints = ModelFingerprints(settings)
        self._chunk_log: ChunkLog | None = None
        self._sessions: set[Session] = set()
        self._refusal = "The server is starting; try again in a moment."
        metrics.watch(
            queue_depth=lambda: self._admission.waiting,
            active=lambda: self._admission.active,
            limit=lambda: self._admission.limit,
            expected_wait=self._admission.expected_wait,
        )
        metrics.watch_side(waiting=lambda: self.side_work.waiting, running=lambda: self.side_work.running)

    @property
    def executor(self) -> DeviceExecutor:
        """Where audio is processed and encoded."""
        return self._executor

    async def start(self) -> None:
        """Load the models. The service is up even if some cannot be loaded; see `ready`."""
        await self.registry.start(self.metrics.batch, self.metrics.model_event)
        self._chunk_log = _chunk_log(self.settings, self.metrics)
        await self.accounts.start()
        self._refusal = ""

    async def close(self) -> None:
        """Refuse new requests, let open sessions finish for `drain_seconds`, cancel the rest, close the engines."""
        self._refusal = "The server is shutting down; send the request to another or later."
        await self._ended(self.settings.drain_seconds)
        for session in list(self._sessions):
            session.cancel(UnavailableError(self._refusal))
        await self._ended(_LAST_GRACE_SECONDS)
        for session in self._sessions:
            log.error("session does not end", session=session.id, engine=session.engine)
        await self.registry.close()
        await self.dictionaries.close()
        await asyncio.to_thread(self._executor.close)
        await asyncio.to_thread(self._timing_executor.close)
        await self.cache.close()
        if self._chunk_log is not None:
            await asyncio.to_thread(self._chunk_log.close)
            self._chunk_log = None
        await asyncio.to_thread(self.side_work.close)
        await self.accounts.close()
        if self.tracer is not None:
            await asyncio.to_thread(self.tracer.close)

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
        """Open a session for the request, now or queued; the typed error when it cannot be accepted.

        The session starts by itself. One that is never read is dropped after `stall_seconds`.
        """
        session_id = uuid4().hex
        if self.tracer is None:
            return await self._try_to_open(request, session_id, None)
        trace = SessionTrace.begin(self.tracer, session_id, request.door)
        with trace.opening():
            return await self._try_to_open(request, session_id, trace)

    async def _try_to_open(self, request: SpeechRequest, session_id: str, trace: SessionTrace | None) -> Session:
        model = "unknown"
        try:
            caller = await self._caller(request)
            model = self.registry.resolve(request.model)
            if request.kind is None and request.resolve_kind is None:
                self._check_text(request, model)
            hold = await self._hold(model)
            try:
                session = await self._resolve_and_open(request, model, session_id, trace, caller)
            except BaseException:
                hold.release()
                raise
            session.task.add_done_callback(lambda _: hold.release())
            return session
        except PolyvoxError as error:
            self.metrics.failed(error)
            _log_refusal(request, model, session_id, error)
            raise
        finally:
            self.metrics.requested(request.door, model)

    async def _caller(self, request: SpeechRequest) -> _Caller:
        """Who asks, held against the limit of requests. A batch or a job is counted as one when it is sent."""
        limiter = self.accounts.limiter
        holder = limiter.holder(request.client)
        if holder is None:
            return _Caller(None, None)
        require(holder.scopes, Scope.SPEAK)
        return _Caller(holder, None if request.background else await limiter.count_request(holder))

    async def count_request(self, client: str) -> None:
        """Hold what will be spoken in the background, such as a batch, against its client's limit of requests."""
        limiter = self.accounts.limiter
        holder = limiter.holder(client)
        if holder is not None:
            require(holder.scopes, Scope.SPEAK)
            await limiter.count_request(holder)

    async def output(self, request: SpeechRequest) -> SpeechOutput:
        """Check all of a request but its text, which may come later; a model that is not loaded yet is loaded."""
        try:
            return await self._checked_output(request)
        except PolyvoxError as error:
            self.metrics.failed(error)
            raise

    async def _checked_output(self, request: SpeechRequest) -> SpeechOutput:
        model, warnings = self.registry.resolve(request.model), Warnings()
        check_numbers(request)
        await self._pronunciation(request)
        with await self._hold(model) as held:
            engine, utterance = held.engine, replace(request.utterance, text=_ANY_TEXT)
            if not utterance.voice:
                utterance = replace(utterance, voice=self.registry.default_voice(model))
            voice = None if request.resolve_voice is None else await request.resolve_voice()
            utterance = adapted(utterance, engine, warnings)
            if voice is None:
                check_with(engine, utterance, SpeakText(_ANY_TEXT, utterance.speed), "")
            elif not voice.native:
                self.registry.check_cloning(engine)
            form = delivery_of(request, engine)
        return SpeechOutput(model, form.sample_rate, form.channels, warnings.sentences)

    async def _resolve_and_open(
        self, request: SpeechRequest, model: str, session_id: str, trace: SessionTrace | None, caller: _Caller
    ) -> Session:
        if request.resolve_kind is not None:
            request = replace(request, kind=await request.resolve_kind())
        warnings = request.kind.warnings if isinstance(request.kind, CollectsWarnings) else Warnings()
        pronunciation = await self._pronunciation(request)
        if request.kind is None:
            request = await self._read_markup(request, model, warnings, pronunciation)
        elif pronunciation is not None and isinstance(request.kind, TakesPronunciation):
            kind = await request.kind.pronounced(pronunciation, self._engine(model), request.utterance)
            request = replace(request, kind=kind)
        if not request.utterance.voice:
            default = replace(request.utterance, voice=self.registry.default_voice(model))
            request = replace(request, utterance=default)
        voice = None if request.resolve_voice is None else await request.resolve_voice()
        return await self._open(request, model, voice, session_id, warnings, trace, caller)

    async def _pronunciation(self, request: SpeechRequest) -> Pronunciation | None:
        """The request's dictionaries; None where it has none."""
        store, owner = self.dictionaries, request.owner or SHARED_OWNER
        lexicon = await store.lexicon(request.dictionary_names, owner, request.dictionaries)
        return None if lexicon is None else Pronunciation(store, lexicon, owner, self.settings.max_input_chars)

    async def phonemize(
        self, text: str, language: str, model: str | None, answer: Callable[[str, list[int]], Answer]
    ) -> Answer:
        """What `answer` makes, on a thread, of the phonemes and token ids of a text."""
        self.side_work.check_text(text, "text")
        if not text.strip():
            raise TextError("The text is empty; send some words.", field="text")
        with await self._hold(model) as held:
            engine = held.engine
            if not isinstance(engine, SupportsPhonemes):
                raise InvalidRequestError(f"The model {engine.name!r} does not work with phonemes.", field="model")
            return await self.side_work.run(lambda: answer(*engine.phonemize(text, language)))

    async def translate_ssml(self, text: str, voice: str | None, model: str | None) -> tuple[str, Warnings]:
        """A text in SSML as one with inline tags, and warnings of what the tags cannot say."""
        self.side_work.check_text(text, "text")
        with await self._hold(model) as held:
            rules, warnings = ssml_rules(held.engine), Warnings()
        try:
            script = await self.side_work.run(lambda: ssml.parse(text, rules, warnings))
        except MarkupError as error:
            error.field = "text"
            raise
        self._limits.check_pauses(script.silence_seconds, "text")
        return script.tagged(voice), warnings

    async def mixed_voice(
        self, expression: str, model: str | None, answer: Callable[[npt.NDArray[np.float32]], Answer]
    ) -> Answer:
        """What `answer` makes, on a thread, of the blend of voices named by a mix expression."""
        with await self._hold(model) as held:
            engine = held.engine
            if not isinstance(engine, SupportsMixing):
                raise InvalidRequestError(f"The voices of model {engine.name!r} cannot be mixed.", field="model")
            return await self.side_work.run(lambda: answer(engine.mixed_voice(expression)))

    async def _read_markup(
        self, request: SpeechRequest, model: str, warnings: Warnings, pronunciation: Pronunciation | None
    ) -> SpeechRequest:
        """The request with the kind that its text's markup and its dictionaries ask for, if there are any."""
        engine = self._engine(model)
        reader = ScriptReader(engine, self.settings, self._limits, self._executor)
        kind = await reader.kind(request.utterance, request.markup, warnings, pronunciation)
        return request if kind is None else replace(request, kind=kind)

    async def _open(
        self,
        request: SpeechRequest,
        model: str,
        voice: ResolvedVoice | None,
        session_id: str,
        warnings: Warnings,
        trace: SessionTrace | None,
        caller: _Caller,
    ) -> Session:
        check_numbers(request)
        engine = self._engine(model)
        choice = CodeBlocks(self.settings.code_blocks)
        utterance = adapted(with_code_blocks(request.utterance, choice), engine, warnings)
        kind = request.kind or SpeakText(utterance.text, request.utterance.speed)
        if voice is None:
            check_with(engine, utterance, kind, session_id)
        else:
            if not voice.native:
                self.registry.check_cloning(engine)
            utterance = replace(utterance, voice=voice.label)
            voice = voice if trace is None else trace.timed(voice)
        delivery = delivery_of(request, engine)
        patient = request.whole or isinstance(kind, SpeakText)
        speaking = self._timed(engine, patient=patient) if request.words else engine
        timing = "" if speaking is engine else f"timed {patient}"
        key = await self._speech_key(request, model, utterance, kind, voice, delivery, timing)
        cached = None if key is None else await self.cache.find(key)
        if cached is not None:
            for sentence in cached.warnings:
                warnings.add(sentence)

        def source() -> AsyncIterator[AudioChunk]:
            if cached is not None:
                return cached.chunks(self._executor)
            if voice is None:
                speech = kind.synthesize(speaking, utterance)
            else:
                speech = speak_with_voice(speaking, utterance, kind, voice, session_id)
            made = delivery.process(speech, self._executor)
            return made if key is None else self.cache.record(key, made, warnings)

        plan = SessionPlan(
            id=session_id,
            door=request.door,
            model=model,
            engine=engine.name,
            voice=utterance.voice,
            chars=lambda: kind.chars,
            sample_rate=delivery.sample_rate,
            channels=delivery.channels,
            warnings=warnings,
            source=source,
            buffer=self.settings.session_buffer,
            deadline=min(self.settings.deadline_seconds, request.deadline or self.settings.deadline_seconds),
            stall=self.settings.stall_seconds,
            max_audio_seconds=kind.max_audio_seconds,
            overhead=0 if voice is None else 1,
            request_id=request.request_id,
            seed=utterance.seed,
            cache=None if key is None else CacheUse(key, None if cached is None else cached.age),
        )
        if trace is not None:
            trace.opened(model=model, engine=engine.name, voice=utterance.voice, seed=utterance.seed)
        budget = self._background_output if request.background else self._output
        output = budget.reservation(self.settings.stall_seconds / 2)
        place = "" if request.background else session_id
        allowance = await self.accounts.limiter.reserve(caller.holder, kind.chars, stream=place, rate=caller.rate)
        ticket = self._admitted(None if cached is not None else self._job(request, kind, model), allowance)
        session = Session(plan, ticket, self.metrics, self._executor, output, allowance, self._chunk_log, trace)
        self._sessions.add(session)
        session.task.add_done_callback(lambda _: self._settle(session))
        if isinstance(kind, SpeakStream):
            kind.on_idle = session.idle
        return session

    def _admitted(self, job: Job | None, allowance: Allowance) -> Ticket | SlotlessTicket:
        """A ticket for a job, or for speech that needs no slot; one that is refused gives back what it was allowed."""
        if job is None:
            return SlotlessTicket()
        try:
            return self._admission.enter(job)
        except PolyvoxError:
            allowance.close()
            raise

    def _timed(self, engine: Engine, *, patient: bool) -> Engine:
        """The engine with word timings, its own or those of the server, as the settings allow."""
        if engine.capabilities.word_timings or self.settings.word_timings == "durations":
            return engine
        return timed_engine(engine, self._timer, self._timing_executor, patient=patient)

    def _job(self, request: SpeechRequest, kind: RequestKind, model: str) -> Job:
        return Job(
            model,
            request.client,
            chars=kind.chars,
            max_wait=self.settings.max_wait_seconds if request.max_wait is None else request.max_wait,
            paced=not isinstance(kind, SpeakStream | SpeakSilence),
            background=request.background,
            capacity=self.registry.pace(model),
        )

    async def _speech_key(
        self,
        request: SpeechRequest,
        model: str,
        utterance: Utterance,
        kind: RequestKind,
        voice: ResolvedVoice | None,
        delivery: Delivery,
        timing: str,
    ) -> SpeechKey | None:
        """What the request's speech is cached by; None where it is not cached."""
        if not self.cache.enabled or request.owner is None or not request.use_cache:
            return None
        engine = self._engine(model)
        return speech_key(
            owner=request.owner,
            settings=self.settings,
            engine=engine,
            fingerprint=await self._fingerprints.of(model, engine),
            utterance=utterance,
            kind=kind,
            voice=voice,
            delivery=delivery,
            timing=timing,
            request=request,
        )

    async def _hold(self, model: str | None) -> Hold:
        """Keep a model loaded for a request."""
        if self._refusal:
            raise UnavailableError(self._refusal)
        return await self.registry.hold(model)

    def _engine(self, model: str) -> Engine:
        """The engine of a model that is held."""
        if self._refusal:
            raise UnavailableError(self._refusal)
        return self.registry.engine(model)

    def _settle(self, session: Session) -> None:
        self._sessions.discard(session)
        if session.cache is None or not session.cache.hit:
            self._pace.observe(session.model, session.audio_seconds, session.busy_seconds)

    def _check_text(self, request: SpeechRequest, model: str) -> None:
        """Refuse a text beyond the limits, and one whose whole answer cannot be ready in time."""
        utterance, deadline = request.utterance, self.settings.deadline_seconds
        speed = utterance.speed if utterance.speed in SPEED_RANGE else 1.0
        seconds = self._limits.check(utterance.text, speed)
        needed = self._pace.needed(model, seconds)
        if request.whole and needed > deadline * _ESTIMATE_ERROR:
            raise TextError(
                f"The text takes about {seconds / 60:,.0f} minutes to speak, and this server at least {needed:,.0f} s "
                f"to make them; a request may take {deadline:g} s. Ask for a stream, or send the text in parts.",
                field="input",
            )

    async def _ended(self, seconds: float) -> None:
        """Wait for the open sessions, at most `seconds`."""
        if self._sessions:
            await asyncio.wait([session.task for session in self._sessions], timeout=seconds)


def _log_refusal(request: SpeechRequest, model: str, session_id: str, error: PolyvoxError) -> None:
    details: dict[str, object] = {"session": session_id, "door": request.door, "model": model, "field": error.field}
    if isinstance(error, OverloadedError):
        details |= {"reason": str(error.reason), "retry_after": round(error.retry_after, 1)}
    log.info("refused", error=status_of(error).code, **details)


def _chunk_log(settings: Settings, metrics: Metrics) -> ChunkLog | None:
    if settings.chunk_log is None:
        return None
    file = RotatedFile(settings.chunk_log, settings.chunk_log_bytes, settings.chunk_log_keep)
    return ChunkLog(file, metrics.chunk_record_lost)


def _side_threads() -> int:
    """Few: what they compute is worth less than speech."""
    return 2 if (os.cpu_count() or 1) >= 8 else 1
