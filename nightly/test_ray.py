"""The server on a real Ray Serve: started by its command, used over HTTP, and stopped without a trace."""

import os
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from helpers.traces import HEADERS, TRACE, Collector, collector

START_SECONDS = 240.0
STOP_SECONDS = 120.0
BODY = {"model": "kokoro", "input": "Good morning. How are you today?", "voice": "af_heart", "response_format": "pcm"}


@contextmanager
def polyvox_on_ray(folder: Path, **variables: str):
    """The address of `polyvox serve --ray`, and its process; whatever is left of its group in the end is killed."""
    command = [sys.executable, "-m", "polyvox", "serve", "--ray", "--port", "0"]
    environment = os.environ | {"POLYVOX_DATA_DIR": str(folder), "POLYVOX_RAY_THREADS": "1"} | variables
    environment.pop("RAY_ADDRESS", None)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, env=environment, start_new_session=True, cwd=folder
        )
    try:
        yield _address(process), process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
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


def members(group: int) -> list[str]:
    """The processes that are left of a group."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(stat.parent.name)
    return found


def check_trace(received: Collector) -> None:
    """Doors and engine, two processes, have sent spans of the caller's trace, the engine's below the session's."""
    until = time.monotonic() + 30
    while not {"replica kokoro", "speech kokoro", "POST /v1/audio/speech"} <= {span.name for span in received.spans}:
        assert time.monotonic() < until, [span.name for span in received.spans]
        time.sleep(0.2)
    mine = {span.name: span for span in received.spans if span.trace_id.hex() == TRACE}
    speech, replica = mine["speech kokoro"], mine["replica kokoro"]
    assert speech.parent_span_id == mine["POST /v1/audio/speech"].span_id
    assert replica.parent_span_id == speech.span_id
    assert {"polyvox.ray.actor", "polyvox.ray.node"} <= {item.key for item in replica.attributes}


def test_it_streams_refuses_lets_go_and_leaves_nothing_behind(tmp_path):
    with (
        collector() as received,
        polyvox_on_ray(tmp_path, POLYVOX_OTLP_ENDPOINT=received.url) as (url, process),
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        with client.stream("POST", "/v1/audio/speech", json=BODY, headers=HEADERS) as answer:
            pieces = [len(piece) for piece in answer.iter_raw()]
        assert answer.status_code == 200
        assert len(pieces) > 1
        assert sum(pieces) / 48_000 == pytest.approx(2.5, abs=1.5)
        check_trace(received)

        refused = client.post("/v1/audio/speech", json=BODY | {"voice": "nobody"})
        assert refused.status_code == 400
        assert refused.json()["error"]["code"] == "voice_not_found"
        phonemes = client.post("/dev/phonemize", json={"text": "Hello.", "language": "a"})
        assert phonemes.json()["phonemes"]

        health = client.post("/v1/model/cosyvoice/healthcheck").json()
        assert (health["status"], health["device"]) == ("healthy", "cpu")
        assert all(re.fullmatch("[0-9a-f]{16,}", health[name]) for name in ("ray_actor_id", "ray_node_id"))

        with client.stream("POST", "/v1/audio/speech", json=BODY | {"input": BODY["input"] * 100}) as answer:
            next(answer.iter_raw())
        until = time.monotonic() + 30
        while "polyvox_active_sessions 0.0" not in client.get("/metrics").text:
            assert time.monotonic() < until, "a client who left is still being spoken to"
            time.sleep(0.2)

        process.send_signal(signal.SIGTERM)
        assert process.wait(STOP_SECONDS) == 0
        until = time.monotonic() + 30
        while members(process.pid):
            assert time.monotonic() < until, "processes are left"
            time.sleep(0.5)
