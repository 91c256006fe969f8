"""Traces of gRPC calls, in the trace that the caller names."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from structlog.contextvars import bound_contextvars

from polyvox.api.dialects.grpc.call import Context
from polyvox.errors import PolyvoxError, status_of
from polyvox.service.telemetry.tracing import (
    REQUEST_ID,
    W3C_HEADERS,
    RequestTracer,
    TraceOrigin,
    end_span,
    log_ids,
    within,
)

_STATUS = "rpc.response.status_code"
_SERVER_FAULTS = frozenset({"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"})
"""Statuses that OpenTelemetry's conventions count as errors of a server."""


@contextmanager
def traced_call(tracer: RequestTracer | None, method: str, context: Context, request_id: str) -> Iterator[None]:
    """Let the block, which answers a call of the method with this full name, have a span."""
    if tracer is None:
        yield
        return
    given = {name: value for name, value in context.invocation_metadata() or () if isinstance(value, str)}
    headers = {name: given[name] for name in W3C_HEADERS if name in given}
    attributes = {"rpc.system.name": "grpc", "rpc.method": method, REQUEST_ID: request_id}
    span = tracer.start(method, headers, attributes)
    status, failure = "OK", None
    try:
        with within(TraceOrigin(headers, span)), bound_contextvars(**log_ids(span)):
            yield
    except PolyvoxError as error:
        found = status_of(error)
        status, failure = found.grpc, found.code if found.grpc in _SERVER_FAULTS else None
        raise
    except asyncio.CancelledError:
        status = "CANCELLED"
        raise
    except BaseException as error:
        status, failure = "UNKNOWN", type(error).__name__
        raise
    finally:
        span.set_attribute(_STATUS, status)
        end_span(span, failure)
