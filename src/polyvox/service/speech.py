"""The speech service: every door opens its sessions here."""

import asyncio
import os
from dataclasses import dataclass, replace
from functools import partial
from uuid import uuid4

import structlog

from polyvox.config import Settings
from polyvox.engines.base import Engine
from polyvox.errors import (
    OverloadedError,
    PolyvoxError,
    TextError,
    UnavailableError,
    status_of,
)
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.admission.batch_slots import BatchSlots
from polyvox.service.admission.controller import AdmissionController
from polyvox.service.admission.output_budget import OutputBudget
from polyvox.service.admission.pending_bodies import PendingBodies
from polyvox.service.admission.queue import Job
from polyvox.service.admission.side_work import SideWork
from polyvox.service.admission.slotless import SlotlessTicket
from polyvox.service.admission.ticket import Ticket
from polyvox.service.cache.model_fingerprint import ModelFingerprints
from polyvox.service.cache.speech_cache import SpeechCache, SpeechKey
from polyvox.service.cache.speech_key import speech_key
from polyvox.service.delivery import Delivery
from polyvox.service.keys.access import require
from polyvox.service.keys.accounts import Accounts
from polyvox.service.keys.client_names import owner_in
from polyvox.service.keys.counters import Level
from polyvox.service.keys.limiter import Allowance, Holder
from polyvox.service.keys.operations import Operation
from polyvox.service.kinds.request_kind import (
    CollectsWarnings,
    RequestKind,
    SpeakSilence,
    SpeakText,
    TakesPronunciation,
)
from polyvox.service.kinds.script_reader import ScriptReader
from polyvox.service.kinds.stream_in import SpeakStream
from polyvox.service.pronunciation.dictionaries import Dictionaries
from polyvox.service.pronunciation.pronunciation import Pronunciation
from polyvox.service.registry.model_loader import Hold
from polyvox.service.registry.registry import ModelInfo, Readiness, Registry, Unloaded
from polyvox.service.request_checks import (
    adapted,
    check_numbers,
    check_with,
    delivery_of,
    with_code_blocks,
)
from polyvox.service.session import Session, SessionPlan
from polyvox.service.session_trace import SessionTrace
from polyvox.service.side_requests import SideRequests
from polyvox.service.speech_request import SpeechOutput, SpeechRequest
from polyvox.service.speech_source import SpeechSource
from polyvox.service.telemetry.chunk_log import ChunkLog
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.telemetry.rotated_file import RotatedFile
from polyvox.service.telemetry.tracing import Tracer
from polyvox.service.text_limits import TextLimits
from polyvox.service.voices.voice_resolver import ResolvedVoice
from polyvox.service.words.timed_engine import timed_engine
from polyvox.service.words.word_timer import WordTimer
from polyvox.text.warnings import Warnings
from polyvox.types import SPEED_RANGE, CodeBlocks, Utterance
from polyvox.voices.records import SHARED_OWNER

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_LAST_GRACE_SECONDS = 5.0
_ESTIMATE_ERROR = 1.25
_ANY_TEXT = "a"
"""In place of a text that is not there yet."""


@dataclass(frozen=True, slots=True)
class _Caller:
    """Whom a request is counted for, and how that one stands to its limit of requests."""

    holder: Holder | None
    rate: Level | None


@dataclass(frozen=True, slots=True)
class _Opening:
    """A session that is about to be there."""

    session_id: str
    model: str
    caller: _Caller
    trace: SessionTrace | None


