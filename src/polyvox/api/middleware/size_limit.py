"""The limit on what a client may send at once: an HTTP body, or one WebSocket message."""

from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from polyvox.api.paths import PathTable
from polyvox.api.refusals import Refusal, Refusals, close_message
from polyvox.config import Settings
from polyvox.errors import RequestTooLargeError


def largest_message(settings: Settings) -> int:
    """The limit, in bytes, of a body or message that may hold a recording, which takes a third more in base64."""
    return settings.max_body_bytes + settings.prompt_max_bytes * 4 // 3


class SizeLimit:
    """Middleware that refuses an HTTP body over its limit, and closes a WebSocket on a message over it.

    A body is refused by its announced length, or as soon as the count passes the limit. `larger` are path patterns with
    limits of their own. The HTTP server has its own limit for messages, since it buffers each of them.
    """

    def __init__(self, app: ASGIApp, limit: int, larger: Iterable[tuple[str, int]], refusals: Refusals) -> None:
        self._app = app
        self._limits = PathTable(larger, default=limit)
        self._refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            guard = _MessageGuard(receive, send, self._limits[scope["path"]])
            await self._app(scope, guard.receive, guard.send)
        else:
            await self._app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit = self._limits[scope["path"]]
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdecimal() and int(announced) > limit:
            await self._refusals.send(_too_large("body", limit), scope, receive, send)
            return
        count = 0

        async def counted() -> Message:
            nonlocal count
            message = await receive()
            count += len(message.get("body", b""))
            if count > limit:
                raise _too_large("body", limit)
            return message

        await self._app(scope, counted, send)


class _MessageGuard:
    """One WebSocket as the application sees it: after a message over the limit it is disconnected."""

    def __init__(self, receive: Receive, send: Send, limit: int) -> None:
        self._receive = receive
        self._send = send
        self._limit = limit
        self._closed: Message | None = None

    async def receive(self) -> Message:
        if self._closed is None:
            message = await self._receive()
            if message["type"] != "websocket.receive" or _size(message, self._limit) <= self._limit:
                return message
            self._closed = close_message(Refusal.of(_too_large("message", self._limit)))
            await self._send(self._closed)
        return {"type": "websocket.disconnect", "code": self._closed["code"], "reason": self._closed["reason"]}

    async def send(self, message: Message) -> None:
        if self._closed is None:
            await self._send(message)
        elif message["type"] != "websocket.close":
            raise OSError("The WebSocket was closed after a message over the limit.")


def _size(message: Message, limit: int) -> int:
    data, text = message.get("bytes"), message.get("text")
    if data is not None:
        return len(data)
    if text is None or len(text) > limit:
        return len(text or "")
    return len(text.encode(errors="surrogatepass"))


def _too_large(what: str, limit: int) -> RequestTooLargeError:
    return RequestTooLargeError(f"The {what} is over the limit of {limit} bytes; send less at a time.")
