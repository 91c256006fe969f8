"""The speech service: every door opens its sessions here."""

import asyncio
import os
from uuid import uuid4

import structlog

from polyvox.config import Settings
from polyvox.errors import OverloadedError, PolyvoxError, UnavailableError, status_of
from polyvox.provenance.notary import Notary
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.admission.admission_request import AdmissionRequest
from polyvox.service.admission.batch_slots import BatchSlots
from polyvox.service.admission.pending_bodies import PendingBodies
from polyvox.service.admission.side_work import SideWork
from polyvox.service.admission.slotless import SlotlessTicket
from polyvox.service.admission.ticket import SessionTicket
from polyvox.service.cache.speech_cache import SpeechCache
from polyvox.service.call_context import CallContext
from polyvox.service.common_parts import CommonParts
from polyvox.service.keys.access import require
from polyvox.service.keys.client_names import owner_in
from polyvox.service.keys.counters import Level
from polyvox.service.keys.limiter import Holder
from polyvox.service.keys.operations import Operation
from polyvox.service.listening.service import ListeningService
from polyvox.service.open_sessions import OpenSessions
from polyvox.service.pronunciation.dictionaries import Dictionaries
from polyvox.service.registry.model_loader import Hold
from polyvox.service.registry.registry import ModelInfo, Readiness, Registry, Unloaded
from polyvox.service.session import Session
from polyvox.service.session_plan import SessionPlan
from polyvox.service.session_planner import SessionPlanner
from polyvox.service.session_trace import SessionTrace
from polyvox.service.side_requests import SideRequests
from polyvox.service.speech_request import SpeechOutput, SpeechRequest
from polyvox.service.telemetry.metrics import UNKNOWN_MODEL, Metrics
from polyvox.service.telemetry.tracing import RequestTracer
from polyvox.service.text_limits import TextLimits

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_RETRY_SECONDS = 5.0
"""The time after which to ask again a server that starts or stops."""


