"""Headers without end cost a connection, not the server's memory."""

from collections.abc import Iterator
from itertools import chain, repeat

import pytest

from helpers.attacked_server import attacked_server
from helpers.processes import ProgramProcess
from helpers.raw_http import connections, request_head, sent
from helpers.trials import watched

BYTES = 28_000_000
MEMORY = 50 * 2**20
_LINES = b"".join(b"X-%d: a\r\n" % n for n in range(1_000))
_BLOCK = b"a" * 65_536
_START = request_head("POST", "/v1/audio/speech", "Authorization: Bearer wrong").removesuffix(b"\r\n")
_CHUNKED = _START + b"Transfer-Encoding: chunked\r\n\r\n"
ENDLESS = {
    "many headers": (_START, _LINES),
    "one header": (_START + b"X: ", _BLOCK),
    "the name of a header": (_START, _BLOCK),
    "the request line": (b"GET /", _BLOCK),
    "many trailers": (_CHUNKED + b"1\r\na\r\n0\r\n", _LINES),
    "one trailer": (_CHUNKED + b"1\r\na\r\n0\r\nX: ", _BLOCK),
    "the extension of a chunk": (_CHUNKED + b"1;", _BLOCK),
}


@pytest.fixture(scope="module", params=["uvicorn", "granian"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    folder = tmp_path_factory.mktemp("server")
    with attacked_server(folder, server=request.param, api_keys="a-key-of-the-trial") as server:
        yield server


def test_endless_headers_are_refused_before_they_cost_memory(server: ProgramProcess, scale: int) -> None:
    """All shapes on one watch: what they cost together bounds what each costs."""
    with watched(server) as toll:
        for name, (start, rest) in list(ENDLESS.items()) * 4 * scale:
            with connections(server, 1) as (connection,):
                took = sent(connection, chain([start], repeat(rest, BYTES // len(rest))))
            assert took < BYTES, name
    toll.check(MEMORY)


def test_the_most_that_is_allowed_passes(server: ProgramProcess) -> None:
    fields = [f"X-{n}: {'a' * 500}" for n in range(90)]
    with connections(server, 1) as (connection,):
        connection.sendall(request_head("GET", "/health", *fields, "Connection: close"))
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")


def test_a_client_with_too_many_headers_is_told_so(server: ProgramProcess) -> None:
    with connections(server, 1) as (connection,):
        connection.sendall(request_head("GET", "/health", *(f"X-{n}: a" for n in range(120))))
        assert connection.recv(65_536).startswith(b"HTTP/1.1 431 ")
