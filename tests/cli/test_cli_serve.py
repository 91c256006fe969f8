"""The server as a process: it greets, speaks, drains and ends, with an engine that costs nothing."""

import os
import signal
import socket
import subprocess
import time
import wave
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from helpers.fork_server import forked_python
from helpers.processes import polyvox_process
from helpers.tables import each_row
from polyvox.bench.process import ServerProcess, server_process

pytestmark = pytest.mark.long


def polyvox(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command that has ended."""
    command = [forked_python(), "-m", "polyvox", *arguments]
    environment = os.environ | variables
    return subprocess.run(command, check=False, timeout=60, capture_output=True, text=True, env=environment)


@pytest.fixture(scope="module")
def null_server() -> Iterator[ServerProcess]:
    with server_process(["bench", "null-server"], python=forked_python()) as server:
        yield server


def test_the_server_speaks(null_server: ServerProcess) -> None:
    body = {"model": "tts-1", "input": "Hello there.", "response_format": "pcm"}
    response = httpx.post(f"{null_server.url}/v1/audio/speech", json=body)
    assert response.status_code == 200
    assert len(response.content) == 2 * 24_000 * 20
    assert httpx.get(f"{null_server.url}/ready").status_code == 200


def test_a_web_page_cannot_call_it_by_the_pages_name(null_server: ServerProcess) -> None:
    page = {"host": "page.example"}
    assert httpx.get(f"{null_server.url}/v1/models", headers=page).status_code == 403
    assert httpx.get(f"{null_server.url}/v1/models").status_code == 200


def test_a_web_page_cannot_open_a_websocket_by_the_pages_name_either(null_server: ServerProcess) -> None:
    handshake = {
        "connection": "upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    page = {"host": "page.example"}
    assert httpx.get(f"{null_server.url}/nothing", headers=handshake | page).status_code == 403
    assert httpx.get(f"{null_server.url}/nothing", headers=handshake).status_code == 404


def test_say_speaks_through_it(null_server: ServerProcess, tmp_path: Path) -> None:
    file = tmp_path / "speech.wav"
    result = polyvox("say", "Hello there.", "--voice", "null", "-o", str(file), "--server", null_server.url)
    assert result.returncode == 0, result.stderr
    with wave.open(str(file)) as speech:
        assert speech.getnframes() == 24_000 * 20


def test_say_repeats_what_the_server_complains_of(null_server: ServerProcess, tmp_path: Path) -> None:
    file = tmp_path / "speech.wav"
    result = polyvox("say", "Hello.", "--speed", "40", "-o", str(file), "--server", null_server.url)
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    assert "speed" in result.stderr
    assert not file.exists()


def test_say_without_a_server_there_says_so(tmp_path: Path) -> None:
    result = polyvox("say", "Hello.", "-o", str(tmp_path / "a.wav"), "--server", "http://127.0.0.1:9")
    assert result.returncode == 1
    assert "polyvox serve" in result.stderr


@each_row("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_with_status_0(number: int) -> None:
    command = [forked_python(), "-m", "polyvox", "bench", "null-server"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout is not None
        greeting = process.stdout.readline().decode()
        assert greeting.startswith("Polyvox speaks at http://127.0.0.1:")
        process.send_signal(number)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.communicate()


def test_a_stream_that_is_open_is_finished_before_the_end() -> None:
    """The client reads the rest only after the server was told to stop."""
    with polyvox_process(["bench", "null-server"]) as server:
        body = {"model": "null", "input": "Hello there.", "response_format": "pcm"}
        with httpx.stream("POST", f"{server.url}/v1/audio/speech", json=body, timeout=30) as response:
            pieces = response.iter_raw(65_536)
            received = len(next(pieces))
            server.terminate()
            time.sleep(0.5)
            received += sum(len(piece) for piece in pieces)
        assert received == 2 * 24_000 * 20


def test_an_address_in_use_is_one_line_before_any_model_loads(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = polyvox("serve", "--port", str(port), "--models-dir", str(tmp_path))
    assert result.returncode == 1
    assert f"error: Cannot listen on 127.0.0.1 port {port}" in result.stderr


def test_a_model_that_is_not_installed_ends_the_server_with_the_remedy(tmp_path: Path) -> None:
    result = polyvox("serve", "--port", "0", "--models-dir", str(tmp_path))
    assert result.returncode == 1
    assert "polyvox pull kokoro" in result.stderr.splitlines()[-1]
    assert result.stdout == ""


def started(tmp_path: Path, *options: str, **variables: str) -> str:
    """What a server that other machines can reach writes before it ends for lack of a model."""
    result = polyvox("serve", "--port", "0", "--models-dir", str(tmp_path), *options, **variables)
    assert result.returncode == 1
    return result.stderr


@pytest.mark.parametrize(("options", "variables"), [(["--host", "0.0.0.0"], {}), ([], {"POLYVOX_HOST": "::"})])
def test_serving_beyond_this_machine_without_keys_is_refused_with_the_ways_out(
    tmp_path: Path, options: list[str], variables: dict[str, str]
) -> None:
    message = started(tmp_path, *options, **variables)
    assert "Other machines could use a server on" in message
    for way in ("POLYVOX_API_KEYS", "POLYVOX_ALLOWED_HOSTS", "--insecure", "POLYVOX_INSECURE=true", "127.0.0.1"):
        assert way in message
    assert "polyvox pull" not in message


@pytest.mark.parametrize(
    ("options", "variables", "warned"),
    [
        ([], {"POLYVOX_API_KEYS": "sesame"}, False),
        ([], {"POLYVOX_ALLOWED_HOSTS": "speech.example"}, True),
        (["--insecure"], {}, True),
        ([], {"POLYVOX_INSECURE": "true"}, True),
    ],
)
def test_each_way_out_opens_the_server_to_others(
    tmp_path: Path, options: list[str], variables: dict[str, str], warned: bool
) -> None:
    message = started(tmp_path, "--host", "0.0.0.0", *options, **variables)
    assert "polyvox pull kokoro" in message.splitlines()[-1]
    assert ("reachable from other machines without a key" in message) is warned
