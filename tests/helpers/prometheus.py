"""A real Prometheus with the shipped rules, which scrapes one server every second."""

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
WAIT_SECONDS = 60.0


class Prometheus:
    """Its answers to queries, and the state of its alerts."""

    def __init__(self, client: httpx.Client, log: Path) -> None:
        self._client = client
        self._log = log

    def ask(self, query: str) -> list[dict[str, Any]]:
        """The samples that a query finds now."""
        response = self._client.get("/api/v1/query", params={"query": query})
        if response.status_code == httpx.codes.SERVICE_UNAVAILABLE:
            raise httpx.TransportError("it is still starting")
        assert response.status_code == 200, f"{query}: {response.text}"
        return list(response.json()["data"]["result"])

    def rules(self) -> list[dict[str, Any]]:
        """All rules as they were last evaluated."""
        groups = self._client.get("/api/v1/rules").json()["data"]["groups"]
        return [rule for group in groups for rule in group["rules"]]

    def firing(self) -> set[str]:
        """The names of the alerts that fire."""
        return {rule["name"] for rule in self.rules() if rule["state"] == "firing"}

    def wait_for(self, happens: Callable[[], object]) -> None:
        """Ask again and again until it is so."""
        until = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < until:
            with contextlib.suppress(httpx.TransportError):
                if happens():
                    return
            time.sleep(0.1)
        raise AssertionError(f"it did not come about; Prometheus says:\n{self._log.read_text()[-4_000:]}")


def _configuration(folder: Path, target: str, key: str) -> Path:
    """The shipped configuration for this target and key, without a quarter of a minute between two looks."""
    found = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    found["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    [job] = found["scrape_configs"]
    (folder / "key").write_text(key)
    job["authorization"]["credentials_file"] = str(folder / "key")
    job["static_configs"] = [{"targets": [target]}]
    shutil.copy(DEPLOY / "prometheus/polyvox.rules.yml", folder)
    (folder / "prometheus.yml").write_text(yaml.safe_dump(found))
    return folder / "prometheus.yml"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextlib.contextmanager
def scraping(url: str, key: str, folder: Path) -> Iterator[Prometheus]:
    """A Prometheus that looks at the server of a URL, until the block ends."""
    address = f"127.0.0.1:{_free_port()}"
    config = _configuration(folder, url.removeprefix("http://"), key)
    options = [f"--config.file={config}", f"--storage.tsdb.path={folder}/data", f"--web.listen-address={address}"]
    log = folder / "log"
    with log.open("wb") as file:
        process = subprocess.Popen(["prometheus", *options], stdout=file, stderr=file)
    try:
        with httpx.Client(base_url=f"http://{address}", timeout=10) as client:
            yield Prometheus(client, log)
    finally:
        process.terminate()
        process.wait(30)
