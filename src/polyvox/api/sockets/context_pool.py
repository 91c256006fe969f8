"""The contexts of one socket."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import structlog
from starlette.websockets import WebSocketDisconnect

from polyvox.errors import OverloadedError, PolyvoxError
from polyvox.service.contexts.speech_context import SpeechContext

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_RETRY_SECONDS = 1.0

Deliver = Callable[[SpeechContext], Awaitable[None]]
Fail = Callable[[PolyvoxError], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Entry:
    context: SpeechContext
    task: "asyncio.Task[None]"


class ContextPool:
    """Runs the delivery of each context in a task of its own; leaving the block cancels what is left.

    What goes wrong with one context is told to its client by `failed`, and the others go on.
    """

    def __init__(self, max_contexts: int) -> None:
        self._max_contexts = max_contexts
        self._entries: dict[str, _Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, context_id: str) -> SpeechContext | None:
        entry = self._entries.get(context_id)
        return None if entry is None else entry.context

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._entries)

    def open(
        self,
        context_id: str,
        context: SpeechContext,
        deliver: Deliver,
        failed: Fail,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """Deliver the context's events until it ends; `OverloadedError` above the most that a socket may have.

        `ended` is called when the context has left the pool, in whatever way.
        """
        if len(self._entries) >= self._max_contexts:
            raise OverloadedError(
                f"This connection has {self._max_contexts} contexts open; end some, or open another connection.",
                retry_after=_RETRY_SECONDS,
            )
        if context_id in self._entries:
            raise RuntimeError(f"the context {context_id!r} is open already")
        task = asyncio.create_task(_run(context, deliver, failed), name=f"context {context_id}")
        entry = self._entries[context_id] = _Entry(context, task)
        task.add_done_callback(lambda _: self._forget(context_id, entry, ended))

    async def cancel(self, context_id: str) -> bool:
        """Stop a context and wait until nothing of it is left; False where there is none of that id."""
        entry = self._entries.get(context_id)
        if entry is None:
            return False
        await _stopped(entry)
        return True

    async def close(self) -> None:
        """Stop all contexts and wait for them."""
        tasks = [entry.task for entry in self._entries.values()]
        for task in tasks:  # before any waiting, in which whoever closes may be cancelled
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def finished(self) -> None:
        """Wait until every context has been delivered."""
        while self._entries:
            await asyncio.wait([entry.task for entry in self._entries.values()])
            await asyncio.sleep(0)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _forget(self, context_id: str, entry: _Entry, ended: Callable[[], None]) -> None:
        if self._entries.get(context_id) is entry:
            del self._entries[context_id]
        ended()


async def _run(context: SpeechContext, deliver: Deliver, failed: Fail) -> None:
    try:
        async with context:
            try:
                await deliver(context)
            except PolyvoxError as error:
                await failed(error)
    except WebSocketDisconnect:
        log.debug("client left", session=context.session_id)
    except Exception:
        log.exception("context failed", session=context.session_id)
        await _told(failed, PolyvoxError("The server failed; its log has the cause."))


async def _told(failed: Fail, error: PolyvoxError) -> None:
    try:
        await failed(error)
    except WebSocketDisconnect:
        log.debug("client left before it could be told of an error")


async def _stopped(entry: _Entry) -> None:
    await entry.context.cancel()
    entry.task.cancel()
    await asyncio.wait([entry.task])
