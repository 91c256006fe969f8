"""The call context of every request and WebSocket: who calls, and how long the caller waits."""

import math

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from polyvox.api.middleware.request_ids import REQUEST_ID_HEADER, given_request_id
from polyvox.api.refusals import Refusals
from polyvox.errors import InvalidRequestError
from polyvox.service.call_context import CallContext
from polyvox.service.keys.client_names import client_name
from polyvox.service.voices.consent import CONSENT_HEADER, calling
from polyvox.voices.records import SHARED_OWNER

WAIT_HEADER = "X-Max-Wait"
"""Longest wait for a turn that the caller accepts, in seconds; it can only be shorter than the server's."""


class CallContexts:
    """Middleware that notes the call context, once the key is known.

    A header that cannot be understood is refused here, before the body is read. `max_wait` is the server's own.
    """

    def __init__(self, app: ASGIApp, max_wait: float, refusals: Refusals) -> None:
        self._app = app
        self._max_wait = max_wait
        self._refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            try:
                call = HTTPConnection(scope).state.call = _context(scope, self._max_wait)
                stated = calling(call.client, Headers(scope=scope).get(CONSENT_HEADER))
            except InvalidRequestError as error:
                await self._refusals.send(error, scope, receive, send)
                return
            with stated:
                await self._app(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _context(scope: Scope, longest_wait: float) -> CallContext:
    headers, address = Headers(scope=scope), scope.get("client")
    owner: str = getattr(HTTPConnection(scope).state, "owner", SHARED_OWNER)
    return CallContext(
        client_name(owner, address[0] if address else ""),
        owner,
        request_id=given_request_id(headers.get(REQUEST_ID_HEADER)),
        max_wait=_max_wait(headers.get(WAIT_HEADER), longest_wait),
        use_cache=_takes_cached(headers.get("cache-control", "")),
    )


def _max_wait(given: str | None, longest: float) -> float:
    """The wait that a request accepts, at most the server's; InvalidRequestError where its header is no number."""
    if given is None:
        return longest
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not seconds >= 0:
        raise InvalidRequestError(f"The header {WAIT_HEADER} must be a number of seconds, such as 2.5.")
    return min(seconds, longest)


def _takes_cached(cache_control: str) -> bool:
    """True unless the caller refuses speech that was made before."""
    asked = {part.strip().lower() for part in cache_control.split(",")}
    return not asked & {"no-cache", "no-store"}
