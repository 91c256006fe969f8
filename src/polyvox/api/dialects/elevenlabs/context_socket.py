"""The common part of the sockets with contexts: the contexts, how they end, and how errors are sent."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import aclosing, suppress
from functools import partial
from typing import Any, ClassVar

from starlette.websockets import WebSocketDisconnect

from polyvox.api.dialects.elevenlabs.arriving import until_idle
from polyvox.api.dialects.elevenlabs.audio_messages import AudioMessages
from polyvox.api.dialects.elevenlabs.errors import socket_error
from polyvox.api.dialects.elevenlabs.socket_caller import SocketCaller
from polyvox.api.sockets.context_pool import ContextPool
from polyvox.api.sockets.json_socket import JsonSocket
from polyvox.errors import InvalidRequestError, PolyvoxError
from polyvox.service.contexts.speech_context import SpeechContext

_DEFAULT_ID = "default"
_MAX_ID_CHARS = 200
_CLOSING_SECONDS = 1.5
"""Time for which contexts may go on after a client asked to close: some wait two seconds for that."""


class ContextSocket(ABC):
    """One socket with many contexts. A message that cannot be obeyed is answered, and the contexts go on."""

    id_field: ClassVar[str]
    """Name of a context's id in messages to the client."""
    final_field: ClassVar[str]
    """Name of the flag of a context's last message."""

    def __init__(self, socket: JsonSocket, caller: SocketCaller) -> None:
        self.socket = socket
        self.caller = caller
        self.pool = ContextPool(caller.service.settings.max_contexts_per_connection)
        self._stopping: set[asyncio.Task[None]] = set()

    @abstractmethod
    async def obey(self, context_id: str, message: Mapping[str, Any]) -> None:
        """Do what a message asks of its context, but for closing it."""

    async def run(self) -> None:
        """Serve the client until it leaves, asks to close, or is idle for too long."""
        async with self.pool, aclosing(self.socket.messages(self._refuse)) as messages:
            arriving = until_idle(messages, self.caller.idle_seconds, lambda: len(self.pool) > 0)
            async with aclosing(arriving):
                async for message in arriving:
                    if message.get("close_socket") is True:
                        await self._finish()
                        break
                    await self._answer(message)
        if self._stopping:
            await asyncio.wait(self._stopping)
        await self.socket.close()

    def open(self, context_id: str, context: SpeechContext, messages: AudioMessages) -> None:
        """Deliver a context until it ends, and say so then."""
        self.pool.open(
            context_id, context, partial(self._deliver, context_id, messages), partial(self._failed, context_id)
        )

    @staticmethod
    def flush(context: SpeechContext, message: Mapping[str, Any]) -> None:
        """Speak what a context has, if a message asks for that; one that is closed does so anyway."""
        if message.get("flush") is True and not context.is_ended:
            context.flush()

    async def _answer(self, message: Mapping[str, Any]) -> None:
        context_id: str | None = None
        try:
            context_id = _id_of(message)
            if message.get("close_context") is not True:
                await self.obey(context_id, message)
            else:
                self._close_context(context_id)
        except PolyvoxError as error:
            await self._refuse(error, context_id)

    def _close_context(self, context_id: str) -> None:
        """End a context, all of whose text is still spoken: clients close it so at the end of a turn.

        They do the same to interrupt one, so that only a second close is certainly an interruption.
        """
        context = self.pool.get(context_id)
        if context is not None and context.is_ended:
            task = asyncio.create_task(self._stop(context_id))
            self._stopping.add(task)
            task.add_done_callback(self._stopping.discard)
        elif context is not None:
            context.end()

    async def _stop(self, context_id: str) -> None:
        """Cancel a context; the reader does not wait, since a slow engine stops only after its chunk."""
        with suppress(WebSocketDisconnect):
            if await self.pool.cancel(context_id):
                await self._send_final(context_id)

    async def _deliver(self, context_id: str, messages: AudioMessages, context: SpeechContext) -> None:
        await messages.deliver(context)
        await self._send_final(context_id)

    async def _failed(self, context_id: str, error: PolyvoxError) -> None:
        await self._refuse(error, context_id)
        await self._send_final(context_id)

    async def _refuse(self, error: PolyvoxError, context_id: str | None = None) -> None:
        about = {} if context_id is None else {self.id_field: context_id}
        await self.socket.send(socket_error(error) | about)

    async def _send_final(self, context_id: str) -> None:
        await self.socket.send({self.final_field: True, self.id_field: context_id})

    async def _finish(self) -> None:
        """Let contexts end what they have to say, as far as there is time."""
        for context_id in self.pool.ids:
            if (context := self.pool.get(context_id)) is not None:
                context.end()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING_SECONDS):
                await self.pool.finished()


def _id_of(message: Mapping[str, Any]) -> str:
    given = message.get("context_id", message.get("contextId"))
    if given is None:
        return _DEFAULT_ID
    if not isinstance(given, str) or not 0 < len(given) <= _MAX_ID_CHARS:
        raise InvalidRequestError(
            f"'context_id' must be a string of up to {_MAX_ID_CHARS} characters.", field="context_id"
        )
    return given
