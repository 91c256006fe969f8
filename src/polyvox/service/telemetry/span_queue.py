"""Spans on their way to the collector."""

import threading
from collections import deque
from collections.abc import Callable

import structlog
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

QUEUED_SPANS = 8_192
"""A span has 2.7 kB."""
_BATCH = 512
_BATCH_SECONDS = 2.0
_CLOSE_SECONDS = 5.0
_LAST_SECONDS = 0.5

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class SpanQueue(SpanProcessor):  # type: ignore[misc]
    """Exports spans in batches on a thread of its own. Speech never waits: what does not fit is lost and counted.

    Unlike the SDK's own processor it counts each span that is lost, and a close ends after a few seconds even where the
    collector accepts connections and says nothing.
    """

    def __init__(
        self,
        exporter: SpanExporter,
        on_dropped: Callable[[str, int], None],
        *,
        size: int = QUEUED_SPANS,
    ) -> None:
        self._exporter = exporter
        self._on_dropped = on_dropped
        self._size = size
        self._spans: deque[ReadableSpan] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._failing = False
        self._thread = threading.Thread(target=self._export_all, name="polyvox-traces", daemon=True)
        self._thread.start()

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """A span is queued when it has ended."""

    def on_end(self, span: ReadableSpan) -> None:
        with self._changed:
            full = self._closing or len(self._spans) >= self._size
            if not full:
                self._spans.append(span)
                if len(self._spans) == _BATCH:
                    self._changed.notify()
        if full:
            self._on_dropped("queue", 1)

    def shutdown(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(_CLOSE_SECONDS)
        if self._thread.is_alive():
            self._drop_rest()
        self._exporter.shutdown()  # which also ends its wait between two attempts
        self._thread.join(_LAST_SECONDS)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Nothing of ours asks for it; `shutdown` sends what is left."""
        return False

    def _export_all(self) -> None:
        while batch := self._next_batch():
            self._export(batch)

    def _next_batch(self) -> list[ReadableSpan]:
        """The next spans to send; none when the queue is closed and empty."""
        with self._changed:
            while not self._closing and len(self._spans) < _BATCH:
                timed_out = not self._changed.wait(_BATCH_SECONDS)
                if timed_out and self._spans:
                    break
            return [self._spans.popleft() for _ in range(min(_BATCH, len(self._spans)))]

    def _export(self, batch: list[ReadableSpan]) -> None:
        try:
            sent = self._exporter.export(batch) is SpanExportResult.SUCCESS
        except Exception:
            log.exception("spans could not be exported")
            sent = False
        if not sent:
            self._on_dropped("export", len(batch))
        if sent is self._failing:
            self._failing = not sent
            if self._failing:
                log.warning("traces do not reach the collector; see to it, or change otlp_endpoint")
            else:
                log.info("traces reach the collector again")

    def _drop_rest(self) -> None:
        with self._changed:
            left = len(self._spans)
            self._spans.clear()
        log.warning("traces were not sent before the end", spans=left)
        if left:
            self._on_dropped("export", left)
