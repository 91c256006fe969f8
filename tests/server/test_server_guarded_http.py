"""Uvicorn and granian on the wire: HTTP/1.0, trailers, pipelining, upgrades and what ends a connection."""

import socket
import ssl
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
import structlog
from fastapi import APIRouter, Request, WebSocket
from fastapi.responses import PlainTextResponse, StreamingResponse

from helpers.fakes import tone_service
from helpers.raw_http import answer, is_closed, request_head
from helpers.serving import served_by_granian, served_by_uvicorn, wait_for
from helpers.tables import each_row
from polyvox.api.door import Door
from polyvox.service.keys.operations import Operation
from polyvox.service.speech import SpeechService

router = APIRouter(prefix="/wire")
Served = Callable[..., AbstractContextManager[str]]
BOTH = pytest.mark.parametrize("served", [served_by_uvicorn, served_by_granian], ids=["uvicorn", "granian"])
HEADER_SECONDS = 0.5


@router.get("/stream")
async def stream() -> StreamingResponse:
    return StreamingResponse(iter([b"one ", b"", b"two ", b"three"]))


@router.get("/whole")
async def whole() -> PlainTextResponse:
    return PlainTextResponse("whole")


@router.post("/headers")
async def headers(request: Request) -> PlainTextResponse:
    await request.body()
    return PlainTextResponse(request.headers.get("x-late", "none"))


@router.websocket("/echo")
async def echo(websocket: WebSocket) -> None:
    await websocket.accept()
    while True:
        await websocket.send_text(await websocket.receive_text())


DOOR = Door("wire", router, operations={f"{method} /wire/*": Operation.SPEAK for method in ("GET", "POST", "WS")})


@pytest.fixture
def service() -> SpeechService:
    return tone_service(header_timeout_seconds=HEADER_SECONDS, keep_alive_seconds=1.0, max_pending_body_bytes=2**20)


@pytest.fixture
def url(service: SpeechService) -> Iterator[str]:
    with served_by_uvicorn(service, doors=[DOOR]) as url:
        yield url


def connected(url: str) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


@pytest.mark.long
@BOTH
@pytest.mark.parametrize("path", ["/wire/stream", "/wire/whole"])
def test_an_http_1_0_client_gets_no_chunks(served: Served, service: SpeechService, path: str) -> None:
    with served(service, doors=[DOOR]) as url, connected(url) as client:
        client.sendall(request_head("GET", path, version="1.0"))
        head, _, body = answer(client).partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in head.lower()
    assert b"200 OK" in head
    assert body == {"/wire/stream": b"one two three", "/wire/whole": b"whole"}[path]


def test_an_http_1_0_client_of_head_gets_no_body(url: str) -> None:
    with connected(url) as client:
        client.sendall(request_head("HEAD", "/health", version="1.0"))
        head, _, body = answer(client).partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in head.lower()
    assert body == b""


def test_a_trailer_is_no_header(url: str) -> None:
    with connected(url) as client:
        client.sendall(request_head("POST", "/wire/headers", "Transfer-Encoding: chunked", "Connection: close"))
        client.sendall(b"1\r\na\r\n0\r\nX-Late: forged\r\n\r\n")
        assert answer(client).endswith(b"none")


def test_pipelined_requests_are_answered_in_turn(url: str) -> None:
    with connected(url) as client:
        client.sendall(request_head("GET", "/wire/whole") * 3 + request_head("GET", "/wire/whole", "Connection: close"))
        assert answer(client).count(b"whole") == 4


@pytest.mark.alone
def test_each_request_of_a_connection_has_the_whole_time_for_its_headers(url: str) -> None:
    with connected(url) as client:
        for _ in range(3):
            client.sendall(request_head("GET", "/wire/whole"))
            assert client.recv(65_536).endswith(b"whole")
            time.sleep(0.6 * HEADER_SECONDS)
        client.sendall(b"GET /wire")
        assert answer(client).startswith(b"HTTP/1.1 408 ")


