"""How a failure looks over HTTP: OpenAI's error body or a dialect's own, always one sentence, never a stack trace."""

import math
import secrets
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from polyvox.api.refusals import Refusal, worded
from polyvox.errors import (
    AuthenticationError,
    InvalidRequestError,
    OverloadedError,
    PolyvoxError,
    RequestTooLargeError,
    status_of,
)

SESSION_HEADER = "X-Session-Id"

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


def error_response(error: PolyvoxError, scope: Scope, session_id: str | None = None) -> JSONResponse:
    """The error as a response in the dialect of the request, with the headers that its status calls for."""
    headers = {} if session_id is None else {SESSION_HEADER: session_id}
    if isinstance(error, OverloadedError):
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
    elif isinstance(error, AuthenticationError):
        headers["WWW-Authenticate"] = "Bearer"
    elif isinstance(error, RequestTooLargeError):
        headers["Connection"] = "close"  # what the client still sends is not worth reading
    status, body = worded(Refusal.of(error), scope["path"])
    return JSONResponse(body, status, headers)


def invalid_request(problems: Sequence[Mapping[str, Any]]) -> InvalidRequestError:
    """The first of pydantic's complaints as one sentence that names the field."""
    first = problems[0]
    place, *path = first["loc"]
    field = _field(path) or None
    if field is None:
        wanted = "a JSON object" if first["type"].startswith("model") else _lower_first(first["msg"])
        return InvalidRequestError(f"The {place} must be {wanted}.")
    if first["type"] == "missing":
        return InvalidRequestError(f"'{field}' is required.", field=field)
    complaint = first["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return InvalidRequestError(f"'{field}' {_lower_first(complaint)}.", field=field)


def install_handlers(app: FastAPI) -> None:
    """Make every refusal of the app, FastAPI's and Starlette's own included, take the one shape."""
    app.add_exception_handler(PolyvoxError, _on_polyvox_error)
    app.add_exception_handler(RequestValidationError, _on_validation_error)
    app.add_exception_handler(HTTPException, _on_http_exception)


class UnexpectedErrors:
    """Middleware that turns a defect into a 500 whose reference is in the log.

    A response that has begun cannot be taken back: then the exception goes on to the server, which cuts the connection.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            log.debug("client left before its request was read", path=scope["path"])
        except Exception:
            if scope["type"] != "http" or started:
                raise
            reference = session_id_of(scope) or secrets.token_hex(8)
            log.exception("request failed", path=scope["path"], session=reference)
            error = PolyvoxError(f"The server failed; the cause is in its log under {reference}.")
            await error_response(error, scope, reference)(scope, receive, send)


def note_session(scope: Scope, session_id: str) -> None:
    """Remember a request's session, so that an error answered later can name it."""
    Request(scope).state.session_id = session_id


def session_id_of(scope: Scope) -> str | None:
    """The session noted for this request, if it got that far."""
    return getattr(Request(scope).state, "session_id", None)


async def _on_polyvox_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, PolyvoxError)
    log.debug("answered with an error", path=request.url.path, code=status_of(error).code, field=error.field)
    return error_response(error, request.scope, session_id_of(request.scope))


async def _on_validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return await _on_polyvox_error(request, invalid_request(error.errors()))


async def _on_http_exception(request: Request, error: Exception) -> Response:
    """Routing's own refusals: no such path, no such method."""
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    message = {
        HTTPStatus.NOT_FOUND: f"There is nothing at {request.url.path}; /docs lists what there is.",
        HTTPStatus.METHOD_NOT_ALLOWED: f"{request.url.path} does not answer {request.method}; see /docs.",
    }.get(status, f"{error.detail}.")
    kind = "invalid_request_error" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "server_error"
    code, body = worded(Refusal(status, message, kind, status.name.lower()), request.scope["path"])
    return JSONResponse(body, code, error.headers)


def _field(path: Sequence[str | int]) -> str:
    """Where in a body, as in `turns[3].voice`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _lower_first(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
