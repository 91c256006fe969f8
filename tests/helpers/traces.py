"""Spans for the tests: kept in memory, or received by a stand-in for an OpenTelemetry collector."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Sampler

from polyvox.service.telemetry.otlp_tracer import tracer_to

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
HEADERS = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "vendor=opaque"}
"""Of a caller who traces."""


class KeptSpans:
    """A tracer and the spans that it has exported, which are there when it is closed."""

    def __init__(self, sampler: Sampler | None = None) -> None:
        self._exporter = InMemorySpanExporter()
        self.dropped: list[tuple[str, int]] = []
        self.tracer = tracer_to(
            self._exporter, lambda reason, count: self.dropped.append((reason, count)), sampler=sampler
        )

    @property
    def all(self) -> Sequence[ReadableSpan]:
        return self._exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.all if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        (span,) = self.named(name)
        return span

    def children(self, parent: ReadableSpan) -> list[str]:
        """Names, in the order of their beginning."""
        mine = [span for span in self.all if span.parent is not None and span.parent.span_id == parent.context.span_id]
        return [span.name for span in sorted(mine, key=lambda span: span.start_time)]


def trace_of(span: ReadableSpan) -> str:
    return f"{span.context.trace_id:032x}"


def events_of(span: ReadableSpan) -> list[str]:
    return [event.name for event in span.events]


class Collector:
    """What a collector was sent by OTLP over HTTP. It answers with `status`, or not before `answering` is set."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self.paths: list[str] = []
        self.status = 200
        self.answering = threading.Event()
        self.answering.set()
        self.url = ""

    @property
    def spans(self) -> list[Any]:
        groups = [group for request in self.requests for group in request.resource_spans]
        return [span for group in groups for scope in group.scope_spans for span in scope.spans]

    @property
    def resource(self) -> dict[str, str]:
        return {item.key: item.value.string_value for item in self.requests[0].resource_spans[0].resource.attributes}


@contextmanager
def collector() -> Iterator[Collector]:
    """A collector on a free port of this machine."""
    received = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.answering.wait(20)
            if received.status == 200:
                assert self.headers["Content-Type"] == "application/x-protobuf"
                received.requests.append(ExportTraceServiceRequest.FromString(body))
                received.paths.append(self.path)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(received.status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    received.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield received
    finally:
        received.answering.set()
        server.shutdown()
        thread.join()
        server.server_close()
