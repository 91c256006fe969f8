"""The server on a real Ray Serve: started once by its command, used over HTTP, hurt, and stopped without a trace.

The tests share one server and run in their order: the last one stops it.
"""

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from helpers.traces import HEADERS, TRACE, Collector, collector

START_SECONDS = 240.0
STOP_SECONDS = 120.0
DOORS = 2
BODY = {"model": "wren", "input": "Good morning. How are you today?", "voice": "af_heart", "response_format": "pcm"}
OF_RAY = re.compile(r"^(\(\S+ pid=\d+\) )?(INFO|WARNING) \d{4}-|^\d{4}-\S+ \S+\s(INFO|WARNING) |Traceback", re.M)
"""A line of Ray's own, or anybody's traceback, on the console."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs: its address, its process, the file of its console, and the spans that it sent."""

    url: str
    process: subprocess.Popen[bytes]
    console: Path
    collector: Collector

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=60)

    def speech(self, **fields: str) -> httpx.Response:
        """Ask over a connection of its own, which any of the doors may answer."""
        return httpx.post(f"{self.url}/v1/audio/speech", json=BODY | fields, timeout=60)

    def metrics(self, name: str) -> dict[str, float]:
        """The sums of a metric by door process."""
        found = Counter[str]()
        for family in text_string_to_metric_families(httpx.get(f"{self.url}/metrics", timeout=60).text):
            for sample in family.samples:
                if sample.name == name:
                    found[sample.labels["replica"]] += sample.value
        return dict(found)


@contextmanager
def polyvox_on_ray(folder: Path, **variables: str):
    """The address of `polyvox serve --ray`, and its process, which is killed with all its own if it still runs."""
    command = [sys.executable, "-m", "polyvox", "serve", "--ray", "--port", "0"]
    environment = {**os.environ, "POLYVOX_DATA_DIR": str(folder), "POLYVOX_RAY_THREADS": "1", **variables}
    environment.pop("RAY_ADDRESS", None)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, env=environment, start_new_session=True, cwd=folder
        )
    try:
        yield _address(process), process
    finally:
        for pid in descendants(process.pid) if process.poll() is None else ():
            os.kill(pid, signal.SIGKILL)
        process.communicate()


def _address(process: subprocess.Popen[bytes]) -> str:
    printed, until = b"", time.monotonic() + START_SECONDS
    while (left := until - time.monotonic()) > 0 and select.select([process.stdout], [], [], left)[0]:
        piece = os.read(process.stdout.fileno(), 4096)
        if not piece:
            break
        printed += piece
        if found := re.search(rb"speaks at (http://[^\s]+)", printed):
            return found.group(1).decode()
    raise AssertionError(f"it did not start: {printed[-2000:]!r}")


def descendants(pid: int) -> list[int]:
    """A process and all below it; Ray's workers have sessions of their own."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").glob("*/children"))
        children = [int(child) for path in tasks for child in path.read_text().split()]
    except OSError:
        return []  # it ended meanwhile
    return [pid, *(member for child in children for member in descendants(child))]


def title(pid: int) -> str:
    """The command line of a process; none of one that has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def wait_until(condition: Callable[[], object], seconds: float, complaint: str) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, complaint
        time.sleep(0.2)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("ray")
    settings = {"POLYVOX_MODELS": "wren", "POLYVOX_DEFAULT_MODEL": "wren", "POLYVOX_RAY_MAX_REPLICAS": "1"}
    settings["POLYVOX_RAY_INGRESS_REPLICAS"] = str(DOORS)
    with (
        collector() as received,
        polyvox_on_ray(folder, POLYVOX_OTLP_ENDPOINT=received.url, **settings) as (url, process),
    ):
        yield Server(url, process, folder / "log", received)


def test_the_console_has_no_line_of_rays_after_a_start(server: Server) -> None:
    assert not OF_RAY.search(server.console.read_text())


