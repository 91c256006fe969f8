"""Requests that speak nothing hold no speech up, and are not worked on after their clients have left."""

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

CLIENTS = 40
HI_SECONDS = 8.0
"""With the work of 40 before it, "Hi." took 20 s and more on two cores."""
TEXT = ("On 3/4/1999 at 5:30 pm it cost $1,234.56, 12.5% up. " * 200)[:9_000]
DOORS = {
    "phonemize": ("/dev/phonemize", {"text": TEXT}),
    "normalize": ("/v1/audio/normalize", {"input": TEXT, "mode": "spoken"}),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    with attacked_server(tmp_path_factory.mktemp("server")) as server:
        for path, body in DOORS.values():  # the first request reads dictionaries, as an engine's start does
            httpx.post(server.url + path, json=body, timeout=60).raise_for_status()
        yield server


def asked(server: ProgramProcess, door: str) -> list[socket.socket]:
    """Connections of clients that have asked and read nothing yet."""
    path, body = DOORS[door]
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(data)}"
    clients = []
    for _ in range(CLIENTS):
        clients.append(socket.create_connection(server.address, timeout=60))
        clients[-1].sendall(head.encode() + b"\r\n\r\n" + data)
        time.sleep(0.01)
    return clients


def left(clients: list[socket.socket]) -> list[bytes]:
    """What the clients have been answered by the time they leave."""
    answers = []
    for client in clients:
        client.setblocking(False)
        try:
            answers.append(client.recv(4096))
        except BlockingIOError:
            answers.append(b"")
        client.close()
    return answers


def say_hi(server: ProgramProcess) -> float:
    began = time.monotonic()
    body = {"input": "Hi.", "response_format": "mp3", "stream": False}
    assert httpx.post(server.url + "/v1/audio/speech", json=body, timeout=180).status_code == 200
    return time.monotonic() - began


def metric(server: ProgramProcess, name: str) -> float:
    found = re.search(rf"^{name} (\S+)$", httpx.get(server.url + "/metrics", timeout=60).text, re.MULTILINE)
    assert found is not None
    return float(found[1])


@pytest.mark.parametrize("door", DOORS)
def test_speech_is_answered_beside_many_who_ask_and_leave(door: str, server: ProgramProcess, scale: int) -> None:
    with watched(server) as toll:
        for _ in range(max(1, scale // 4)):
            clients = asked(server, door)
            took = say_hi(server)
            answers = left(clients)
            print(f"'Hi.' took {took:.2f} s")
            assert took < HI_SECONDS
            assert any(answer.startswith(b"HTTP/1.1 429 ") for answer in answers)
        _until_idle(server)
    toll.check()


def test_a_refusal_says_when_to_come_back_and_how_much_to_send(server: ProgramProcess) -> None:
    answers = left(asked(server, "normalize"))
    head, _, body = next(answer for answer in answers if answer.startswith(b"HTTP/1.1 429 ")).partition(b"\r\n\r\n")
    assert json.loads(body)["error"]["code"] == "overloaded"
    assert re.search(rb"retry-after: [1-9]", head, re.IGNORECASE)
    assert metric(server, "polyvox_side_refused_total") > 0
    long = httpx.post(server.url + "/dev/phonemize", json={"text": "a " * 20_000}, timeout=60)
    assert long.status_code == 400
    assert "20,000" in long.json()["error"]["message"]
    _until_idle(server)


def _until_idle(server: ProgramProcess) -> None:
    """Wait for what was under way when the clients left; what waited then is dropped."""
    deadline = time.monotonic() + 10.0
    while metric(server, "polyvox_side_running") or metric(server, "polyvox_side_waiting"):
        assert time.monotonic() < deadline, "the work went on without its clients"
        time.sleep(0.1)
