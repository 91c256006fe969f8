"""A tracer that sends its spans to an OpenTelemetry collector by OTLP, as protobuf over HTTP."""

import logging
import os
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Self

import structlog
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.sdk.trace.sampling import ParentBased, Sampler, TraceIdRatioBased
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from polyvox.config import Settings
from polyvox.service.telemetry.span_queue import SpanQueue
from polyvox.service.telemetry.tracing import ERROR_TYPE, NO_ATTRIBUTES, Attributes

_TRACES_PATH = "/v1/traces"
_LONGEST_ATTRIBUTE = 256

_W3C = TraceContextTextMapPropagator()

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class OtlpSpan:
    """A span of the SDK."""

    def __init__(self, tracer: trace.Tracer, span: trace.Span) -> None:
        self._tracer = tracer
        self._span = span
        self._over = False

    @property
    def ids(self) -> Mapping[str, str]:
        context = self._span.get_span_context()
        return {"trace_id": trace.format_trace_id(context.trace_id), "span_id": trace.format_span_id(context.span_id)}

    @property
    def headers(self) -> Mapping[str, str]:
        headers: dict[str, str] = {}
        _W3C.inject(headers, self._context)
        return headers

    @property
    def is_recorded(self) -> bool:
        return bool(self._span.is_recording())

    @property
    def is_over(self) -> bool:
        return self._over

    def child(self, name: str, *, start: int | None = None, attributes: Attributes = NO_ATTRIBUTES) -> "OtlpSpan":
        span = self._tracer.start_span(name, self._context, attributes=attributes, start_time=start)
        return OtlpSpan(self._tracer, span)

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def set(self, attributes: Attributes) -> None:
        self._span.set_attributes(attributes)

    def event(self, name: str) -> None:
        self._span.add_event(name)

    def end(self, *, error: str | None = None, at: int | None = None) -> None:
        if error is not None:
            self._span.set_attribute(ERROR_TYPE, error)
            self._span.set_status(trace.StatusCode.ERROR)
        self._over = True
        self._span.end(at)

    @property
    def _context(self) -> Context:
        return trace.set_span_in_context(self._span, Context())


class OtlpTracer:
    """Spans of one process. Nothing is registered globally: other libraries' spans stay theirs."""

    def __init__(
        self,
        exporter: SpanExporter,
        on_dropped: Callable[[str, int], None],
        *,
        sampler: Sampler | None = None,
        resource: Resource | None = None,
    ) -> None:
        # Its lines repeat what callers send in their headers, and each retry; failures have a line of our own.
        logging.getLogger("opentelemetry").setLevel(logging.ERROR)
        limits = SpanLimits(max_attribute_length=_LONGEST_ATTRIBUTE)
        self._provider = TracerProvider(sampler, resource, shutdown_on_exit=False, span_limits=limits)
        self._provider.add_span_processor(SpanQueue(exporter, on_dropped))
        self._tracer = self._provider.get_tracer("polyvox", version("polyvox"))

    @classmethod
    def from_settings(cls, settings: Settings, on_dropped: Callable[[str, int], None]) -> Self:
        """The tracer for the settings; what they leave open is in OpenTelemetry's own variables."""
        if os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf") != "http/protobuf":
            log.warning("traces are sent as http/protobuf; give otlp_endpoint a port that takes it, usually 4318")
        exporter = OTLPSpanExporter(_url(settings.otlp_endpoint))
        return cls(exporter, on_dropped, sampler=_sampler(settings.trace_sample_ratio), resource=_resource())

    def start(
        self,
        name: str,
        headers: Mapping[str, str],
        *,
        attributes: Attributes = NO_ATTRIBUTES,
        start: int | None = None,
    ) -> OtlpSpan:
        context = _W3C.extract(headers, Context())
        span = self._tracer.start_span(
            name, context, kind=trace.SpanKind.SERVER, attributes=attributes, start_time=start
        )
        return OtlpSpan(self._tracer, span)

    def close(self) -> None:
        self._provider.shutdown()


def _url(endpoint: str | None) -> str | None:
    """The address of traces below a collector's base URL, as with the standard variable; None leaves it to that."""
    if endpoint is None:
        return None
    bare = endpoint.rstrip("/")
    return bare if bare.endswith(_TRACES_PATH) else bare + _TRACES_PATH


def _sampler(ratio: float) -> Sampler | None:
    """A caller's own decision goes first; None leaves it to the standard variable."""
    return None if os.environ.get("OTEL_TRACES_SAMPLER") else ParentBased(TraceIdRatioBased(ratio))


def _resource() -> Resource:
    """This program, under the name of OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES where they give one."""
    named = Resource({SERVICE_NAME: "polyvox", SERVICE_VERSION: version("polyvox")})
    given = Resource.create()
    unnamed = str(given.attributes.get(SERVICE_NAME, "")).startswith("unknown_service")
    return given.merge(named) if unnamed else named.merge(given)
