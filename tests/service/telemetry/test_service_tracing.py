"""Where traces go, that nobody pays for them who does not ask, and that a collector can fail as it likes."""

import re
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from structlog.testing import capture_logs

from helpers.fakes import running, tone_service, tone_settings
from helpers.traces import TRACE, KeptSpans, collector, trace_of
from polyvox import extras
from polyvox.errors import UnavailableError
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.telemetry import span_queue, tracing
from polyvox.service.telemetry.span_queue import SpanQueue
from polyvox.service.telemetry.tracer_choice import open_tracer
from polyvox.types import Utterance

VARIABLES = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_SDK_DISABLED",
    "OTEL_SERVICE_NAME",
    "OTEL_TRACES_EXPORTER",
    "OTEL_TRACES_SAMPLER",
)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


class Lost(Counter):
    """How many spans were dropped, by the reason."""

    def __call__(self, reason: str, count: int) -> None:
        self[reason] += count


def span_to(queue: SpanQueue, count: int = 1) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(queue)
    for number in range(count):
        provider.get_tracer("test").start_span(f"span {number}").end()


def traces_to(url: str, lost: Lost, **settings: object):
    tracer = open_tracer(tone_settings(otlp_endpoint=url, **settings), lost)
    assert tracer is not None
    return tracer


@pytest.mark.long
def test_what_sends_spans_is_not_imported_where_nobody_asks():
    sends = r"opentelemetry\.(?:sdk|exporter)|polyvox\.service\.telemetry\.(?:otlp_tracer|span_queue)"
    imports = re.compile(rf"^(?:from|import) (?:{sends})\b", re.MULTILINE)
    package = Path(tracing.__file__).parents[2]
    found = {path.name for path in package.rglob("*.py") if imports.search(path.read_text(encoding="utf-8"))}
    assert found == {"otlp_tracer.py", "span_queue.py"}
    code = (
        "import sys; from polyvox.config import Settings\n"
        "from polyvox.service.telemetry.tracer_choice import open_tracer\n"
        "assert open_tracer(Settings(), print) is None\n"
        "assert not {'opentelemetry.sdk', 'opentelemetry.exporter'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_without_the_extra_a_setting_is_an_error_and_a_variable_a_warning(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(UnavailableError, match="otel"):
        open_tracer(tone_settings(otlp_endpoint="http://127.0.0.1:4318"), Lost())
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    with capture_logs() as lines:
        assert open_tracer(tone_settings(), Lost()) is None
    assert [line["log_level"] for line in lines] == ["warning"]


@pytest.mark.parametrize(("name", "value"), [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")])
def test_the_standard_variables_turn_it_off(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert open_tracer(tone_settings(otlp_endpoint="http://127.0.0.1:4318"), Lost()) is None


@pytest.mark.parametrize(
    ("name", "path"),
    [("OTEL_EXPORTER_OTLP_ENDPOINT", "/v1/traces"), ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "/elsewhere")],
)
def test_the_standard_variables_name_the_collector_and_the_service(monkeypatch, name, path):
    with collector() as received:
        monkeypatch.setenv(name, received.url + ("" if path == "/v1/traces" else path))
        monkeypatch.setenv("OTEL_SERVICE_NAME", "speech-eu")
        tracer = open_tracer(tone_settings(), Lost())
        assert tracer is not None
        tracer.start("one", {}).end()
        tracer.close()
    assert received.paths == [path]
    assert received.resource["service.name"] == "speech-eu"


@pytest.mark.parametrize("ending", ["", "/", "/v1/traces"])
def test_the_setting_is_a_base_url_or_the_whole_one(ending):
    with collector() as received:
        tracer = traces_to(received.url + ending, lost := Lost())
        tracer.start("one", {}).end()
        tracer.close()
    assert (received.paths, lost) == (["/v1/traces"], {})


def test_a_share_of_requests_is_traced_unless_the_caller_has_decided():
    with collector() as received:
        tracer = traces_to(received.url, Lost(), trace_sample_ratio=0.0)
        for _ in range(20):
            tracer.start("of its own", {}).end()
        tracer.start("of a caller", {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}).end()
        tracer.close()
    assert [span.name for span in received.spans] == ["of a caller"]


def test_work_that_outlives_its_request_begins_a_trace_of_its_own():
    spans = KeptSpans()
    origin = tracing.TraceOrigin(span=spans.tracer.start("request", {}))
    with tracing.within(origin):
        origin.begin(spans.tracer, "within").end()
        assert origin.span is not None
        origin.span.end()
    origin.begin(spans.tracer, "behind").end()
    spans.tracer.close()
    assert trace_of(spans.one("within")) == trace_of(spans.one("request")) != trace_of(spans.one("behind"))


def test_what_does_not_fit_into_the_queue_is_dropped_and_counted():
    released = threading.Event()

    class Stuck(SpanExporter):
        def export(self, spans):
            released.wait(10)
            return SpanExportResult.SUCCESS

    queue = SpanQueue(Stuck(), lost := Lost(), size=100)
    span_to(queue, 250)
    assert lost == {"queue": 150}
    released.set()
    queue.shutdown()
    span_to(queue)
    assert lost == {"queue": 151}


def test_a_collector_that_refuses_costs_spans_which_are_counted_and_named_once(monkeypatch):
    monkeypatch.setattr(span_queue, "_BATCH", 5)
    with collector() as received, capture_logs() as lines:
        received.status = 400
        tracer = traces_to(received.url, lost := Lost())
        for _ in range(20):
            tracer.start("one", {}).end()
        tracer.close()
    assert (lost, received.requests) == ({"export": 20}, [])
    assert len([line for line in lines if line["log_level"] == "warning"]) == 1


@pytest.mark.long
def test_a_collector_that_says_nothing_holds_up_neither_speech_nor_the_close(monkeypatch):
    monkeypatch.setattr(span_queue, "_CLOSE_SECONDS", 0.2)
    with collector() as received:
        received.answering.clear()
        tracer = traces_to(received.url, lost := Lost())
        for _ in range(1_000):
            tracer.start("one", {}).end()
        tracer.close()
        assert lost["export"] >= 1_000 - 512


@pytest.mark.anyio
async def test_a_service_whose_collector_is_away_speaks_and_closes_and_counts(monkeypatch):
    service = tone_service(otlp_endpoint="http://127.0.0.1:9")  # nothing listens there
    monkeypatch.setattr(span_queue, "_CLOSE_SECONDS", 0.2)
    service.tracer = open_tracer(service.settings, service.metrics.spans_dropped)
    async with running(service):
        for _ in range(5):
            async with await service.open(
                SpeechRequest(Utterance("one two", "low"), door="test"), LOCAL_CALL
            ) as session:
                assert len([chunk async for chunk in session]) == 3
    value = service.metrics.registry.get_sample_value
    assert value("polyvox_dropped_spans_total", {"reason": "export"}) == 5 * 6
