"""One client's socket: what each of its messages does."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any

from starlette.websockets import WebSocketDisconnect

from polyvox.api.dialects.realtime import events
from polyvox.api.dialects.realtime.caller import Caller
from polyvox.api.dialects.realtime.delivery import ContextDelivery
from polyvox.api.dialects.realtime.held_text import HeldText
from polyvox.api.dialects.realtime.messages import (
    FIELD_NAMES,
    Cancel,
    End,
    Flush,
    FlushId,
    Message,
    Ping,
    Start,
    TextFragment,
    given_context,
    parsed_message,
)
from polyvox.api.sockets.context_pool import ContextPool
from polyvox.api.sockets.json_socket import JsonSocket
from polyvox.api.sockets.message_loop import MessageLoop
from polyvox.errors import ConflictError, NotFoundError, PolyvoxError
from polyvox.service.contexts.speech_context import SpeechContext
from polyvox.service.speech import SpeechService


class RealtimeConnection:
    """Reads messages until the client leaves. A message that cannot be obeyed is answered and changes nothing."""

    def __init__(self, socket: JsonSocket, service: SpeechService, caller: Caller, held_text: HeldText) -> None:
        self._socket = socket
        self._service = service
        self._caller = caller
        self._held_text = held_text
        self._pool = ContextPool(service.settings.max_contexts_per_connection)
        self._messages = MessageLoop(
            socket,
            self._answer,
            self._refuse,
            idle_seconds=service.settings.socket_idle_seconds,
            is_busy=lambda: len(self._pool) > 0,
        )
        self._deliveries: dict[str, ContextDelivery] = {}
        self._cancelling: dict[str, asyncio.Task[None]] = {}
        self._numbers = count()
        self._tasks = asyncio.TaskGroup()

    async def run(self) -> None:
        """Serve the client until it leaves, or is idle for too long."""
        async with self._pool, self._tasks:
            await self._messages.run()

    async def _answer(self, values: Mapping[str, Any]) -> None:
        context = given_context(values)
        try:
            await self._obey(parsed_message(values))
        except PolyvoxError as error:
            error.field = FIELD_NAMES.get(error.field or "", error.field)
            ended = context is not None and self._pool.get(context) is None
            await self._socket.send(events.error(error, context, ended=ended))

    async def _refuse(self, error: PolyvoxError) -> None:
        """Answer what is no JSON object."""
        await self._socket.send(events.error(error, None, ended=False))

    async def _obey(self, message: Message) -> None:
        match message:
            case Start():
                await self._start(message)
            case Ping():
                await self._pong(message)
            case Cancel():
                await self._cancel(message.context)
            case TextFragment():
                self._push(message)
            case Flush():
                self._flush(message.context, message.id)
            case End():
                self._open_context(message.context).end()

    async def _start(self, message: Start) -> None:
        if (cancelling := self._cancelling.get(message.context)) is not None:
            await asyncio.wait([cancelling])
        if self._pool.get(message.context) is not None:
            raise ConflictError(
                f"The context '{message.context}' is open; end or cancel it first, or use another name.",
                field="context",
            )
        request = await self._caller.request(message)
        context = SpeechContext(self._service, request, self._caller.call_for(message), message.options)
        delivery = ContextDelivery(
            self._socket,
            self._caller,
            request,
            message,
            next(self._numbers),
            partial(self._held_text.flushed, message.context),
        )
        with self._held_text.context(message):
            self._pool.open(
                message.context, context, delivery.run, delivery.fail, partial(self._forget, message.context)
            )
        self._deliveries[message.context] = delivery

    async def _pong(self, message: Ping) -> None:
        """Answer; the contexts of a client that pings are waited for."""
        for name in self._pool.ids:
            if (context := self._pool.get(name)) is not None:
                context.touch()
        await self._socket.send(events.pong(message.id))

    async def _cancel(self, name: str) -> None:
        """Stop a context; one that has ended meanwhile is none the less cancelled."""
        if self._pool.get(name) is None:
            await self._socket.send(events.cancelled(name, samples=0, chunks=0))
        elif name not in self._cancelling:
            delivery = self._deliveries[name]
            delivery.mute()
            # Not awaited: a slow engine stops after its chunk, and meanwhile there are messages for other contexts.
            self._cancelling[name] = self._tasks.create_task(self._stop(name, delivery))

    async def _stop(self, name: str, delivery: ContextDelivery) -> None:
        try:
            await self._pool.cancel(name)
            with suppress(WebSocketDisconnect):
                await delivery.confirm_cancel()
        finally:
            del self._cancelling[name]

    def _push(self, message: TextFragment) -> None:
        context = self._open_context(message.context)
        with self._held_text.text(message.context, message.text):
            context.push(message.text)
        if message.flush:
            self._flush(message.context, None)

    def _flush(self, name: str, flush_id: FlushId | None) -> None:
        context = self._open_context(name)
        with self._held_text.flush(name):
            self._deliveries[name].note_flush(context.flush(), flush_id)

    def _open_context(self, name: str) -> SpeechContext:
        context = self._pool.get(name)
        if context is None:
            raise NotFoundError(f"There is no open context '{name}'; send a start for it first.", field="context")
        return context

    def _forget(self, name: str) -> None:
        """A context has left the pool."""
        self._deliveries.pop(name, None)
        self._held_text.forget(name)
        self._messages.touch()
