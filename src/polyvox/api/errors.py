"""Errors on their way to a client: exception handlers, and a reference for unexpected ones."""

import secrets
from http import HTTPStatus

import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError, WebSocketRequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from polyvox.api.complaints import invalid_request
from polyvox.api.paths import asked_path
from polyvox.api.refusals import Refusal, Refusals, can_deny, close_message
from polyvox.api.speech_refusals import SpeechRefusals
from polyvox.errors import NotFoundError, PolyvoxError, status_of

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class StreamAbortedError(Exception):
    """Raised to the HTTP server so that it cuts the connection: a truncated body must not look complete."""


def install_handlers(app: FastAPI, refusals: Refusals, counts: SpeechRefusals) -> None:
    """Answer every error of the app, FastAPI's and Starlette's own included, in the wording of its path."""
    handlers = _Handlers(refusals, counts)
    app.add_exception_handler(PolyvoxError, handlers.on_polyvox_error)
    app.add_exception_handler(RequestValidationError, handlers.on_validation_error)
    app.add_exception_handler(WebSocketRequestValidationError, handlers.on_validation_error)
    app.add_exception_handler(HTTPException, handlers.on_http_exception)
    not_found = app.router.default

    async def default(scope: Scope, receive: Receive, send: Send) -> None:
        """Starlette closes a WebSocket to an unknown path without a word."""
        if scope["type"] == "websocket":
            error = NotFoundError(_nothing_at(asked_path(scope)))
            await refusals.send(error, scope, receive, send)
        else:
            await not_found(scope, receive, send)

    app.router.default = default


class UnexpectedErrors:
    """Middleware that turns a defect into a 500, or a closed WebSocket, whose reference is in the log.

    An HTTP response that has begun cannot be taken back: then the exception goes on to the server, which cuts the
    connection.
    """

    def __init__(self, app: ASGIApp, refusals: Refusals) -> None:
        self._app = app
        self._refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        last = ""

        async def watched(message: Message) -> None:
            nonlocal last
            last = message["type"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except (ClientDisconnect, WebSocketDisconnect):
            log.debug("client left before it was answered", path=scope["path"])
        except Exception:
            accepted = last in ("websocket.accept", "websocket.send")
            if scope["type"] not in ("http", "websocket") or (last and not accepted):
                raise
            reference = session_id_of(scope) or secrets.token_hex(8)
            log.exception("request failed", path=scope["path"], session=reference)
            error = PolyvoxError(f"The server failed; the cause is in its log under {reference}.")
            if accepted:
                await send(close_message(Refusal.of(error)))
            else:
                await self._refusals.send(error, scope, receive, send, reference)


def note_session(scope: Scope, session_id: str) -> None:
    """Remember a request's session, so that an error answered later can name it."""
    HTTPConnection(scope).state.session_id = session_id


def session_id_of(scope: Scope) -> str | None:
    """The session noted for this request, if it got that far."""
    return getattr(HTTPConnection(scope).state, "session_id", None)


class _Handlers:
    """Exception handlers of HTTP and WebSocket routes."""

    def __init__(self, refusals: Refusals, counts: SpeechRefusals) -> None:
        self._refusals = refusals
        self._counts = counts

    async def on_polyvox_error(self, connection: HTTPConnection, error: Exception) -> Response:
        assert isinstance(error, PolyvoxError)
        log.debug("answered with an error", path=connection.url.path, code=status_of(error).code, field=error.field)
        session_id = session_id_of(connection.scope)
        if session_id is None:  # a session counts its own errors
            self._counts.count(error, connection.scope)
        response = self._refusals.response(error, connection.scope, session_id)
        return _answer(connection, Refusal.of(error), response)

    async def on_validation_error(self, connection: HTTPConnection, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError | WebSocketRequestValidationError)
        return await self.on_polyvox_error(connection, invalid_request(error.errors()))

    async def on_http_exception(self, connection: HTTPConnection, error: Exception) -> Response:
        """Answer routing's own refusals: no such path, no such method."""
        assert isinstance(error, HTTPException)
        status, path = HTTPStatus(error.status_code), asked_path(connection.scope)
        message = {
            HTTPStatus.NOT_FOUND: _nothing_at(path),
            HTTPStatus.METHOD_NOT_ALLOWED: f"{path} does not answer {connection.scope.get('method')}; see /docs.",
        }.get(status, f"{error.detail}.")
        kind = "invalid_request_error" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "server_error"
        refusal = Refusal(status, message, kind, status.name.lower())
        return _answer(connection, refusal, self._refusals.refusal_response(refusal, connection.scope, error.headers))


class _WebSocketClose(Response):
    """A response that ends a WebSocket; without a message, one that has ended already."""

    def __init__(self, message: Message | None) -> None:
        super().__init__()
        self._message = message

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._message is not None:
            await send(self._message)


def _answer(connection: HTTPConnection, refusal: Refusal, response: Response) -> Response:
    """The response for an HTTP request; a WebSocket is denied with it, or closed where it is accepted already."""
    if not isinstance(connection, WebSocket):
        return response
    if connection.application_state is WebSocketState.CONNECTING and can_deny(connection.scope):
        return response
    is_open = connection.application_state in (WebSocketState.CONNECTING, WebSocketState.CONNECTED)
    return _WebSocketClose(close_message(refusal) if is_open else None)


def _nothing_at(path: str) -> str:
    return f"There is nothing at {path}; /docs lists what there is."