@pytest.mark.long
def test_a_connection_without_another_request_is_closed(url: str) -> None:
    with connected(url) as client:
        client.sendall(request_head("GET", "/wire/whole"))
        assert is_closed(client, 3.0)


@each_row("served", [served_by_uvicorn])
def test_where_all_connections_are_served_a_new_one_is_told_to_wait(served: Served) -> None:
    service = tone_service(max_connections=16)
    with served(service, doors=[DOOR]) as url:
        sockets = [_websocket(url) for _ in range(16)]
        with connected(url) as late:
            said = answer(late)
        assert said.startswith(b"HTTP/1.1 503 ")
        assert b"\r\nRetry-After: " in said
        for each in sockets:
            each.close()
        wait_for(lambda: service.metrics.registry.get_sample_value("polyvox_open_connections") == 0)


def test_what_is_no_http_is_refused_counted_and_not_logged_each_time(
    url: str, service: SpeechService, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(20):
        with connected(url) as client:
            client.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
            assert answer(client).startswith(b"HTTP/1.1 400 ")
    value = service.metrics.registry.get_sample_value
    assert value("polyvox_refused_connections_total", {"limit": "invalid"}) == 20
    assert "Invalid HTTP" not in caplog.text


@pytest.mark.long
def test_a_websocket_outlives_the_time_for_headers(url: str) -> None:
    with _websocket(url) as client:
        time.sleep(2 * HEADER_SECONDS)
        client.sendall(_frame(b"hello"))
        assert client.recv(100).endswith(b"hello")


@pytest.mark.parametrize("pieces", [1, 1_000], ids=["one frame", "many frames"])
def test_unfinished_websocket_messages_share_the_memory_of_bodies(
    url: str, service: SpeechService, pieces: int
) -> None:
    """A frame that never ends, or fragments of which none is the last."""
    size = 900_000 // pieces
    message = b"".join(_frame(b"a" * size, first=n == 0, final=False) for n in range(pieces))
    with _websocket(url) as patient, _websocket(url) as greedy:
        patient.sendall(_frame(b"a" * 900_000)[:-1] if pieces == 1 else message)
        wait_for(lambda: service.bodies.used >= 890_000)
        greedy.sendall(_frame(b"a" * 900_000)[:-1])
        assert struct.unpack(">H", answer(greedy)[2:4])[0] == 1013
        if pieces == 1:
            patient.sendall(b"a")
            assert patient.recv(65_536)
            wait_for(lambda: service.bodies.used == 0)
    wait_for(lambda: service.bodies.used == 0)


def _websocket(url: str) -> socket.socket:
    client = connected(url)
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    client.sendall(request_head("GET", "/wire/echo", *upgrade, "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="))
    assert client.recv(65_536).startswith(b"HTTP/1.1 101 ")
    return client


def _frame(data: bytes, *, first: bool = True, final: bool = True) -> bytes:
    """A text frame of a client, or a continuation of one, masked with zeros."""
    length = struct.pack(">BH", 0xFE, len(data)) if len(data) < 65_536 else struct.pack(">BQ", 0xFF, len(data))
    length = struct.pack(">B", 0x80 | len(data)) if len(data) < 126 else length
    return bytes([(0x80 if final else 0) | (1 if first else 0)]) + length + bytes(4) + data


def test_a_tls_hello_on_a_plain_port_is_logged_with_its_remedy(url: str) -> None:
    with structlog.testing.capture_logs() as logs, connected(url) as raw:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            ssl.create_default_context().wrap_socket(raw, server_hostname="localhost")
        wait_for(lambda: any("--tls auto" in line.get("remedy", "") for line in logs))
    with structlog.testing.capture_logs() as logs, connected(url) as raw:
        raw.sendall(b"nonsense\r\n\r\n")
        wait_for(lambda: any(line.get("limit") == "invalid" and "remedy" not in line for line in logs))
