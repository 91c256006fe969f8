"""Clients that flood a WebSocket with tiny frames: others are served meanwhile."""

import socket
import threading
import time
from collections.abc import Iterator

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


def opened(server: ProgramProcess) -> socket.socket:
    client = socket.create_connection(server.address, timeout=10)
    head = (f"GET {PATH} HTTP/1.1", "Host: localhost", "Connection: Upgrade", "Upgrade: websocket")
    key = ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==")
    client.sendall("\r\n".join((*head, *key, "", "")).encode())
    assert client.recv(65_536).startswith(b"HTTP/1.1 101 ")
    return client


def frame(payload: bytes, opcode: int = 1) -> bytes:
    return bytes([0x80 | opcode, 0x80 | len(payload)]) + bytes(4) + payload


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
