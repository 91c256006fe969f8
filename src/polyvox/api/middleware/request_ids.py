"""An id on every answer, by which a client and the log speak of the same request."""

import re
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

REQUEST_ID_HEADER = "x-request-id"

_ACCEPTABLE = re.compile(r"[\x21-\x7e]{1,128}")
_ANSWERS = frozenset({"http.response.start", "websocket.accept", "websocket.http.response.start"})


class RequestIds:
    """Middleware that puts `x-request-id` on every answer and into the log.

    A caller's own id is kept where it is printable ASCII of at most 128 characters; else the request gets one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        request_id = _id_of(scope)

        async def named(message: Message) -> None:
            if message["type"] in _ANSWERS:
                headers = MutableHeaders(raw=list(message.get("headers", ())))
                headers[REQUEST_ID_HEADER] = request_id
                message = {**message, "headers": headers.raw}
            await send(message)

        with bound_contextvars(request_id=request_id):
            await self._app(scope, receive, named)


def given_request_id(header: str | None) -> str | None:
    """The id that a caller gave the request, where it is acceptable."""
    return header if header is not None and _ACCEPTABLE.fullmatch(header) else None


def _id_of(scope: Scope) -> str:
    return given_request_id(Headers(scope=scope).get(REQUEST_ID_HEADER)) or uuid4().hex
