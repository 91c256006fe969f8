"""The open sessions of a service, and the end of them."""

import asyncio
from dataclasses import replace

import structlog

from polyvox.config import Settings
from polyvox.errors import PolyvoxError
from polyvox.provenance.notary import Notary
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.admission.output_budget import OutputBudget
from polyvox.service.admission.ticket import SessionTicket
from polyvox.service.cache.speech_cache import SpeechCache
from polyvox.service.keys.limiter import QuotaLease
from polyvox.service.kinds.stream_in import SpeakStream
from polyvox.service.session import Session
from polyvox.service.session_plan import SessionPlan
from polyvox.service.session_trace import SessionTrace
from polyvox.service.telemetry.chunk_log import ChunkLog
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.telemetry.rotated_file import RotatedFile

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_LAST_GRACE_SECONDS = 5.0


class OpenSessions:
    """Makes sessions of plans, with what all of them share: threads, memory for whole answers, the log of chunks."""

    def __init__(
        self, settings: Settings, metrics: Metrics, executor: DeviceExecutor, cache: SpeechCache, notary: Notary
    ) -> None:
        self._settings = settings
        self._metrics = metrics
        self._executor = executor
        self._cache = cache
        self._notary = notary
        self._output = OutputBudget(settings.max_buffered_bytes)
        self._background_output = OutputBudget(settings.batch_buffered_bytes)
        metrics.watch_output(lambda: self._output.used + self._background_output.used)
        self._chunk_log: ChunkLog | None = None
        self._sessions: set[Session] = set()

    def start(self) -> None:
        """Open the log of chunks, where the settings name one."""
        settings = self._settings
        if settings.chunk_log is not None:
            file = RotatedFile(settings.chunk_log, settings.chunk_log_bytes, settings.chunk_log_keep)
            self._chunk_log = ChunkLog(file, self._metrics.chunk_record_lost)

    def open(
        self,
        plan: SessionPlan,
        ticket: SessionTicket,
        quota_lease: QuotaLease,
        trace: SessionTrace | None,
    ) -> Session:
        """A session that starts by itself, and is forgotten when it has ended."""
        if trace is not None and plan.voice is not None:
            plan = replace(plan, voice=trace.timed(plan.voice))
        budget = self._background_output if plan.call.background else self._output
        session = Session(
            plan,
            ticket,
            quota_lease,
            budget.reservation(self._settings.stall_seconds / 2),
            metrics=self._metrics,
            executor=self._executor,
            cache=self._cache,
            notary=self._notary,
            chunk_log=self._chunk_log,
            trace=trace,
        )
        self._sessions.add(session)
        session.task.add_done_callback(lambda _: self._sessions.discard(session))
        if isinstance(plan.kind, SpeakStream):
            plan.kind.on_idle, plan.kind.on_text = session.idle, session.text_came
        return session

    def __len__(self) -> int:
        return len(self._sessions)

    async def drain(self, reason: PolyvoxError) -> None:
        """Let all of them finish for `drain_seconds`, then cancel the rest."""
        await self._ended(self._settings.drain_seconds)
        for session in list(self._sessions):
            session.cancel(reason)
        await self._ended(_LAST_GRACE_SECONDS)
        for session in self._sessions:
            log.error("session does not end", session=session.id, engine=session.engine)

    async def close(self) -> None:
        """Write the last of the log of chunks."""
        if self._chunk_log is not None:
            await asyncio.to_thread(self._chunk_log.close)
            self._chunk_log = None

    async def _ended(self, seconds: float) -> None:
        """Wait for the open sessions, at most `seconds`."""
        if self._sessions:
            await asyncio.wait([session.task for session in self._sessions], timeout=seconds)
