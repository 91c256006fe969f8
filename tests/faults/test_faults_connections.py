"""Connections that say nothing, or too little, keep nobody out."""

import re
import socket
import time
from collections.abc import Iterator

import grpc
import httpx
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from helpers.attacked_server import attacked_server
from helpers.processes import ProgramProcess
from helpers.raw_http import connections, is_closed, request_head
from helpers.serving import wait_for
from helpers.trials import watched

DESCRIPTORS = 1_024
HEADER_SECONDS = 1.0


@pytest.fixture(scope="module", params=["uvicorn", "granian"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    folder = tmp_path_factory.mktemp("server")
    settings = {
        "server": request.param,
        "grpc_port": 0,
        "header_timeout_seconds": HEADER_SECONDS,
        "body_timeout_seconds": 1.0,
    }
    with attacked_server(folder, descriptors=DESCRIPTORS, **settings) as server:
        yield server


def test_more_silent_connections_than_descriptors_lock_nobody_out(server: ProgramProcess, scale: int) -> None:
    with watched(server) as toll:
        for _ in range(max(1, scale // 4)):
            with connections(server, 1_100):
                time.sleep(1.5 * HEADER_SECONDS)
    toll.check()
    lines = [line for line in server.log().splitlines() if "connections closed by a limit" in line]
    assert lines
    assert len(lines) < 20 * scale
    metrics = httpx.get(f"{server.url}/metrics").text
    assert 'polyvox_refused_connections_total{limit="descriptors"}' in metrics
    wait_for(lambda: _open_connections(server) <= 1)


def test_silent_connections_to_grpc_leave_both_doors_open(server: ProgramProcess) -> None:
    host, port = server.grpc.rsplit(":", 1)
    with watched(server) as toll, connections(server, 1_100, (host, int(port))):
        time.sleep(1.0)
        with grpc.insecure_channel(server.grpc) as channel:
            health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=5)
    toll.check()


def test_headers_that_arrive_byte_by_byte_end_at_the_deadline(server: ProgramProcess) -> None:
    head = request_head("GET", "/health", f"X-Padding: {'a' * 1000}")
    with connections(server, 50) as slow, watched(server) as toll:
        began = time.monotonic()
        while time.monotonic() - began < 2 * HEADER_SECONDS and head:
            for connection in slow:
                _send_one(connection, head)
            head = head[1:]
            time.sleep(0.1)
        assert all(is_closed(connection, 0.5) for connection in slow)
    toll.check()


def test_a_body_that_stops_half_way_ends_at_the_deadline(server: ProgramProcess) -> None:
    head = request_head("POST", "/v1/audio/speech", "Content-Type: application/json", "Content-Length: 1000")
    with connections(server, 1) as (slow,):
        slow.sendall(head + b'{"input":')
        slow.settimeout(5)
        assert slow.recv(65_536).startswith(b"HTTP/1.1 408 ")
        assert is_closed(slow, 1.0)


def test_the_rest_of_a_refused_body_cannot_arrive_for_ever(server: ProgramProcess) -> None:
    head = request_head("POST", "/nowhere", "Content-Type: application/json", "Content-Length: 1000000")
    with connections(server, 1) as (slow,):
        slow.sendall(head)
        began = time.monotonic()
        while time.monotonic() - began < 8 and _send_one(slow, b"a"):
            time.sleep(0.1)
        assert time.monotonic() - began < 8


def _open_connections(server: ProgramProcess) -> float:
    metrics = httpx.get(f"{server.url}/metrics").text
    return float(re.findall(r"^polyvox_open_connections (\S+)$", metrics, re.MULTILINE)[0])


def _send_one(connection: socket.socket, data: bytes) -> bool:
    try:
        connection.send(data[:1])
    except OSError:
        return False
    return True
