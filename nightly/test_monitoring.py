"""A real Prometheus with the shipped rules scrapes a real server, and answers every query of the dashboard."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from polyvox.bench.process import server_process
from polyvox.installation import load_settings

DEPLOY = Path(__file__).parents[1] / "deploy"
KEY = "a-key-for-prometheus"
WAIT_SECONDS = 90.0

pytestmark = pytest.mark.skipif(not shutil.which("prometheus"), reason="wants Prometheus: apt-get install prometheus")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def configuration(folder: Path, target: str) -> Path:
    """The shipped configuration, with this target and key, and without a quarter of a minute between two looks."""
    found = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    found["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    [job] = found["scrape_configs"]
    (folder / "key").write_text(KEY)
    job["authorization"]["credentials_file"] = str(folder / "key")
    job["static_configs"] = [{"targets": [target]}]
    shutil.copy(DEPLOY / "prometheus/polyvox.rules.yml", folder)
    (folder / "prometheus.yml").write_text(yaml.safe_dump(found))
    return folder / "prometheus.yml"


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A Prometheus that has looked at a server that has spoken."""
    folder = tmp_path_factory.mktemp("prometheus")
    arguments = ["serve", "--port", "0", "--models-dir", str(load_settings().models_dir), "--model", "wren"]
    with server_process(arguments, {"POLYVOX_API_KEYS": KEY}) as server:
        address = f"127.0.0.1:{free_port()}"
        config = configuration(folder, server.url.removeprefix("http://"))
        options = [f"--config.file={config}", f"--storage.tsdb.path={folder}/data", f"--web.listen-address={address}"]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(["prometheus", *options], stdout=log, stderr=log)
        try:
            with httpx.Client(base_url=f"http://{address}", timeout=10) as client:
                _wait_for_scrapes(client, server.url, folder / "log")
                yield client
        finally:
            process.terminate()
            process.wait(30)


def _wait_for_scrapes(client: httpx.Client, server: str, log: Path) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        body = {"model": "wren", "input": "Hello.", "response_format": "pcm"}
        spoken = httpx.post(
            f"{server}/v1/audio/speech", json=body, headers={"Authorization": f"Bearer {KEY}"}, timeout=60
        )
        assert spoken.status_code == 200, spoken.text
        try:
            if answered(client, "rate(polyvox_time_to_first_audio_seconds_count[1m])"):
                return
        except httpx.TransportError:
            pass  # it is still starting
        time.sleep(1.0)
    raise AssertionError(log.read_text())


def answered(client: httpx.Client, query: str) -> list[object]:
    response = client.get("/api/v1/query", params={"query": query})
    assert response.status_code == 200, f"{query}: {response.text}"
    return list(response.json()["data"]["result"])


def test_every_query_of_the_dashboard_is_answered(prometheus: httpx.Client) -> None:
    panels = json.loads((DEPLOY / "grafana/dashboards/polyvox.json").read_text())["panels"]
    shown = {}
    for panel in panels:
        for target in panel.get("targets", ()):
            query = target["expr"].replace("$__rate_interval", "1m").replace("$instance", ".*").replace("$model", ".*")
            shown[panel["title"]] = shown.get(panel["title"], 0) + len(answered(prometheus, query))
    print(json.dumps(shown))
    for title in (
        "First audio",
        "Real-time factor",
        "Sessions and queue",
        "Batch width",
        "Under-runs per minute of speech",
        "Requests",
    ):
        assert shown[title] > 0, title


def test_every_rule_is_healthy_and_none_fires_for_a_server_that_is_well(prometheus: httpx.Client) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while True:
        [group] = prometheus.get("/api/v1/rules").json()["data"]["groups"]
        if all(rule["health"] != "unknown" for rule in group["rules"]) or time.monotonic() > until:
            break
        time.sleep(0.5)
    assert {rule["name"]: rule.get("lastError", "") for rule in group["rules"] if rule["health"] != "ok"} == {}
    assert [rule["name"] for rule in group["rules"] if rule["state"] == "firing"] == []


@pytest.mark.parametrize("command", [("check", "rules"), ("check", "config", "--syntax-only")])
def test_promtool_finds_no_fault(command: tuple[str, ...]) -> None:
    file = "polyvox.rules.yml" if "rules" in command else "prometheus.yml"
    found = subprocess.run(
        ["promtool", *command, DEPLOY / "prometheus" / file], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
