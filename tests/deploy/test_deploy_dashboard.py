"""Dashboard, alerts and scraping: queries parse, and every metric and label in them is one of the server's."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from helpers.tables import each_row
from polyvox.errors import STATUS
from polyvox.runtime.gpu_usage import GpuUsage
from polyvox.service.telemetry.metrics import Metrics

ROOT = Path(__file__).parents[2] / "deploy"
DASHBOARD = json.loads((ROOT / "grafana/dashboards/polyvox.json").read_text(encoding="utf-8"))
PANELS: list[dict[str, Any]] = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
RULES = yaml.safe_load((ROOT / "prometheus/polyvox.rules.yml").read_text(encoding="utf-8"))["groups"][0]["rules"]
COMPOSE = yaml.safe_load((ROOT / "compose/monitoring.yaml").read_text(encoding="utf-8"))["services"]
SCRAPED = {"up": {"job", "instance"}}
"""What Prometheus itself adds."""

QUERIES = [
    *((panel["title"], target["expr"]) for panel in PANELS for target in panel["targets"]),
    *((rule["alert"], rule["expr"]) for rule in RULES),
]
each_query = each_row("query", [query for _, query in QUERIES])


@pytest.fixture(scope="module")
def known() -> dict[str, set[str]]:
    """Every series that a server can have, with its labels: as declared, whether or not anything was counted yet."""
    metrics = Metrics()
    metrics.gpus.latest = (GpuUsage(0, "GPU", used_bytes=1, total_bytes=2, utilization=0.5),)
    found = {name: set(labels) for name, labels in _declared(metrics)}
    for family in text_string_to_metric_families(metrics.render().decode()):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return SCRAPED | {name: labels | {"job", "instance"} for name, labels in found.items()}


def _declared(metrics: Metrics) -> Iterator[tuple[str, tuple[str, ...]]]:
    for collector in metrics.registry._collector_to_names:
        labels = getattr(collector, "_labelnames", ())
        for name in metrics.registry._collector_to_names[collector]:
            yield name, (*labels, "le") if name.endswith("_bucket") else labels


def selectors(query: str) -> list[tuple[str, set[str]]]:
    """Names and matched labels of the series that a query reads."""
    tree, found = [promql_parser.parse(parsable(query))], []
    while tree:
        node = tree.pop()
        if isinstance(node, promql_parser.VectorSelector):
            found.append((node.name, {matcher.name for matcher in node.matchers.matchers}))
        for child in ("expr", "lhs", "rhs", "vs", "args", "vector_selector"):
            below = getattr(node, child, None)
            tree.extend(below if isinstance(below, list) else [] if below is None else [below])
    return found


def parsable(query: str) -> str:
    return query.replace("$__rate_interval", "5m")


@each_query
def test_a_query_parses_and_reads_only_series_that_the_server_has(query: str, known: dict[str, set[str]]) -> None:
    read = selectors(query)
    assert read, "it reads nothing"
    assert {name for name, _ in read} <= known.keys()
    for name, labels in read:
        assert labels <= known[name], name


@each_query
def test_what_a_query_groups_by_is_a_label_of_what_it_reads(query: str, known: dict[str, set[str]]) -> None:
    grouped = {label for labels in re.findall(r"by \(([^)]*)\)", query) for label in labels.split(", ")}
    assert grouped <= set().union(*(known[name] for name, _ in selectors(query)))


def test_a_name_that_the_server_does_not_have_would_be_noticed(known: dict[str, set[str]]) -> None:
    assert selectors('sum by (le) (rate(polyvox_nothing_bucket{instance=~"$instance"}[$__rate_interval])) / 2') == [
        ("polyvox_nothing_bucket", {"instance"})
    ]
    assert "polyvox_nothing_bucket" not in known
    with pytest.raises(ValueError, match="parenthesis"):
        promql_parser.parse("sum(rate(polyvox_requests_total[5m])")


def test_the_dashboard_has_what_an_operator_asks_for() -> None:
    wanted = {
        "First audio": {"polyvox_time_to_first_audio_seconds_bucket"},
        "Under-runs per minute of speech": {"polyvox_underruns_total", "polyvox_audio_seconds_total"},
        "Sessions and queue": {"polyvox_active_sessions", "polyvox_queue_depth", "polyvox_session_limit"},
        "Refused with 429": {"polyvox_refused_total"},
        "Batch width": {"polyvox_stage_batch_size_sum", "polyvox_stage_batch_size_count"},
        "Speech by key": {"polyvox_key_audio_seconds_total"},
        "Characters in the last day by key": {"polyvox_key_characters_total"},
        "GPU memory": {"polyvox_gpu_memory_used_bytes", "polyvox_gpu_memory_total_bytes"},
        "GPU utilisation": {"polyvox_gpu_utilization_ratio"},
        "Faults of stores and traces": {
            "polyvox_voice_store_failures_total",
            "polyvox_limits_store_failures_total",
            "polyvox_dropped_spans_total",
            "polyvox_key_store_available",
        },
    }
    shown = {
        panel["title"]: {name for target in panel["targets"] for name, _ in selectors(target["expr"])}
        for panel in PANELS
    }
    assert {title: shown.get(title) for title in wanted} == wanted
    [first] = [panel for panel in PANELS if panel["title"] == "First audio"]
    assert [target["expr"].split(",")[0] for target in first["targets"]] == [
        "histogram_quantile(0.5",
        "histogram_quantile(0.95",
    ]


def test_panels_have_their_own_numbers_and_do_not_overlap() -> None:
    everything = DASHBOARD["panels"]
    assert len({panel["id"] for panel in everything}) == len(everything)
    taken: set[tuple[int, int]] = set()
    for panel in everything:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells


def test_the_dashboard_asks_the_source_that_is_provisioned() -> None:
    [source] = yaml.safe_load((ROOT / "grafana/provisioning/datasources/prometheus.yaml").read_text())["datasources"]
    asked = {target["datasource"]["uid"] for panel in PANELS for target in panel["targets"]}
    asked |= {variable["datasource"]["uid"] for variable in DASHBOARD["templating"]["list"]}
    assert asked == {source["uid"]}
    assert source["url"] == "http://prometheus:9090"
    [provider] = yaml.safe_load((ROOT / "grafana/provisioning/dashboards/polyvox.yaml").read_text())["providers"]
    mounted = {mount.split(":")[1]: mount.split(":")[0] for mount in COMPOSE["grafana"]["volumes"]}
    assert mounted[provider["options"]["path"]] == "./deploy/grafana/dashboards"


def test_the_variables_of_the_dashboard_read_series_that_exist(known: dict[str, set[str]]) -> None:
    for variable in DASHBOARD["templating"]["list"]:
        [(name, label)] = re.findall(r"label_values\((\w+), (\w+)\)", variable["definition"])
        assert label in known[name]
        assert variable["query"]["query"] == variable["definition"]


def test_an_alert_says_what_happened_and_what_to_do() -> None:
    for rule in RULES:
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert all(rule["annotations"][part].endswith(".") for part in ("summary", "description"))
        for label in re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]):
            grouped = re.findall(r"by \(([^)]*)\)", rule["expr"])
            assert not grouped or any(label in group.split(", ") for group in grouped), rule["alert"]


def test_the_page_lists_every_alert_and_no_other() -> None:
    page = (ROOT.parent / "docs/deploy/containers.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(Polyvox\w+)` \|", page, re.MULTILINE)
    assert sorted(listed) == sorted(rule["alert"] for rule in RULES)


def test_alerts_name_only_kinds_of_failure_that_there_are() -> None:
    codes = {status.code for status in STATUS.values()}
    for rule in RULES:
        for kinds in re.findall(r'kind=~"([^"]*)"', rule["expr"]):
            assert set(kinds.split("|")) <= codes


def test_prometheus_asks_the_server_with_the_key_that_compose_gives_it() -> None:
    scraping = yaml.safe_load((ROOT / "prometheus/prometheus.yml").read_text())
    [job] = scraping["scrape_configs"]
    [secret] = COMPOSE["prometheus"]["secrets"]
    assert job["authorization"]["credentials_file"] == f"/run/secrets/{secret}"
    assert job["static_configs"] == [{"targets": ["polyvox:8880"]}]
    assert [(ROOT / "prometheus" / name).is_file() for name in scraping["rule_files"]] == [True]
