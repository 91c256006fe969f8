"""One request from its ticket to its last chunk."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextvars import copy_context
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Self

import structlog
from structlog.contextvars import bind_contextvars, unbind_contextvars

from polyvox.errors import DeadlineError, EngineError, PolyvoxError, StalledError, TextError, status_of
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.admission import Ticket
from polyvox.service.buffer import ChunkBuffer
from polyvox.service.delivery import closing
from polyvox.service.metrics import Metrics
from polyvox.types import AudioChunk

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class SessionState(StrEnum):
    """Where a session stands."""

    QUEUED = "queued"
    PREPARING = "preparing"
    SPEAKING = "speaking"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def is_final(self) -> bool:
        return not _NEXT[self]

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


@dataclass(frozen=True, slots=True)
class Plan:
    """What a session is to do, settled before it starts."""

    id: str
    door: str
    model: str
    engine: str
    voice: str
    chars: int
    sample_rate: int
    channels: int
    warnings: tuple[str, ...]
    source: Callable[[], AsyncIterator[AudioChunk]]
    buffer: int
    deadline: float
    stall: float
    max_audio_seconds: float


@dataclass(slots=True)
class _Account:
    """What a session has made so far, and what it took."""

    opened: float
    chunks: int = 0
    audio_seconds: float = 0.0
    busy_seconds: float = 0.0
    first_audio_seconds: float | None = None

    @property
    def real_time_factor(self) -> float | None:
        return self.busy_seconds / self.audio_seconds if self.audio_seconds else None


class Session:
    """One request's audio, chunk by chunk: `async with session: async for chunk in session: ...`.

    Its own task makes the audio, at most `session_buffer` chunks ahead of the reader. Leaving the block cancels what is
    left, and returns when the engine has let go of everything and the place among the active is free.
    """

    def __init__(self, plan: Plan, ticket: Ticket, metrics: Metrics, executor: DeviceExecutor) -> None:
        self.executor = executor
        self._plan = plan
        self._ticket = ticket
        self._metrics = metrics
        self._buffer = ChunkBuffer(plan.buffer)
        self._state = SessionState.QUEUED
        self._account = _Account(opened=self._now())
        self._all_made = False
        self._cancelled = False
        self._reason: PolyvoxError | None = None
        context = copy_context()
        context.run(bind_contextvars, session=plan.id)
        self._task = asyncio.create_task(self._own(), name=f"session {plan.id}", context=context)
        # Not a `finally` of the task: a task that is cancelled before its first step runs none of its code.
        self._task.add_done_callback(self._settle, context=context)

    @property
    def id(self) -> str:
        return self._plan.id

    @property
    def sample_rate(self) -> int:
        return self._plan.sample_rate

    @property
    def channels(self) -> int:
        return self._plan.channels

    @property
    def engine(self) -> str:
        return self._plan.engine

    @property
    def model(self) -> str:
        return self._plan.model

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._plan.warnings

    @property
    def max_audio_seconds(self) -> float:
        """More audio than the text can be worth; whoever collects all of it stops here."""
        return self._plan.max_audio_seconds

    @property
    def state(self) -> SessionState:
        return self._state

    def cancel(self, reason: PolyvoxError | None = None) -> None:
        """Stop making audio. The reader's loop ends at once, by raising `reason` where one is given."""
        everything_was_read = self._all_made and not len(self._buffer)
        if self._cancelled or everything_was_read or self._task.done():
            return
        self._cancelled = True
        self._reason = reason
        self._buffer.finish(reason, discard=True)
        self._task.cancel()

    @property
    def task(self) -> "asyncio.Task[None]":
        """The task that owns the session; when it is done, everything the session held is free."""
        return self._task

    async def __aenter__(self) -> Self:
        bind_contextvars(session=self.id)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.cancel()
            await asyncio.wait([self._task])
        finally:
            unbind_contextvars("session")

    def __aiter__(self) -> AsyncIterator[AudioChunk]:
        return self

    async def __anext__(self) -> AudioChunk:
        chunk = await self._buffer.get()
        if chunk is None:
            raise StopAsyncIteration
        return chunk

    async def _own(self) -> None:
        limit = asyncio.timeout_at(self._account.opened + self._plan.deadline)
        try:
            async with limit:
                await self._ticket.granted()
                self._state = self._state.moved_to(SessionState.PREPARING)
                await self._make()
                await self._buffer.emptied(self._plan.stall)
        except TimeoutError:
            if limit.expired():
                raise self._deadline_error() from None
            raise

    async def _make(self) -> None:
        source = self._plan.source()
        async with closing(source):
            while True:
                await self._buffer.room(self._plan.stall)
                began = self._now()
                chunk = await anext(source, None)
                self._account.busy_seconds += self._now() - began
                self._check_time()
                if chunk is None:
                    break
                self._hand_over(chunk)
        if not self._account.chunks:
            raise TextError("Nothing in the text can be spoken; send words.", field="input")
        self._all_made = True

    def _check_time(self) -> None:
        """Hold to a cancellation or a deadline even if the engine caught the exception that told it."""
        if self._cancelled:
            raise asyncio.CancelledError
        if self._now() >= self._account.opened + self._plan.deadline:
            raise self._deadline_error()

    def _hand_over(self, chunk: AudioChunk) -> None:
        account = self._account
        account.chunks += 1
        account.audio_seconds += chunk.duration
        if account.first_audio_seconds is None:
            self._state = self._state.moved_to(SessionState.SPEAKING)
            account.first_audio_seconds = self._now() - account.opened
            self._metrics.first_audio(self.model, account.first_audio_seconds)
        self._metrics.chunk(self.model, chunk)
        self._buffer.put(chunk)
        log.debug(
            "chunk",
            index=chunk.index,
            samples=(chunk.start, chunk.end),
            tokens=None if chunk.tokens is None else (chunk.tokens.start, chunk.tokens.end),
            wall_seconds=round(chunk.wall_seconds, 4),
            device_seconds=round(chunk.device_seconds, 4),
        )

    def _settle(self, task: "asyncio.Task[None]") -> None:
        """The task is over, and with it the engine's generator: free the place, tell the reader, keep the account."""
        failure = None if task.cancelled() else task.exception()
        error = self._reason if task.cancelled() else self._typed(failure)
        self._ticket.release()
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
        account = self._account
        factor = account.real_time_factor
        if self._state is SessionState.FAILED and error is not None:
            self._metrics.failed(error)
        self._metrics.ended(self.model, self._state, self._now() - account.opened, factor)
        log.info(
            "session",
            state=str(self._state),
            error=None if error is None else status_of(error).code,
            door=self._plan.door,
            model=self.model,
            voice=self._plan.voice,
            chars=self._plan.chars,
            chunks=account.chunks,
            audio_seconds=round(account.audio_seconds, 3),
            ttfa_ms=None if account.first_audio_seconds is None else round(account.first_audio_seconds * 1000, 1),
            rtf=None if factor is None else round(factor, 4),
            seconds=round(self._now() - account.opened, 3),
        )

    def _deadline_error(self) -> DeadlineError:
        return DeadlineError(
            f"The request took longer than its {self._plan.deadline:g} s; send less text or allow more time."
        )

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
