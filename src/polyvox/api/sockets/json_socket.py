"""A WebSocket that carries JSON objects."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, TypeVar

import structlog
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from polyvox.api.answer_headers import socket_headers
from polyvox.errors import InvalidRequestError

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

Data = TypeVar("Data", str, bytes)

_INLINE_CHARS = 65_536
"""Messages up to this size are parsed on the event loop."""
_STALLED = 1008
"""Close code for a client that does not read: a policy of the server, by RFC 6455."""


class MessageError(InvalidRequestError):
    """A message that is not a JSON object."""


class JsonSocket:
    """One client's socket: messages in, messages out one at a time.

    A client that takes nothing for `stall_seconds` is dropped: `send` raises `WebSocketDisconnect` then, and for every
    client that has gone.
    """

    def __init__(self, socket: WebSocket, stall_seconds: float) -> None:
        self._socket = socket
        self._stall_seconds = stall_seconds
        self._sending = asyncio.Lock()
        self._reader: asyncio.Task[Any] | None = None
        self._dropped = False

    async def accept(self, subprotocol: str | None = None) -> None:
        await self._socket.accept(subprotocol, socket_headers(self._socket))

    async def messages(self, refuse: Callable[[MessageError], Awaitable[None]]) -> AsyncGenerator[dict[str, Any], None]:
        """The client's messages until it leaves; `refuse` answers those that are no JSON objects."""
        while (message := await self._received()) is not None:
            try:
                parsed = await _object(message)
            except MessageError as error:
                await refuse(error)
            else:
                yield parsed

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send an object as ASCII: a client's half of a surrogate pair, which an error may repeat, is no UTF-8."""
        await self._send(self._socket.send_text, json.dumps(message, separators=(",", ":")))

    async def send_bytes(self, data: bytes) -> None:
        await self._send(self._socket.send_bytes, data)

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """End the socket, unless it has ended."""
        async with self._sending:
            if self._is_open:
                await self._socket.close(code, reason)

    @property
    def _is_open(self) -> bool:
        connected = WebSocketState.CONNECTED
        states = (self._socket.application_state, self._socket.client_state)
        return not self._dropped and states == (connected, connected)

    async def _received(self) -> str | bytes | None:
        if self._dropped or self._socket.application_state is not WebSocketState.CONNECTED:
            return None
        self._reader = asyncio.current_task()
        try:
            message = await self._socket.receive()
        except asyncio.CancelledError:
            if self._dropped and self._reader is not None and not self._reader.uncancel():
                return None
            raise
        finally:
            self._reader = None
        if message["type"] == "websocket.disconnect":
            return None
        text: str | None = message.get("text")
        return message.get("bytes") or b"" if text is None else text

    async def _send(self, send: Callable[[Data], Awaitable[None]], data: Data) -> None:
        async with self._sending:
            if not self._is_open:
                raise WebSocketDisconnect
            try:
                async with asyncio.timeout(self._stall_seconds):
                    await send(data)
            except TimeoutError:
                self._drop()
                raise WebSocketDisconnect(_STALLED) from None
            except RuntimeError as error:  # of a server that has closed the connection by itself
                raise WebSocketDisconnect from error

    def _drop(self) -> None:
        """Give up a client that does not read: it would not read a close either, so that the messages just end."""
        log.info("socket dropped", reason="the client does not read", seconds=self._stall_seconds)
        self._dropped = True
        if self._reader is not None:
            self._reader.cancel()


async def _object(message: str | bytes) -> dict[str, Any]:
    if isinstance(message, bytes):
        raise MessageError("Send messages as text: one JSON object each.")
    parsed = _parsed(message) if len(message) <= _INLINE_CHARS else await asyncio.to_thread(_parsed, message)
    if not isinstance(parsed, dict):
        raise MessageError("A message must be a JSON object.")
    return parsed


def _parsed(message: str) -> Any:  # noqa: ANN401 - whatever the client sent
    try:
        return json.loads(message)
    except (ValueError, RecursionError):
        raise MessageError("The message is no JSON that can be read.") from None
