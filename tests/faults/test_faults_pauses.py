"""A short text cannot fill the memory: pauses have a limit, and so have all answers that are sent as a whole."""

import json
import re
import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from helpers.attacked_server import attacked_server
from helpers.processes import ProgramProcess
from helpers.trials import watched

CLIENTS = 16


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    with attacked_server(tmp_path_factory.mktemp("server")) as server:
        yield server


def wish(pauses: int) -> dict[str, object]:
    return {"input": "Hi." + "[pause:10s]" * pauses, "response_format": "wav", "stream": False}


def readers_of_nothing(server: ProgramProcess, pauses: int) -> list[socket.socket]:
    data = json.dumps(wish(pauses)).encode()
    head = "POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
    clients = []
    for _ in range(CLIENTS):
        clients.append(socket.create_connection(server.address, timeout=60))
        clients[-1].sendall(f"{head}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
        time.sleep(0.02)
    return clients


def buffered(server: ProgramProcess) -> float:
    metrics = httpx.get(server.url + "/metrics", timeout=60).text
    found = re.search(r"^polyvox_buffered_bytes (\S+)$", metrics, re.MULTILINE)
    assert found is not None
    return float(found[1])


def test_pauses_beyond_the_limit_are_refused_before_any_work(server: ProgramProcess) -> None:
    with watched(server) as toll:
        for _ in range(16):
            answer = httpx.post(server.url + "/v1/audio/speech", json=wish(60), timeout=60)
            assert answer.status_code == 400
            assert "600 s together" in answer.json()["error"]["message"]
            assert "300 s" in answer.json()["error"]["message"]
    toll.check()


def test_whole_answers_share_one_budget(server: ProgramProcess, scale: int) -> None:
    with watched(server) as toll:
        for _ in range(max(1, scale // 10)):
            clients = readers_of_nothing(server, 30)
            answers = [client.recv(2048) for client in clients]
            codes = [int(answer.split()[1]) for answer in answers]
            refused = next(answer for answer in answers if answer.startswith(b"HTTP/1.1 429 "))
            assert re.search(rb"retry-after: [1-9]", refused, re.IGNORECASE)
            assert codes.count(200) >= 4
            assert set(codes) == {200, 429}
            for client in clients:
                client.close()
            deadline = time.monotonic() + 30
            while buffered(server):
                assert time.monotonic() < deadline, "the memory was not given back"
                time.sleep(0.1)
    toll.check()
    assert httpx.post(server.url + "/v1/audio/speech", json=wish(30), timeout=60).status_code == 200
