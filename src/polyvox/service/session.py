"""One request from admission to its last chunk."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextvars import copy_context
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Self

import structlog
from structlog.contextvars import bind_contextvars, unbind_contextvars

from polyvox.audio.encode import NO_TAGS, AudioFormat, Tags
from polyvox.errors import DeadlineError, EngineError, PolyvoxError, SilentTextError, StalledError, status_of
from polyvox.provenance.manifest import AudioLayout
from polyvox.provenance.marks import Marks
from polyvox.provenance.notary import Notary, Seal
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.admission.output_budget import OutputReservation
from polyvox.service.admission.ticket import SessionTicket
from polyvox.service.buffer import ChunkBuffer
from polyvox.service.cache.speech_cache import CacheUse, SpeechCache
from polyvox.service.chunk_summary import ChunkSummary
from polyvox.service.delivery import closing
from polyvox.service.keys.limiter import QuotaLease
from polyvox.service.playback import Playback
from polyvox.service.session_plan import SessionPlan
from polyvox.service.session_trace import SessionTrace
from polyvox.service.telemetry.chunk_log import ChunkLog
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.telemetry.tracing import enter_origin
from polyvox.types import AudioChunk

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class SessionState(StrEnum):
    """State of a session."""

    QUEUED = "queued"
    PREPARING = "preparing"
    SPEAKING = "speaking"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"

    def moved_to(self, state: "SessionState") -> "SessionState":
        """The next state, if it may follow this one."""
        if state not in _NEXT[self]:
            raise RuntimeError(f"a session cannot go from {self} to {state}")
        return state


_ENDED_EARLY = frozenset({SessionState.CANCELLED, SessionState.FAILED})
_NEXT: Mapping[SessionState, frozenset[SessionState]] = {
    SessionState.QUEUED: _ENDED_EARLY | {SessionState.PREPARING},
    SessionState.PREPARING: _ENDED_EARLY | {SessionState.SPEAKING},
    SessionState.SPEAKING: _ENDED_EARLY | {SessionState.DONE},
    SessionState.DONE: frozenset(),
    SessionState.CANCELLED: frozenset(),
    SessionState.FAILED: frozenset(),
}


@dataclass(slots=True)
class _Progress:
    """Audio produced so far, and the time it took."""

    opened: float
    chunks: int = 0
    audio_seconds: float = 0.0
    busy_seconds: float = 0.0
    idle_seconds: float = 0.0
    first_audio_seconds: float | None = None

    @property
    def real_time_factor(self) -> float | None:
        return self.busy_seconds / self.audio_seconds if self.audio_seconds else None


class Session:
    """One request's audio, chunk by chunk: `async with session: async for chunk in session: ...`.

    Its own task produces the audio, at most `session_buffer` chunks ahead of the reader. Leaving the block cancels the
    rest, and returns when the engine has freed everything and the slot is free.
    """

    def __init__(
        self,
        plan: SessionPlan,
        ticket: SessionTicket,
        quota_lease: QuotaLease,
        output: OutputReservation,
        *,
        metrics: Metrics,
        executor: DeviceExecutor,
        cache: SpeechCache,
        notary: Notary,
        chunk_log: ChunkLog | None = None,
        trace: SessionTrace | None = None,
    ) -> None:
        self.quota_lease = quota_lease
        """Use of its key or address, held against their limits."""
        self.output = output
        self.executor = executor
        self._plan = plan
        self._ticket = ticket
        self._metrics = metrics
        self._cache = cache
        self._notary = notary
        self._chunk_log = chunk_log
        self.trace = trace
        """Its spans; None where nothing is traced."""
        self.chunks = ChunkSummary()
        """Ranges of the chunks so far."""
        self._buffer = ChunkBuffer(plan.buffer)
        ticket.on_drop = self._drop
        self._state = SessionState.QUEUED
        self._progress = _Progress(opened=self._now())
        self._playback = Playback()
        self._limit = asyncio.timeout_at(self._deadline)
        self._idle_since = 0.0
        self._all_produced = False
        self._cancelled = False
        self._reason: PolyvoxError | None = None
        context = copy_context()
        context.run(bind_contextvars, session=plan.id, **({} if trace is None else trace.ids))
        if trace is not None:
            context.run(enter_origin, trace.origin)
        self._task = asyncio.create_task(self._run(), name=f"session {plan.id}", context=context)
        # Not a `finally` of the task: a task that is cancelled before its first step runs none of its code.
        self._task.add_done_callback(self._settle, context=context)

    @property
    def id(self) -> str:
        return self._plan.id

    @property
    def voice(self) -> str:
        """The name of the voice that speaks what has no other."""
        return self._plan.utterance.voice

    @property
    def sample_rate(self) -> int:
        return self._plan.delivery.sample_rate

    @property
    def channels(self) -> int:
        return self._plan.delivery.channels

    @property
    def engine(self) -> str:
        return self._plan.engine.name

    @property
    def model(self) -> str:
        return self._plan.model

    @property
    def warnings(self) -> tuple[str, ...]:
        """All so far; a text that is still arriving may add to them."""
        return self._plan.warnings.sentences

    @property
    def cache(self) -> CacheUse | None:
        """Its entry in the cache of speech; None for speech that is not cached."""
        return self._plan.cache_use

    @property
    def marks(self) -> Marks | None:
        """The statement of its origin; None where the server marks nothing."""
        return self._plan.marks

    @property
    def is_signed(self) -> bool:
        """True if its answer has a manifest."""
        return self._notary.signs

    def tags(self, format: AudioFormat) -> Tags:  # noqa: A002
        """The marks as tags of a file in that format; none in a WAV file that keeps the plain header."""
        marks = self._plan.marks
        return NO_TAGS if marks is None or (self._plan.bare_wav and format is AudioFormat.WAV) else marks.tags

    def seal(self, format: str) -> Seal:  # noqa: A002
        """The seal of its answer in that format, to be closed when the answer ends."""
        layout = AudioLayout(str(format), self.sample_rate, self.channels)
        return Seal(self._notary, self._notary.draft(self._plan.marks, self.voice, layout))

    @property
    def max_audio_seconds(self) -> float:
        """Upper bound for the audio of this request; a caller that collects all of it stops here."""
        return self._plan.kind.max_audio_seconds

    @property
    def audio_seconds(self) -> float:
        """Seconds of audio produced so far."""
        return self._progress.audio_seconds

    @property
    def busy_seconds(self) -> float:
        """Seconds that the engine took for them."""
        return self._progress.busy_seconds

    @property
    def seconds_ahead(self) -> float:
        """Seconds for which its listener will play what was made, also when all of it is."""
        return self._ticket.seconds_ahead

    @property
    def state(self) -> SessionState:
        return self._state

    def cancel(self, reason: PolyvoxError | None = None) -> None:
        """Stop producing audio. The reader's loop ends at once, by raising `reason` where one is given."""
        everything_was_read = self._all_produced and not len(self._buffer)
        if self._cancelled or everything_was_read or self._task.done():
            return
        self._cancelled = True
        self._reason = reason
        self._buffer.finish(reason, discard=True)
        self._task.cancel()

    def idle(self) -> None:
        """Leave the slot to others, and stop the clock, while the engine waits for text of the caller."""
        if not self._is_over:
            self._idle_since = self._now()
            self._ticket.idle()
            self._limit.reschedule(None)

    async def text_came(self) -> None:
        """Go on; a stream that nobody has heard yet waits for its turn to begin."""
        if not self._is_over:
            await self._ticket.text_came()
            self._progress.idle_seconds += self._now() - self._idle_since
            self._limit.reschedule(self._deadline)

    @property
    def _is_over(self) -> bool:
        return self._cancelled or self._task.done()

    @property
    def _deadline(self) -> float:
        """Time at which the request has lived too long; time without text is not counted."""
        return self._progress.opened + self._plan.deadline + self._progress.idle_seconds

    @property
    def task(self) -> "asyncio.Task[None]":
        """The task that owns the session; when it is done, everything the session held is free."""
        return self._task

    async def __aenter__(self) -> Self:
        bind_contextvars(session=self.id, **({} if self.trace is None else self.trace.own_ids))
        if self.trace is not None:
            self.trace.entered()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.cancel()
            await asyncio.wait([self._task])
        finally:
            self.output.release()
            unbind_contextvars("session")
            if self.trace is not None:
                unbind_contextvars(*self.trace.own_ids)
                self.trace.left()

    def __aiter__(self) -> AsyncIterator[AudioChunk]:
        return self

    async def __anext__(self) -> AudioChunk:
        chunk = await self._buffer.get()
        if chunk is None:
            raise StopAsyncIteration
        self._ticket.read()
        self.quota_lease.sent(chunk.duration)
        return chunk

    def _drop(self) -> None:
        """Make room for a request that waits."""
        self.cancel(StalledError("The client read no audio while others waited, so its session was dropped; read on."))

    async def _run(self) -> None:
        try:
            async with self._limit:
                await self._ticket.granted()
                if self.trace is not None:
                    self.trace.granted()
                self._state = self._state.moved_to(SessionState.PREPARING)
                await self._produce()
                self._ticket.finish()
                await self._buffer.emptied(self._plan.stall)
        except TimeoutError:
            if self._limit.expired():
                raise self._deadline_error() from None
            raise

    async def _produce(self) -> None:
        source = self._plan.chunks(self._cache, self.executor)
        async with closing(source):
            while True:
                await self._room()
                await self._ticket.turn()
                began, asked = self._working_time(), time.time_ns()
                chunk = await anext(source, None)
                seconds = self._working_time() - began
                self._progress.busy_seconds += seconds
                self._check_time()
                if chunk is None:
                    break
                tells_pace = self._progress.chunks >= self._plan.overhead and len(chunk.pcm) > 0
                self._ticket.produced(chunk.duration, seconds if tells_pace else None)
                if self.trace is not None:
                    self.trace.made(chunk, asked)
                self._emit(chunk)
        if not self._progress.chunks:
            raise SilentTextError("Nothing in the text can be spoken; send words.", field="input")
        self._all_produced = True

    async def _room(self) -> None:
        """Wait until the reader has room for one more chunk, and leave the slot to others meanwhile."""
        if self._buffer.is_full:
            self._ticket.pause()
            began = self._working_time()
            await self._buffer.room(self._plan.stall)
            self._playback.pause(self._working_time() - began)
            self._ticket.resume()

    def _check_time(self) -> None:
        """Enforce a cancellation or a deadline even if the engine swallowed its exception."""
        if self._cancelled:
            raise asyncio.CancelledError
        if self._now() >= self._deadline:
            raise self._deadline_error()

    def _emit(self, chunk: AudioChunk) -> None:
        progress = self._progress
        progress.chunks += 1
        progress.audio_seconds += chunk.duration
        if progress.first_audio_seconds is None:
            self._state = self._state.moved_to(SessionState.SPEAKING)
            progress.first_audio_seconds = self._working_time() - progress.opened
            if not self._plan.from_cache:
                self._metrics.first_audio(self.model, progress.first_audio_seconds)
        if not self._plan.from_cache:  # no audio was made
            self._metrics.chunk(self.model, chunk)
            if self._playback.add(self._working_time(), chunk.duration) and self._is_heard:
                self._metrics.underrun(self.model)
        self.chunks.add(chunk)
        if self._chunk_log is not None:
            self._chunk_log.add(self._plan.log_fields, chunk)
        self._buffer.put(chunk)
        log.debug(
            "chunk",
            index=chunk.index,
            samples=(chunk.start, chunk.end),
            tokens=None if chunk.tokens is None else (chunk.tokens.start, chunk.tokens.end),
            wall_seconds=round(chunk.wall_seconds, 4),
            device_seconds=round(chunk.device_seconds, 4),
        )

    @property
    def _is_heard(self) -> bool:
        """True if somebody may listen while it is made: nobody does so to a background request."""
        return not (self._plan.from_cache or self._plan.call.background)

    def _settle(self, task: "asyncio.Task[None]") -> None:
        """The task is over, and with it the engine's generator: free the slot, end the reader's stream, report."""
        failure = None if task.cancelled() else task.exception()
        error = self._reason if task.cancelled() else self._typed(failure)
        self._ticket.release()
        self.quota_lease.close(self._plan.kind.chars)
        if task.cancelled():
            self._state = self._state.moved_to(SessionState.CANCELLED)
        else:
            self._state = self._state.moved_to(SessionState.DONE if error is None else SessionState.FAILED)
        out_of_time = isinstance(error, DeadlineError | StalledError)
        self._buffer.finish(error, discard=task.cancelled() or out_of_time)
        self._report(error)

    def _typed(self, failure: BaseException | None) -> PolyvoxError | None:
        if failure is None or isinstance(failure, PolyvoxError):
            return failure
        log.error("engine failed", engine=self.engine, exc_info=failure)
        return EngineError(f"The engine {self.engine!r} failed; the server's log has the cause under {self.id}.")

    def _report(self, error: PolyvoxError | None) -> None:
        progress = self._progress
        factor = None if self._plan.from_cache else progress.real_time_factor
        if self._state is SessionState.FAILED and error is not None:
            self._metrics.failed(error)
        self._metrics.ended(self.model, self._state, self._now() - progress.opened, factor)
        code = None if error is None else status_of(error).code
        self._end_trace(code)
        log.info(
            "session",
            state=str(self._state),
            error=code,
            door=self._plan.door,
            model=self.model,
            voice=self._plan.utterance.voice,
            chars=self._plan.kind.chars,
            chunks=progress.chunks,
            cache=None if self.cache is None else "hit" if self.cache.hit else "miss",
            audio_seconds=round(progress.audio_seconds, 3),
            ttfa_ms=None if progress.first_audio_seconds is None else round(progress.first_audio_seconds * 1000, 1),
            rtf=None if factor is None else round(factor, 4),
            seconds=round(self._now() - progress.opened, 3),
        )

    def _end_trace(self, error: str | None) -> None:
        if self.trace is None:
            return
        progress, cache = self._progress, self.cache
        attributes: dict[str, str | int | float | bool] = {
            "polyvox.state": str(self._state),
            "polyvox.input.chars": self._plan.kind.chars,
            "polyvox.chunks": progress.chunks,
            "polyvox.audio_seconds": round(progress.audio_seconds, 3),
        }
        if progress.first_audio_seconds is not None:
            attributes["polyvox.first_audio_seconds"] = round(progress.first_audio_seconds, 6)
        if cache is not None:
            attributes["polyvox.cache.hit"] = cache.hit
        self.trace.settled(attributes, error)

    def _deadline_error(self) -> DeadlineError:
        return DeadlineError(
            f"The request took longer than its {self._plan.deadline:g} s; send less text or allow more time."
        )

    def _working_time(self) -> float:
        """A clock that stands while the engine waits for text."""
        return self._now() - self._progress.idle_seconds

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