def test_it_streams_and_refuses_as_the_plain_server_does(server: Server) -> None:
    with server.client() as client:
        with client.stream("POST", "/v1/audio/speech", json=BODY, headers=HEADERS) as answer:
            pieces = [len(piece) for piece in answer.iter_raw()]
        assert answer.status_code == 200
        assert len(pieces) > 1
        assert sum(pieces) / 48_000 == pytest.approx(2.5, abs=1.5)

        refused = client.post("/v1/audio/speech", json=BODY | {"voice": "nobody"})
        assert refused.status_code == 400
        assert refused.json()["error"]["code"] == "voice_not_found"
        phonemes = client.post("/dev/phonemize", json={"text": "Hello.", "language": "a"})
        assert phonemes.json()["phonemes"]

        health = client.post("/v1/model/cosyvoice/healthcheck").json()
        assert (health["status"], health["device"]) == ("healthy", "cpu")
        assert all(re.fullmatch("[0-9a-f]{16,}", health[name]) for name in ("ray_actor_id", "ray_node_id"))


def test_doors_and_engine_send_spans_of_the_callers_trace_the_engines_below_the_sessions(server: Server) -> None:
    names = {"replica wren", "speech wren", "POST /v1/audio/speech"}
    received = server.collector
    wait_until(lambda: names <= {span.name for span in received.spans}, 30, "spans are missing")
    mine = {span.name: span for span in received.spans if span.trace_id.hex() == TRACE}
    speech, replica = mine["speech wren"], mine["replica wren"]
    assert speech.parent_span_id == mine["POST /v1/audio/speech"].span_id
    assert replica.parent_span_id == speech.span_id
    assert {"polyvox.ray.actor", "polyvox.ray.node"} <= {item.key for item in replica.attributes}


def test_a_client_who_leaves_is_not_spoken_to_any_more(server: Server) -> None:
    with server.client() as client:
        with client.stream("POST", "/v1/audio/speech", json=BODY | {"input": BODY["input"] * 100}) as answer:
            next(answer.iter_raw())
        sessions = "polyvox_active_sessions"
        wait_until(lambda: not sum(server.metrics(sessions).values()), 30, "it is still being spoken to")


def test_whichever_door_answers_a_scrape_has_the_requests_of_all(server: Server) -> None:
    before = server.metrics("polyvox_requests_total")
    assert len(before) == DOORS
    for _ in range(6):
        assert server.speech(input="Good morning.").status_code == 200
    for _ in range(4):
        after = server.metrics("polyvox_requests_total")
        assert after.keys() == before.keys()
        assert sum(after.values()) == sum(before.values()) + 6


def test_who_asks_after_a_kill_of_the_only_process_is_told_how_long_and_then_heard(server: Server) -> None:
    [victim] = [pid for pid in descendants(server.process.pid) if "ServeReplica:polyvox:wren" in title(pid)]
    os.kill(victim, signal.SIGKILL)
    began = time.monotonic()
    answer = server.speech()
    print(f"\n{answer.status_code} after {time.monotonic() - began:.1f} s: {answer.text[:200]}")
    assert answer.status_code == 503
    assert time.monotonic() - began < 10
    assert int(answer.headers["Retry-After"]) >= 3
    wait_until(lambda: server.speech().status_code == 200, START_SECONDS, "it is not replaced")
    print(f"heard again after {time.monotonic() - began:.1f} s")


def test_a_stop_answers_503_until_the_port_is_closed_and_the_open_stream_is_whole(server: Server) -> None:
    text = BODY["input"] * 30
    whole = len(server.speech(input=text).content)
    console, family = server.console.stat().st_size, descendants(server.process.pid)
    assert len(family) > 2 + DOORS
    statuses = Counter[object]()
    with server.client() as client:
        with client.stream("POST", "/v1/audio/speech", json=BODY | {"input": text}) as answer:
            pieces = answer.iter_raw()
            heard = len(next(pieces))
            server.process.send_signal(signal.SIGTERM)
            wait_until(lambda: server.speech().status_code == 503, 20, "new requests are still taken")
            for piece in pieces:
                heard += len(piece)
                refused = server.speech() if statuses.total() < 20 else None
                if refused is not None:
                    statuses[refused.status_code, refused.headers.get("Retry-After")] += 1
        assert heard == whole
    try:
        while server.process.poll() is None:
            refused = server.speech()
            statuses[refused.status_code, refused.headers.get("Retry-After")] += 1
    except httpx.TransportError as error:
        print(f"\nat the end: {type(error).__name__}")
    print(f"\nduring the drain: {dict(statuses)}")
    assert statuses.keys() == {(503, "5")}
    assert server.process.wait(STOP_SECONDS) == 0
    wait_until(lambda: not any(map(title, family)), 30, "processes are left")
    with server.console.open("rb") as log:
        log.seek(console)
        assert not OF_RAY.search(log.read().decode())
