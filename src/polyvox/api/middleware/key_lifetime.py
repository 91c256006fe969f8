"""KeyLifetime: requests and WebSockets live no longer than the key that they came with."""

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from polyvox.api.errors import StreamAbortedError
from polyvox.api.refusals import Refusal, Refusals, close_message
from polyvox.errors import AuthenticationError
from polyvox.service.keys.open_calls import OpenCalls
from polyvox.voices.records import SHARED_OWNER


class KeyLifetime:
    """Middleware that cuts off what is still open when its key was revoked, so that the client sees it.

    An answer that has not begun is 401, one that has begun is broken off, and a WebSocket is closed with the reason.
    """

    def __init__(self, app: ASGIApp, calls: OpenCalls, refusals: Refusals) -> None:
        self._app = app
        self._calls = calls
        self._refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        owner = SHARED_OWNER
        if scope["type"] in ("http", "websocket"):
            owner = getattr(HTTPConnection(scope).state, "owner", SHARED_OWNER)
        if owner == SHARED_OWNER:
            await self._app(scope, receive, send)
            return
        last: Message = {"type": ""}

        async def watched(message: Message) -> None:
            nonlocal last
            last = message
            await send(message)

        try:
            async with self._calls.lasting(owner):
                await self._app(scope, receive, watched)
        except AuthenticationError as error:
            await self._cut(error, last, scope, receive, send)

    async def _cut(self, error: AuthenticationError, last: Message, scope: Scope, receive: Receive, send: Send) -> None:
        if not last["type"]:
            await self._refusals.send(error, scope, receive, send)
        elif last["type"] in ("websocket.accept", "websocket.send"):
            await send(close_message(Refusal.of(error)))
        elif last["type"].startswith("http") and (last["type"] == "http.response.start" or last.get("more_body")):
            raise StreamAbortedError(error.message) from error
