"""The server's metrics."""

import re
from pathlib import Path

import numpy as np
import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

import polyvox
from polyvox.errors import STATUS, OverloadedError, RefusalReason, StalledError, TextError
from polyvox.runtime.stage import BatchReport
from polyvox.service.jobs.record import JobStatus
from polyvox.service.session import SessionState
from polyvox.service.telemetry import known_labels
from polyvox.service.telemetry.metrics import UNKNOWN_MODEL, Metrics
from polyvox.types import AudioChunk

SOURCE = Path(polyvox.__file__).parent


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def test_nothing_is_registered_globally(metrics: Metrics) -> None:
    other = Metrics()
    metrics.requested("openai", "tone")
    assert other.registry.get_sample_value("polyvox_requests_total", {"door": "openai", "model": "tone"}) is None
    assert REGISTRY.get_sample_value("polyvox_requests_total", {"door": "openai", "model": "tone"}) is None


def test_a_scraper_can_read_all_of_it(metrics: Metrics) -> None:
    metrics.watch(queue_depth=lambda: 3, active=lambda: 2, limit=lambda: 8, expected_wait=lambda: 0.5)
    metrics.requested("openai", "tone")
    metrics.failed(OverloadedError("Full.", retry_after=1.0))
    metrics.first_audio("tone", 0.2)
    metrics.chunk("tone", AudioChunk(np.zeros(12_000, np.float32), 24_000, 0, 0))
    metrics.ended("tone", "done", 1.5, 0.4)
    metrics.batch(BatchReport("decode", 4, 0.01, 0.02))
    families = {family.name for family in text_string_to_metric_families(metrics.render().decode())}
    assert families >= {
        "polyvox_requests",
        "polyvox_failures",
        "polyvox_time_to_first_audio_seconds",
        "polyvox_real_time_factor",
        "polyvox_audio_seconds",
        "polyvox_chunks",
        "polyvox_queue_depth",
        "polyvox_queue_seconds",
        "polyvox_expected_wait_seconds",
        "polyvox_session_limit",
        "polyvox_refused",
        "polyvox_active_sessions",
        "polyvox_session_seconds",
        "polyvox_stage_batch_size",
        "polyvox_stage_wait_seconds",
        "polyvox_stage_run_seconds",
    }
    assert metrics.content_type.startswith("text/plain")


def test_every_kind_reason_and_limit_that_is_known_is_shown_as_0_before_it_happens(metrics: Metrics) -> None:
    metrics.render()
    shown = metrics.registry.get_sample_value
    for name, label, values in (
        ("polyvox_failures_total", "kind", [status.code for status in STATUS.values()]),
        ("polyvox_refused_total", "reason", list(RefusalReason)),
        ("polyvox_refused_connections_total", "limit", known_labels.CONNECTION_LIMITS),
        ("polyvox_refused_bodies_total", "limit", known_labels.BODY_LIMITS),
        ("polyvox_dropped_spans_total", "reason", known_labels.SPAN_LOSSES),
        ("polyvox_speech_cache_events_total", "event", known_labels.SPEECH_CACHE_EVENTS),
        ("polyvox_session_seconds_count", "state", known_labels.SESSION_ENDS),
        ("polyvox_ended_jobs_total", "status", known_labels.JOB_ENDS),
    ):
        assert {value: shown(name, {label: value}) for value in values} == dict.fromkeys(values, 0), name
    metrics.expect(["openai"], ["tone"])
    for model in ("tone", UNKNOWN_MODEL):
        assert shown("polyvox_requests_total", {"door": "openai", "model": model}) == 0
    for event in known_labels.MODEL_EVENTS:
        assert shown("polyvox_model_events_total", {"model": "tone", "event": event}) == 0


def test_the_known_labels_are_those_that_the_code_counts() -> None:
    for folder, call, values in (
        ("server", r"(?:reports\.closed|_make_room|self\._close)\(", known_labels.CONNECTION_LIMITS),
        ("api/dialects/wyoming", r"self\._report\(", known_labels.CONNECTION_LIMITS),
        (".", r"count_refusal\(", known_labels.BODY_LIMITS),
        ("service/telemetry", r"_on_dropped\(", known_labels.SPAN_LOSSES),
        ("service/cache", r"metrics\.speech_cache\(", known_labels.SPEECH_CACHE_EVENTS),
        ("service/registry", r"self\._events\(slot\.name, ", known_labels.MODEL_EVENTS),
    ):
        code = "\n".join(path.read_text(encoding="utf-8") for path in sorted((SOURCE / folder).rglob("*.py")))
        lines = re.findall(rf"{call}(.*)", code)
        assert lines, call
        named = {word for line in lines for word in re.findall(r'"([a-z_]+)"', line)}
        assert named <= set(values), call
    assert {JobStatus.CANCELLED, JobStatus.DONE, JobStatus.FAILED, JobStatus.PAUSED} == set(known_labels.JOB_ENDS)
    assert {SessionState.CANCELLED, SessionState.DONE, SessionState.FAILED} == set(known_labels.SESSION_ENDS)


def test_batches_that_were_stopped_are_counted_by_stage(metrics: Metrics) -> None:
    for stopped in (True, False, True):
        metrics.batch(BatchReport("kokoro", 1, 0.0, 0.02, stopped=stopped))
    assert metrics.registry.get_sample_value("polyvox_stopped_inferences_total", {"stage": "kokoro"}) == 2


def test_the_slots_of_a_stage_are_reported_also_when_nothing_runs(metrics: Metrics) -> None:
    def value(name: str) -> float | None:
        return metrics.registry.get_sample_value(name, {"stage": "decode"})

    metrics.batch(BatchReport("decode", 3, 0.0, 0.02, running=5, slots=8))
    assert (value("polyvox_stage_busy"), value("polyvox_stage_places")) == (5, 8)
    metrics.batch(BatchReport("decode", 0, 0.0, 0.0, running=0, slots=8))
    assert (value("polyvox_stage_busy"), value("polyvox_stage_batch_size_count")) == (0, 1)


def test_gauges_follow_their_source(metrics: Metrics) -> None:
    line = [1, 2, 3]
    metrics.watch(queue_depth=lambda: len(line), active=lambda: 0, limit=lambda: 8, expected_wait=lambda: 0.0)
    assert metrics.registry.get_sample_value("polyvox_queue_depth") == 3
    line.clear()
    assert metrics.registry.get_sample_value("polyvox_queue_depth") == 0


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OverloadedError("Full.", retry_after=1.0), "overloaded"),
        (TextError("Empty."), "invalid_text"),
        (StalledError("Gone."), "client_stalled"),
    ],
)
def test_failures_are_counted_by_their_code(metrics: Metrics, error: Exception, kind: str) -> None:
    metrics.failed(error)
    assert metrics.registry.get_sample_value("polyvox_failures_total", {"kind": kind}) == 1


def test_there_is_one_failure_label_per_error_class(metrics: Metrics) -> None:
    for error in STATUS:
        metrics.failed(
            error("Something.", retry_after=1.0) if issubclass(error, OverloadedError) else error("Something.")
        )
    assert len(re.findall(r"^polyvox_failures_total", metrics.render().decode(), re.M)) == len(STATUS)


def test_a_session_without_audio_has_no_real_time_factor(metrics: Metrics) -> None:
    metrics.ended("tone", "failed", 0.1, None)
    assert metrics.registry.get_sample_value("polyvox_real_time_factor_count", {"model": "tone"}) is None
    assert metrics.registry.get_sample_value("polyvox_session_seconds_count", {"state": "failed"}) == 1