class SpeechService:
    """Admits requests, gives each a session, and counts them."""

    def __init__(self, settings: Settings, registry: Registry, metrics: Metrics, tracer: Tracer | None = None) -> None:
        self.tracer = tracer
        self.settings = settings
        self.registry = registry
        self.metrics = metrics
        self.accounts = Accounts(settings, metrics)
        self.bodies = PendingBodies(settings.max_pending_body_bytes, metrics)
        self._admission = AdmissionController(
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
        self._output = OutputBudget(settings.max_buffered_bytes)
        self._background_output = OutputBudget(settings.batch_buffered_bytes)
        metrics.watch_output(lambda: self._output.used + self._background_output.used)
        self.batches = BatchSlots(settings.max_batches)
        self.side_work = SideWork(
            _side_threads(), settings.side_work_queue, settings.side_work_chars, metrics.side_refused
        )
        self.side_requests = SideRequests(self._hold, self.side_work, self._limits, self.accounts.access)
        self.dictionaries = Dictionaries(settings, self.accounts.access, metrics.slow_patterns)
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
                session = await self._open(request, _Opening(session_id, model, caller, trace))
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
        require(holder.scopes, Operation.SPEAK)
        return _Caller(holder, None if request.background else await limiter.count_request(holder))

    async def count_request(self, client: str) -> None:
        """Hold what will be spoken in the background, such as a batch, against its client's limit of requests."""
        limiter = self.accounts.limiter
        holder = limiter.holder(client)
        if holder is not None:
            require(holder.scopes, Operation.SPEAK)
            await limiter.count_request(holder)

    async def unload(self, model: str | None, owner: str) -> Unloaded:
        """Unload a model, or all but the default one."""
        self.accounts.access.require(Operation.CHANGE_MODELS, owner)
        return await self.registry.unload(model)

    async def reload(self, model: str | None, owner: str) -> ModelInfo:
        """Load a model anew from its files, the default one unless named."""
        self.accounts.access.require(Operation.CHANGE_MODELS, owner)
        return await self.registry.reload(model)

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

    async def _open(self, request: SpeechRequest, opening: _Opening) -> Session:
        request, warnings = await self._resolved(request, opening.model)
        voice = None if request.resolve_voice is None else await request.resolve_voice()
        source = await self._source(request, voice, warnings, opening)
        plan, trace = self._plan(request, source, opening), opening.trace
        if trace is not None:
            trace.opened(model=plan.model, engine=plan.engine, voice=plan.voice, seed=plan.seed)
        budget = self._background_output if request.background else self._output
        output = budget.reservation(self.settings.stall_seconds / 2)
        ticket, allowance = await self._admitted(request, source, opening)
        session = Session(plan, ticket, self.metrics, self._executor, output, allowance, self._chunk_log, trace)
        self._sessions.add(session)
        session.task.add_done_callback(lambda _: self._settle(session))
        self._end_with_key(session, owner_in(request.client))
        if isinstance(source.kind, SpeakStream):
            source.kind.on_idle = session.idle
        return session

    async def _resolved(self, request: SpeechRequest, model: str) -> tuple[SpeechRequest, Warnings]:
        """The request with its kind and its voice's name looked up, and warnings of what is not obeyed."""
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
        return request, warnings

    async def _source(
        self, request: SpeechRequest, voice: ResolvedVoice | None, warnings: Warnings, opening: _Opening
    ) -> SpeechSource:
        """The request's speech, checked against its model, from the cache where it is there."""
        check_numbers(request)
        engine = self._engine(opening.model)
        choice = CodeBlocks(self.settings.code_blocks)
        utterance = adapted(with_code_blocks(request.utterance, choice), engine, warnings)
        kind = request.kind or SpeakText(utterance.text, request.utterance.speed)
        if voice is None:
            check_with(engine, utterance, kind, opening.session_id)
        else:
            if not voice.native:
                self.registry.check_cloning(engine)
            utterance = replace(utterance, voice=voice.label)
            voice = voice if opening.trace is None else opening.trace.timed(voice)
        delivery = delivery_of(request, engine)
        patient = request.whole or isinstance(kind, SpeakText)
        speaking = self._timed(engine, patient=patient) if request.words else engine
        timing = "" if speaking is engine else f"timed {patient}"
        key = await self._speech_key(request, opening.model, utterance, kind, voice, delivery, timing)
        cached = None if key is None else await self.cache.find(key)
        if cached is not None:
            for sentence in cached.warnings:
                warnings.add(sentence)
        return SpeechSource(opening.session_id, speaking, utterance, kind, voice, delivery, warnings, key, cached)

    def _plan(self, request: SpeechRequest, source: SpeechSource, opening: _Opening) -> SessionPlan:
        return SessionPlan(
            id=opening.session_id,
            door=request.door,
            model=opening.model,
            engine=self._engine(opening.model).name,
            voice=source.utterance.voice,
            chars=lambda: source.kind.chars,
            sample_rate=source.delivery.sample_rate,
            channels=source.delivery.channels,
            warnings=source.warnings,
            source=partial(source.chunks, self.cache, self._executor),
            buffer=self.settings.session_buffer,
            deadline=min(self.settings.deadline_seconds, request.deadline or self.settings.deadline_seconds),
            stall=self.settings.stall_seconds,
            max_audio_seconds=source.kind.max_audio_seconds,
            overhead=0 if source.voice is None else 1,
            request_id=request.request_id,
            seed=source.utterance.seed,
            cache=source.cache_use,
        )

    async def _admitted(
        self, request: SpeechRequest, source: SpeechSource, opening: _Opening
    ) -> tuple[Ticket | SlotlessTicket, Allowance]:
        """A ticket, which cached speech needs no slot for, and what the caller's limits allow."""
        stream, caller = "" if request.background else opening.session_id, opening.caller
        allowance = await self.accounts.limiter.reserve(
            caller.holder, source.kind.chars, stream=stream, rate=caller.rate
        )
        if source.cached is not None:
            return SlotlessTicket(), allowance
        try:
            return self._admission.enter(self._job(request, source.kind, opening.model)), allowance
        except PolyvoxError:
            allowance.close()
            raise

    async def _pronunciation(self, request: SpeechRequest) -> Pronunciation | None:
        """The request's dictionaries; None where it has none."""
        store, owner = self.dictionaries, request.owner or SHARED_OWNER
        lexicon = await store.lexicon(request.dictionary_names, owner, request.dictionaries)
        return None if lexicon is None else Pronunciation(store, lexicon, owner, self.settings.max_input_chars)

    async def _read_markup(
        self, request: SpeechRequest, model: str, warnings: Warnings, pronunciation: Pronunciation | None
    ) -> SpeechRequest:
        """The request with the kind that its text's markup and its dictionaries ask for, if there are any."""
        engine = self._engine(model)
        reader = ScriptReader(engine, self.settings, self._limits, self._executor)
        kind = await reader.kind(request.utterance, request.markup, warnings, pronunciation)
        return request if kind is None else replace(request, kind=kind)

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

    def _end_with_key(self, session: Session, owner: str | None) -> None:
        if owner:
            calls, end = self.accounts.calls, session.cancel
            calls.add(owner, end)
            session.task.add_done_callback(lambda _: calls.remove(owner, end))

    def _settle(self, session: Session) -> None:
        self._sessions.discard(session)
        if session.cache is None or not session.cache.hit:
            self._admission.completed(session.model, session.audio_seconds, session.busy_seconds)

    def _check_text(self, request: SpeechRequest, model: str) -> None:
        """Refuse a text beyond the limits, and one whose whole answer cannot be ready in time."""
        utterance, deadline = request.utterance, self.settings.deadline_seconds
        speed = utterance.speed if utterance.speed in SPEED_RANGE else 1.0
        seconds = self._limits.check(utterance.text, speed)
        needed = self._admission.least_seconds(model, seconds)
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
