"""Traces of requests, in OpenTelemetry's spans. `tracer_choice` opens a tracer that sends them somewhere."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType

from opentelemetry.context import Context
from opentelemetry.trace import (
    Span,
    SpanKind,
    StatusCode,
    Tracer,
    format_span_id,
    format_trace_id,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

Attributes = Mapping[str, str | int | float | bool]
"""Never words of a text, nor a key."""
NO_ATTRIBUTES: Attributes = MappingProxyType({})
NO_HEADERS: Mapping[str, str] = MappingProxyType({})

W3C_HEADERS = ("traceparent", "tracestate")
REQUEST_ID = "polyvox.request.id"
ERROR_TYPE = "error.type"

_W3C = TraceContextTextMapPropagator()


class RequestTracer:
    """Starts the spans of requests; `close` sends what is left, for a bounded time, and blocks."""

    def __init__(self, tracer: Tracer, close: Callable[[], None]) -> None:
        self._tracer = tracer
        self.close = close

    def start(self, name: str, headers: Mapping[str, str], attributes: Attributes = NO_ATTRIBUTES) -> Span:
        """The first span that this process has of a request with these headers, in the caller's trace if they name one.

        Headers that are not W3C's or make no sense are as none.
        """
        context = _W3C.extract(headers, Context())
        return self._tracer.start_span(name, context, kind=SpanKind.SERVER, attributes=attributes)

    def child(
        self, parent: Span, name: str, *, start: int | None = None, attributes: Attributes = NO_ATTRIBUTES
    ) -> Span:
        """A span within another, which began at `start`, in nanoseconds since 1970; None is now."""
        return self._tracer.start_span(name, _context(parent), attributes=attributes, start_time=start)


def end_span(span: Span, error: str | None) -> None:
    """End a span now; `error` is the code of the failure, where it is one."""
    if error is not None:
        span.set_attribute(ERROR_TYPE, error)
        span.set_status(StatusCode.ERROR)
    span.end()


def log_ids(span: Span) -> Mapping[str, str]:
    """`trace_id` and `span_id` in hexadecimal digits, for lines of the log."""
    context = span.get_span_context()
    return {"trace_id": format_trace_id(context.trace_id), "span_id": format_span_id(context.span_id)}


@dataclass(slots=True)
class TraceOrigin:
    """The origin of sessions that are opened in the running context.

    They are children of `span`, the span of an HTTP request or a gRPC call, while it lasts. Otherwise, on a WebSocket
    that may live for hours, each is the first span of a request of its own, with the `headers` of the connection and
    `attributes` as they are when it begins.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    span: Span | None = None
    attributes: Callable[[], Attributes] = dict

    def begin(self, tracer: RequestTracer, name: str) -> Span:
        """A span for work that begins now."""
        if self.span is not None:
            return tracer.child(self.span, name)
        return tracer.start(name, self.headers, self.attributes())


_NO_ORIGIN = TraceOrigin()
_origin: ContextVar[TraceOrigin] = ContextVar("polyvox_trace_origin", default=_NO_ORIGIN)


def current_origin() -> TraceOrigin:
    """The origin of what is opened now; an empty one outside of traced requests."""
    return _origin.get()


def enter_origin(origin: TraceOrigin) -> None:
    """Let the running context be of this origin from now on."""
    _origin.set(origin)


@contextmanager
def within(origin: TraceOrigin) -> Iterator[None]:
    """Let sessions that are opened in the block be of this origin, whose span lasts as long."""
    token = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(token)
        origin.span = None  # tasks that the block has left behind keep the origin


def outgoing_headers() -> Mapping[str, str]:
    """Headers for another process that works for the running context; none where nothing is traced."""
    span, headers = _origin.get().span, dict[str, str]()
    if span is not None:
        _W3C.inject(headers, _context(span))
    return headers


def _context(span: Span) -> Context:
    """A context that holds this span and nothing else."""
    return set_span_in_context(span, Context())
