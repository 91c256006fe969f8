"""The tracer that settings and environment ask for: none, or one that sends spans to a collector."""

import os
from collections.abc import Callable, Mapping

import structlog

from polyvox.config import Settings
from polyvox.extras import OTEL
from polyvox.service.telemetry.tracing import RequestTracer

_STANDARD_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


def open_tracer(settings: Settings, on_dropped: Callable[[str, int], None]) -> RequestTracer | None:
    """The tracer that the settings or OpenTelemetry's own variables ask for; None where nothing is to be traced.

    `on_dropped` is told why how many spans were lost, on any thread.
    """
    asked = settings.otlp_endpoint is not None
    if not asked and not any(map(os.environ.get, _STANDARD_ENDPOINTS)):
        return None
    if _is_disabled(os.environ):
        return None
    if asked:
        OTEL.check()
    elif not OTEL.installed:
        log.warning(OTEL.absence)  # its variables may be set for every program of a cluster
        return None
    from polyvox.service.telemetry.otlp_tracer import otlp_tracer

    return otlp_tracer(settings, on_dropped)


def _is_disabled(environment: Mapping[str, str]) -> bool:
    """Return whether OpenTelemetry's own variables say so."""
    off = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return off or environment.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none"