class SpeechService:
    """Admits requests, gives each a session, and counts them.

    `common` is given where the server has several processes.
    """

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        metrics: Metrics,
        tracer: RequestTracer | None = None,
        notary: Notary | None = None,
        common: CommonParts | None = None,
    ) -> None:
        common = CommonParts.of(settings, metrics) if common is None else common
        self.accounts, self.fingerprints = common.accounts, common.fingerprints
        self.open_counts, self._admission = common.open_counts, common.admission
        self.tracer = tracer
        self.notary = Notary.of(settings) if notary is None else notary
        self.settings = settings
        self.registry = registry
        self.metrics = metrics
        self.bodies = PendingBodies(settings.max_pending_body_bytes, metrics)
        self.batches = BatchSlots(settings.max_batches)
        self.dictionaries = Dictionaries(settings, self.accounts.access, metrics.slow_patterns)
        self.cache = SpeechCache(settings, metrics)
        self.executor = DeviceExecutor("polyvox-audio", min(4, os.cpu_count() or 1))
        """Threads on which audio is processed and encoded."""
        limits, threads = TextLimits.of(settings), _side_threads()
        work = SideWork(threads, settings.side_work_queue, settings.side_work_chars, metrics.side_refused)
        self.side_requests = SideRequests(self._hold, work, limits, self.accounts.access)
        self.listening = ListeningService(settings, self.accounts, metrics)
        self._planner = SessionPlanner(
            settings,
            registry,
            limits,
            self._admission.least_seconds,
            self.dictionaries,
            self.cache,
            self.fingerprints,
            self.executor,
            self.notary,
            timing_threads=threads,
        )
        self._sessions = OpenSessions(settings, metrics, self.executor, self.cache, self.notary)
        self._refusal = "The server is starting; try again in a moment."
        self._warming: asyncio.Task[None] | None = None
        metrics.watch(
            queue_depth=lambda: self._admission.waiting,
            active=lambda: self._admission.active,
            limit=lambda: self._admission.limit,
            expected_wait=self._admission.expected_wait,
        )
        metrics.watch_side(waiting=lambda: work.waiting, running=lambda: work.running)

    async def start(self) -> None:
        """Load the models. The service is up even if some cannot be loaded; see `ready`."""
        await self.registry.start(self.metrics.batch, self.metrics.model_event)
        self._sessions.start()
        await self.accounts.start()
        self._refusal = ""

    def warm_up(self) -> None:
        """Load in the background what first callers would wait for; the service is not ready until then."""
        self._warming = asyncio.create_task(self._warm_up())

    async def _warm_up(self) -> None:
        try:
            await self.registry.warm_up()
        except Exception:  # it costs the first caller time, and nothing else
            log.exception("languages not loaded ahead")

    async def close(self) -> None:
        """Refuse new requests, let open sessions finish for `drain_seconds`, cancel the rest, close the engines."""
        self._refusal = "The server is shutting down; send the request to another or later."
        if self._warming is not None:
            self._warming.cancel()
        await self._sessions.drain(UnavailableError(self._refusal))
        await self.registry.close()
        await self.dictionaries.close()
        await asyncio.to_thread(self.executor.close)
        await asyncio.to_thread(self._planner.close)
        await self.cache.close()
        await self._sessions.close()
        await asyncio.to_thread(self.side_requests.work.close)
        await self.listening.close()
        await self.accounts.close()
        if self.tracer is not None:
            await asyncio.to_thread(self.tracer.close)

    @property
    def ready(self) -> Readiness:
        """Readiness to speak, with the reasons against it."""
        models = self.registry.models()
        reasons = {model.id: model.reason for model in models if not model.available} | self.registry.obstacles()
        default = self.settings.default_model
        if self._refusal:
            reasons = {"server": self._refusal, **reasons}
        elif self._warming is not None and not self._warming.done():
            reasons = {default: "The dictionaries of its languages are loading; try again in a moment."} | reasons
        ok = not self._refusal and default not in reasons
        return Readiness(ok=ok, reasons=reasons, warnings=self.registry.warnings())

    async def open(self, request: SpeechRequest, call: CallContext, *, whole: bool = False) -> Session:
        """Open a session for the request, now or queued; the typed error when it cannot be accepted.

        The session starts by itself. One that is never read is dropped after `stall_seconds`. A `whole` answer is sent
        when all of it is spoken.
        """
        session_id = uuid4().hex
        if self.tracer is None:
            return await self._try_to_open(request, call, session_id, None, whole=whole)
        trace = SessionTrace.begin(self.tracer, session_id, request.door)
        with trace.opening():
            return await self._try_to_open(request, call, session_id, trace, whole=whole)

    async def _try_to_open(
        self, request: SpeechRequest, call: CallContext, session_id: str, trace: SessionTrace | None, *, whole: bool
    ) -> Session:
        model = UNKNOWN_MODEL
        try:
            holder, rate = await self._counted(call)
            model = self.registry.resolve(request.model)
            self._planner.check_text(request, model, whole=whole)
            hold = await self._hold(model)
            try:
                plan = await self._planner.plan(request, call, session_id, model, hold.engine, whole=whole)
                session = await self._admitted(plan, holder, rate, trace)
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

    async def _counted(self, call: CallContext) -> tuple[Holder | None, Level | None]:
        """The holder that a call is counted for, held against its limit of requests.

        A batch or a job is counted as one when it is sent.
        """
        limiter = self.accounts.limiter
        holder = limiter.holder(call.client)
        if holder is None:
            return None, None
        require(holder.scopes, Operation.SPEAK)
        return holder, None if call.background else await limiter.count_request(holder)

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

    async def output(self, request: SpeechRequest, call: CallContext) -> SpeechOutput:
        """Check all of a request but its text, which may come later; a model that is not loaded yet is loaded."""
        try:
            model = self.registry.resolve(request.model)
            await self._planner.check(request, call)
            with await self._hold(model) as held:
                return await self._planner.output(request, model, held.engine)
        except PolyvoxError as error:
            self.metrics.failed(error)
            raise

    async def _admitted(
        self, plan: SessionPlan, holder: Holder | None, rate: Level | None, trace: SessionTrace | None
    ) -> Session:
        """A session with its place in the queue, if it needs one, within the caller's limits."""
        if trace is not None:
            trace.opened(plan)
        stream = "" if plan.call.background else plan.id
        charged = holder if plan.call.charged else None
        quota_lease = await self.accounts.limiter.reserve(charged, plan.kind.chars, stream=stream, rate=rate)
        try:
            self._check_running()
            ticket = await self._admit(plan) if plan.needs_slot else SlotlessTicket()
        except BaseException:
            quota_lease.close()
            raise
        session = self._sessions.open(plan, ticket, quota_lease, trace)
        if plan.needs_slot:
            session.task.add_done_callback(
                lambda _: self._admission.completed(plan.model, session.audio_seconds, session.busy_seconds)
            )
        self._end_with_key(session, owner_in(plan.call.client))
        return session

    def _end_with_key(self, session: Session, owner: str | None) -> None:
        if owner:
            calls, end = self.accounts.calls, session.cancel
            calls.add(owner, end)
            session.task.add_done_callback(lambda _: calls.remove(owner, end))

    async def _admit(self, plan: SessionPlan) -> SessionTicket:
        """The plan's ticket: a place in the queue, or a slot."""
        call = plan.call
        asked = AdmissionRequest(
            plan.model,
            call.client,
            plan.kind.chars,
            self.settings.max_wait_seconds if call.max_wait is None else call.max_wait,
            paced=plan.paced,
            background=call.background,
            continues=call.continues,
        )
        return await self._admission.admit(asked, self.registry.pace(plan.model))

    async def _hold(self, model: str | None) -> Hold:
        """Keep a model loaded for a request."""
        self._check_running()
        return await self.registry.hold(model)

    def _check_running(self) -> None:
        if self._refusal:
            raise UnavailableError(self._refusal, retry=True, retry_after=_RETRY_SECONDS)


def _log_refusal(request: SpeechRequest, model: str, session_id: str, error: PolyvoxError) -> None:
    details: dict[str, object] = {"session": session_id, "door": request.door, "model": model, "field": error.field}
    if isinstance(error, OverloadedError):
        details |= {"reason": str(error.reason), "retry_after": round(error.retry_after, 1)}
    log.info("refused", error=status_of(error).code, **details)


def _side_threads() -> int:
    """Few: what they compute is worth less than speech."""
    return 2 if (os.cpu_count() or 1) >= 8 else 1
