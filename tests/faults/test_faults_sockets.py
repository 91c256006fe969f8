"""Clients that flood a WebSocket with tiny frames, or read nothing of what they ask for: others are served."""

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from helpers.attacked_server import attacked_server
from helpers.processes import ProgramProcess
from helpers.quick_server import PROGRAM
from helpers.realtime_client import PATH
from helpers.trials import watched

SOCKETS = 8
SECONDS = 1.0
BATCH = 8_000
"""Frames in one write, more than fit into one read of the server's."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    with attacked_server(tmp_path_factory.mktemp("server"), program=PROGRAM) as server:
        yield server


def opened(server: ProgramProcess, path: str = PATH, window: int | None = None) -> socket.socket:
    """A client's socket; `window` is how many bytes its kernel takes that it does not read."""
    client = socket.socket()
    if window is not None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    client.settimeout(10)
    client.connect(server.address)
    head = (f"GET {path} HTTP/1.1", "Host: localhost", "Connection: Upgrade", "Upgrade: websocket")
    key = ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==")
    client.sendall("\r\n".join((*head, *key, "", "")).encode())
    assert client.recv(1_024).startswith(b"HTTP/1.1 101 ")
    return client


def frame(payload: bytes, opcode: int = 1) -> bytes:
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else bytes([0x80 | 126, *size.to_bytes(2, "big")])
    return bytes([0x80 | opcode]) + length + bytes(4) + payload


def flood(client: socket.socket, data: bytes, until: float) -> None:
    client.settimeout(0.2)
    while time.monotonic() < until:
        try:
            client.sendall(data)
        except TimeoutError:
            continue  # the server does not read on, as it should not
        except OSError:
            return


@pytest.mark.parametrize(
    "data",
    [frame(b'{"type":"ping"}') * BATCH, frame(b"", opcode=9) * BATCH],
    ids=["messages", "ping frames"],
)
def test_a_flood_of_tiny_frames_costs_others_little(server: ProgramProcess, scale: int, data: bytes) -> None:
    with watched(server) as toll:
        clients = [opened(server) for _ in range(SOCKETS)]
        until = time.monotonic() + SECONDS + scale / 4
        floods = [threading.Thread(target=flood, args=(client, data, until)) for client in clients]
        for thread in floods:
            thread.start()
        for thread in floods:
            thread.join()
        for client in clients:
            client.close()
        toll.requests = SOCKETS
    toll.check()


BROKEN = (frame(b"\xff\xfe\x80"), bytes([0x01, 0x82]) + bytes(4) + b"\xe2\x82" + bytes([0x80, 0x81]) + bytes(4) + b"a")
"""Text that is no UTF-8, in one frame and in two."""
DOORS = (PATH, "/tts/websocket", "/v1/realtime?model=kokoro", "/v1/text-to-speech/af_heart/stream-input")


def test_text_that_is_no_utf_8_ends_its_socket_and_is_not_logged_as_a_failure(server: ProgramProcess) -> None:
    for path in DOORS:
        for message in BROKEN:
            client = opened(server, path)
            client.sendall(message)
            received = b""
            while data := client.recv(65_536):
                received += data
            assert received.endswith(b"\x88\x02\x03\xef"), "a close with the code 1007"
            client.close()
    assert "Traceback" not in server.log()
    assert 'polyvox_refused_connections_total{limit="invalid"}' in httpx.get(f"{server.url}/metrics").text


STALL_SECONDS = 2.0
SLOW = {
    "model_id": "sonic-3",
    "voice": {"mode": "id", "id": "af_heart"},
    "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000},
    "transcript": "slow words without end.",
}


def open_contexts(server: ProgramProcess) -> float:
    metrics = httpx.get(server.url + "/metrics", timeout=30).text
    return sum(map(float, re.findall(r"^polyvox_open_contexts\{[^}]*\} (\S+)$", metrics, re.MULTILINE)))


@pytest.mark.parametrize("kind", ["uvicorn", "granian"])
def test_a_context_that_nobody_reads_is_dropped_though_the_kernel_would_hold_far_more(
    kind: str, tmp_path: Path
) -> None:
    with attacked_server(tmp_path, program=PROGRAM, server=kind, stall_seconds=STALL_SECONDS) as server:
        client = opened(server, "/tts/websocket", window=4_096)
        for name in ("one", "two"):
            client.sendall(frame(json.dumps(SLOW | {"context_id": name, "continue": False}).encode()))
        until = time.monotonic() + 10
        while open_contexts(server) < 2:
            assert time.monotonic() < until
            time.sleep(0.02)
        began = time.monotonic()
        while open_contexts(server):
            assert time.monotonic() - began < 2 * STALL_SECONDS + 1, "it is still spoken to"
            time.sleep(0.1)
        client.close()
        assert "Traceback" not in server.log()
