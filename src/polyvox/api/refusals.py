"""Error responses in the wording of the door that was called, for HTTP requests and WebSocket handshakes."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from polyvox.api.answer_headers import rate_headers
from polyvox.api.paths import PathTable
from polyvox.errors import (
    AuthenticationError,
    BundleError,
    OverloadedError,
    PolyvoxError,
    QuotaError,
    RateLimitError,
    RequestTooLargeError,
    StalledError,
    UnavailableError,
    status_of,
)

SESSION_HEADER = "X-Session-Id"
RETRY_HEADER = "Retry-After"
SHOULD_RETRY_HEADER = "x-should-retry"
"""True if to send the request again, which some clients obey."""

_DENIAL_EXTENSION = "websocket.http.response"
_CLOSE_CODES: Mapping[int, int] = MappingProxyType({413: 1009, 429: 1013})
_MAX_REASON_BYTES = 123  # of a close frame, by RFC 6455


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error before it is worded; `type` and `code` are those of the table of errors."""

    status: int
    message: str
    type: str
    code: str
    field: str | None = None

    @classmethod
    def of(cls, error: PolyvoxError) -> "Refusal":
        row = status_of(error)
        return cls(row.http, error.message, row.type, row.code, error.field)


Wording = Callable[[Refusal], tuple[int, dict[str, Any]]]
"""Gives a refusal its status and its JSON body."""


def error_object(refusal: Refusal) -> tuple[int, dict[str, Any]]:
    """The wording of every path for which no door has its own."""
    error = {"message": refusal.message, "type": refusal.type, "param": refusal.field, "code": refusal.code}
    return refusal.status, {"error": error}


def plain_detail(refusal: Refusal) -> tuple[int, dict[str, Any]]:
    """A sentence under `detail`, for clients that know few statuses: 403 and 409 are a bad request to them."""
    return (400 if refusal.status in (403, 409) else refusal.status), {"detail": refusal.message}


class Refusals:
    """Answers with errors; `wordings` are the doors' own by path pattern."""

    def __init__(self, wordings: Iterable[tuple[str, Wording]] = ()) -> None:
        self._wordings = PathTable(wordings, default=error_object)

    def response(self, error: PolyvoxError, scope: Scope, session_id: str | None = None) -> JSONResponse:
        """The error as a response, with the headers that its status calls for."""
        headers = {} if session_id is None else {SESSION_HEADER: session_id}
        if isinstance(error, OverloadedError):
            headers[RETRY_HEADER] = str(max(1, math.ceil(error.retry_after)))
            if isinstance(error, RateLimitError):
                headers |= rate_headers(error)
            if isinstance(error, QuotaError):
                headers[SHOULD_RETRY_HEADER] = "false"  # tomorrow is too late for a client that retries
        elif isinstance(error, UnavailableError | BundleError):
            headers |= _retry_headers(error)
        elif isinstance(error, AuthenticationError):
            headers["WWW-Authenticate"] = "Bearer"
        elif isinstance(error, RequestTooLargeError | StalledError):
            headers["Connection"] = "close"  # the rest of the body is not read
        return self.refusal_response(Refusal.of(error), scope, headers)

    def refusal_response(
        self, refusal: Refusal, scope: Scope, headers: Mapping[str, str] | None = None
    ) -> JSONResponse:
        """A refusal as a response."""
        status, body = self.worded(refusal, scope["path"])
        return JSONResponse(body, status, headers)

    def worded(self, refusal: Refusal, path: str) -> tuple[int, dict[str, Any]]:
        """Status and body of a refusal at a path."""
        return self._wordings[path](refusal)

    async def send(
        self, error: PolyvoxError, scope: Scope, receive: Receive, send: Send, session_id: str | None = None
    ) -> None:
        """Refuse an HTTP request, or a WebSocket handshake that has not been accepted.

        A server without the extension can only close the handshake, which the client sees as an empty 403.
        """
        if scope["type"] == "http" or can_deny(scope):
            await self.response(error, scope, session_id)(scope, receive, send)
        else:
            await send(close_message(Refusal.of(error)))


def _retry_headers(error: UnavailableError | BundleError) -> dict[str, str]:
    """Headers that say when to try again, or that it is of no use: a model that is not installed stays so."""
    if isinstance(error, BundleError):
        return {SHOULD_RETRY_HEADER: "false"}
    headers = {} if error.retry is None else {SHOULD_RETRY_HEADER: str(error.retry).lower()}
    if error.retry_after is not None:
        headers[RETRY_HEADER] = str(max(1, math.ceil(error.retry_after)))
    return headers


def can_deny(scope: Scope) -> bool:
    """Return whether the server lets a WebSocket handshake be answered with an HTTP response."""
    return _DENIAL_EXTENSION in scope.get("extensions", {})


def close_message(refusal: Refusal) -> dict[str, Any]:
    """The ASGI message that ends a WebSocket with RFC 6455's code for this kind of refusal."""
    code = _CLOSE_CODES.get(refusal.status, 1008 if refusal.status < HTTPStatus.INTERNAL_SERVER_ERROR else 1011)
    reason = refusal.message.encode()[:_MAX_REASON_BYTES].decode(errors="ignore")
    return {"type": "websocket.close", "code": code, "reason": reason}
