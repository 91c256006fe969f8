"""Traces of HTTP requests and WebSockets, in the trace that the caller names."""

from collections.abc import Sequence

from opentelemetry.trace import Span
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars, get_contextvars

from polyvox.api.paths import PathTable
from polyvox.service.telemetry.tracing import (
    REQUEST_ID,
    W3C_HEADERS,
    Attributes,
    RequestTracer,
    TraceOrigin,
    end_span,
    log_ids,
    within,
)

_ROUTE = "http.route"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class RequestTraces:
    """Middleware that gives each HTTP request a span, and the sessions of a WebSocket its caller's trace.

    A socket may live for hours, so that it has no span of its own: each text that is spoken on it is a request.
    Attributes are those of OpenTelemetry's conventions, without the path and the query: they may hold texts and keys,
    and the route says which API was called. The `untraced` paths are probes and pages.
    """

    def __init__(self, app: ASGIApp, tracer: RequestTracer, untraced: Sequence[str]) -> None:
        self._app = app
        self._tracer = tracer
        self._untraced = PathTable([(path, True) for path in untraced], default=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or self._untraced[scope["path"]]:
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope)
        headers = {name: ",".join(given.getlist(name)) for name in W3C_HEADERS if name in given}
        attributes = _attributes(scope)
        if scope["type"] == "websocket":
            with within(TraceOrigin(headers, attributes=lambda: {**attributes, **_route(scope)})):
                await self._app(scope, receive, send)
            return
        span = self._tracer.start(attributes["http.request.method"], headers, attributes)
        with within(TraceOrigin(headers, span)), bound_contextvars(**log_ids(span)):
            await self._answer(span, scope, receive, send)

    async def _answer(self, span: Span, scope: Scope, receive: Receive, send: Send) -> None:
        watch = _AnswerWatch(span, send)
        failure: str | None = None
        try:
            await self._app(scope, receive, watch.send)
        except BaseException as error:
            failure = type(error).__name__
            raise
        finally:
            if route := _route(scope):
                span.update_name(f"{scope['method']} {route[_ROUTE]}")
                span.set_attributes(route)
            end_span(span, failure or watch.failure)


class _AnswerWatch:
    """Notes an answer's status and its first byte."""

    def __init__(self, span: Span, send: Send) -> None:
        self._span = span
        self._send = send
        self._begun = False
        self.failure: str | None = None

    async def send(self, message: Message) -> None:
        await self._send(message)
        if message["type"] == "http.response.start":
            status: int = message["status"]
            self._span.set_attribute("http.response.status_code", status)
            self.failure = str(status) if status >= 500 else None
        elif not self._begun and message.get("body"):
            self._begun = True
            self._span.add_event("first byte")


def _attributes(scope: Scope) -> dict[str, str]:
    """Attributes of a request that are known before it is routed."""
    protocol = "websocket" if scope["type"] == "websocket" else "http"
    found = {"url.scheme": scope.get("scheme", "http"), "network.protocol.name": protocol}
    if protocol == "http":
        method: str = scope["method"]
        found["http.request.method"] = method if method in _METHODS else "_OTHER"
    if request_id := get_contextvars().get("request_id"):
        found[REQUEST_ID] = request_id
    return found


def _route(scope: Scope) -> Attributes:
    """The route's pattern; nothing before there is one, as where a request was refused."""
    path = getattr(scope.get("route"), "path", None)
    return {} if path is None else {_ROUTE: path}
