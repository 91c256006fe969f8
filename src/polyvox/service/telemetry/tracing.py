"""Traces of requests: what the service asks of a tracer. `tracer_choice` opens one."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

Attributes = Mapping[str, str | int | float | bool]
NO_ATTRIBUTES: Attributes = MappingProxyType({})
NO_HEADERS: Mapping[str, str] = MappingProxyType({})

W3C_HEADERS = ("traceparent", "tracestate")
REQUEST_ID = "polyvox.request.id"
ERROR_TYPE = "error.type"


class Span(Protocol):
    """A part of a request's work. Times are nanoseconds since 1970, as `time.time_ns` gives them; None is now."""

    @property
    def ids(self) -> Mapping[str, str]:
        """`trace_id` and `span_id` in hexadecimal digits, for lines of the log."""

    @property
    def headers(self) -> Mapping[str, str]:
        """W3C's `traceparent` and `tracestate` for a process that goes on with the work."""

    @property
    def is_recorded(self) -> bool:
        """True if it is sampled and has not ended."""

    @property
    def is_over(self) -> bool: ...

    def child(self, name: str, *, start: int | None = None, attributes: Attributes = NO_ATTRIBUTES) -> "Span":
        """A span within this one."""

    def rename(self, name: str) -> None: ...

    def set(self, attributes: Attributes) -> None:
        """Add attributes; never words of a text, nor a key."""

    def event(self, name: str) -> None:
        """Note a moment: now."""

    def end(self, *, error: str | None = None, at: int | None = None) -> None:
        """End it; `error` is the code of the failure, where it is one."""


class Tracer(Protocol):
    """Makes spans and sends them on. No call waits for the network."""

    def start(
        self,
        name: str,
        headers: Mapping[str, str],
        *,
        attributes: Attributes = NO_ATTRIBUTES,
        start: int | None = None,
    ) -> Span:
        """The first span that this process has of a request with these headers, in the caller's trace if they name one.

        Headers that are not W3C's or make no sense are as none.
        """

    def close(self) -> None:
        """Send what is left, for a bounded time; blocks."""


@dataclass(frozen=True, slots=True)
class TraceOrigin:
    """The origin of sessions that are opened in the running context.

    They are children of `span`, the span of an HTTP request or a gRPC call, while it lasts. Otherwise, on a WebSocket
    that may live for hours, each is the first span of a request of its own, with the `headers` of the connection and
    `attributes` as they are when it begins.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    span: Span | None = None
    attributes: Callable[[], Attributes] = dict

    def begin(self, tracer: Tracer, name: str) -> Span:
        """A span for work that begins now."""
        if self.span is not None and not self.span.is_over:
            return self.span.child(name)
        return tracer.start(name, self.headers, attributes=self.attributes())


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
    """Let sessions that are opened in the block be of this origin."""
    token = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(token)


def outgoing_headers() -> Mapping[str, str]:
    """Headers for another process that works for the running context; none where nothing is traced."""
    span = _origin.get().span
    return {} if span is None else dict(span.headers)
