"""A tracer that sends its spans to an OpenTelemetry collector by OTLP, as protobuf over HTTP."""

import logging
import os
from collections.abc import Callable

import structlog
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.sdk.trace.sampling import ParentBased, Sampler, TraceIdRatioBased

from polyvox import __version__
from polyvox.config import Settings
from polyvox.service.telemetry.span_queue import SpanQueue
from polyvox.service.telemetry.tracing import RequestTracer

_TRACES_PATH = "/v1/traces"
_LONGEST_ATTRIBUTE = 256

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


def otlp_tracer(settings: Settings, on_dropped: Callable[[str, int], None]) -> RequestTracer:
    """The tracer for the settings; what they leave open is in OpenTelemetry's own variables."""
    if os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf") != "http/protobuf":
        log.warning("traces are sent as http/protobuf; give otlp_endpoint a port that takes it, usually 4318")
    exporter = OTLPSpanExporter(_url(settings.otlp_endpoint))
    return tracer_to(exporter, on_dropped, sampler=_sampler(settings.trace_sample_ratio), resource=_resource())


def tracer_to(
    exporter: SpanExporter,
    on_dropped: Callable[[str, int], None],
    *,
    sampler: Sampler | None = None,
    resource: Resource | None = None,
) -> RequestTracer:
    """The tracer whose spans an exporter sends. Nothing is registered globally: other libraries' spans stay theirs."""
    # Its lines repeat what callers send in their headers, and each retry; failures have a line of our own.
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)
    limits = SpanLimits(max_attribute_length=_LONGEST_ATTRIBUTE)
    provider = TracerProvider(sampler, resource, shutdown_on_exit=False, span_limits=limits)
    provider.add_span_processor(SpanQueue(exporter, on_dropped))
    return RequestTracer(provider.get_tracer("polyvox", __version__), provider.shutdown)


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
    named = Resource({SERVICE_NAME: "polyvox", SERVICE_VERSION: __version__})
    given = Resource.create()
    unnamed = str(given.attributes.get(SERVICE_NAME, "")).startswith("unknown_service")
    return given.merge(named) if unnamed else named.merge(given)
