"""A real Prometheus with the shipped rules watches a server from its start on: the first fault of each kind is seen."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from helpers.fakes import ToneEngine, tone_service
from helpers.prometheus import DEPLOY, Prometheus, scraping
from helpers.serving import served
from polyvox.errors import OverloadedError, RefusalReason
from polyvox.service.speech import SpeechService

KEY = "a-key-for-prometheus"
BURST = 36
UNSEEN = {
    "Slots of the language model",
    "Batch width",
    "GPU memory",
    "GPU utilisation",
    "Jobs",
    "Voices",
    "Refused by a limit of the key",
}
"""Panels that a server without a GPU, batches, jobs, keys with limits and recordings may leave empty."""
SEEN_AT_ONCE = {
    "PolyvoxFailing",
    "PolyvoxVoiceStoreFailing",
    "PolyvoxLimitsStoreFailing",
    "PolyvoxSpansDropped",
    "PolyvoxShareRefused",
}

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not shutil.which("prometheus") and os.environ.get("MONITORING_TESTS") != "required",
        reason="wants Prometheus: apt-get install prometheus",
    ),
]


@dataclass(frozen=True, slots=True)
class Watched:
    """A Prometheus after the first faults of a server, and the alerts that fired before them."""

    prometheus: Prometheus
    fired_before: set[str]


def request(url: str) -> dict[str, Any]:
    body = {"model": "tone", "input": "Hello.", "response_format": "pcm"}
    headers = {"Authorization": f"Bearer {KEY}"}
    return {"url": f"{url}/v1/audio/speech", "json": body, "headers": headers, "timeout": 60}


def burst(url: str, engine: ToneEngine) -> None:
    """The server's first refusals, while one listener has its only slot."""
    engine.chunks, engine.delay = 10_000, 0.05
    with httpx.stream("POST", **request(url)) as listener:
        assert listener.status_code == 200
        assert {httpx.post(**request(url)).status_code for _ in range(BURST)} == {429}
    engine.chunks, engine.delay = 3, 0.0


def is_idle(service: SpeechService) -> bool:
    """Return whether the slot of whoever has left is free again."""
    return service.metrics.registry.get_sample_value("polyvox_active_sessions") == 0


def break_once(url: str, engine: ToneEngine, service: SpeechService) -> None:
    """One fault of each kind; those of the stores and the collector as their parts report them."""
    engine.fail_at = 0
    assert httpx.post(**request(url)).status_code == 500
    service.metrics.spans_dropped("export", 1)
    service.metrics.voice_store_failed()
    service.metrics.limits_lost()
    for _ in range(BURST):
        service.metrics.failed(OverloadedError("More than your share.", retry_after=1.0, reason=RefusalReason.SHARE))


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("monitoring")
    engine = ToneEngine()
    service = tone_service(engine, api_keys=[KEY], data_dir=folder / "data", max_sessions=1, max_queue=0)
    with served(service) as url, scraping(url, KEY, folder) as prometheus:
        assert httpx.post(**request(url)).status_code == 200
        prometheus.wait_for(lambda: prometheus.ask("polyvox_audio_seconds_total > 0"))
        prometheus.wait_for(lambda: all(rule["health"] != "unknown" for rule in prometheus.rules()))
        fired = prometheus.firing()
        prometheus.wait_for(lambda: is_idle(service))
        burst(url, engine)
        prometheus.wait_for(lambda: is_idle(service))
        break_once(url, engine, service)
        prometheus.wait_for(lambda: prometheus.ask(f'polyvox_refused_total{{reason="queue"}} >= {BURST}'))
        prometheus.wait_for(lambda: prometheus.firing() >= SEEN_AT_ONCE)
        yield Watched(prometheus, fired)


def test_every_rule_is_healthy_and_none_fires_for_a_server_that_is_well(watched: Watched) -> None:
    unhealthy = {rule["name"]: rule.get("lastError") for rule in watched.prometheus.rules() if rule["health"] != "ok"}
    assert unhealthy == {}
    assert watched.fired_before == set()


def test_the_first_fault_of_each_kind_fires_its_alert_and_no_other(watched: Watched) -> None:
    assert watched.prometheus.firing() == SEEN_AT_ONCE


def test_the_first_burst_of_refusals_has_a_rate(watched: Watched) -> None:
    [refused] = watched.prometheus.ask('increase(polyvox_refused_total{reason="queue"}[1m])')
    assert float(refused["value"][1]) > BURST / 2


def test_every_panel_of_the_dashboard_is_answered(watched: Watched) -> None:
    panels = json.loads((DEPLOY / "grafana/dashboards/polyvox.json").read_text())["panels"]
    empty = set()
    for panel in panels:
        queries = [
            target["expr"].replace("$__rate_interval", "1m").replace("$instance", ".*").replace("$model", ".*")
            for target in panel.get("targets", ())
        ]
        if queries and not sum(len(watched.prometheus.ask(query)) for query in queries):
            empty.add(panel["title"])
    assert empty <= UNSEEN


def test_promtool_finds_the_alerts_right_and_the_files_without_fault() -> None:
    for command in (
        ("check", "rules", DEPLOY / "prometheus/polyvox.rules.yml"),
        ("check", "config", "--syntax-only", DEPLOY / "prometheus/prometheus.yml"),
        ("test", "rules", Path(__file__).with_name("alerts.yml")),
    ):
        found = subprocess.run(["promtool", *command], capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stdout + found.stderr
