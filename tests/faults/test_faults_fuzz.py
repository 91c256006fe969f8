"""Random requests, made from the server's own OpenAPI document: each is answered as documented, none by a defect."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import grpc
import grpc.aio
import httpx
import pytest

from helpers.attacked_server import attacked_server
from helpers.fuzz import ODD_BODIES, ODD_HEADERS, WORDS, FuzzedRequest, Fuzzer, operations
from helpers.processes import ProgramProcess
from helpers.quick_server import PROGRAM
from helpers.raw_requests import RawAnswer, exchanged, request_bytes
from helpers.trials import watched
from polyvox.api.doors import DOORS
from polyvox.api.refusals import Refusal, Refusals

pytestmark = pytest.mark.anyio

AT_ONCE = 4
SECONDS = 30.0
"""In which each request must be answered."""
BROKEN_HTTP = (
    b"",
    b"\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nbroken\r\n\r\n",
    b"GET / HTTP/1.1\r\n : a\r\n\r\n",
    b"POST /v1/audio/speech HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
    b"POST /v1/audio/speech HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
    b"POST /v1/audio/speech HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    b"POST /v1/audio/speech HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: gzip\r\nConnection: close\r\n\r\n",
    b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: identity\r\nConnection: close\r\n\r\n",
    b"BREW /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 200,
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n",
)
GRPC_CALLS = (
    "/cosyvoice.CosyVoice/Inference",
    "/polyvox.v1.Speech/Converse",
    "/polyvox.v1.Speech/Speak",
    "/polyvox.v1.Speech/Voices",
    "/polyvox.v1.Speech/Models",
    "/polyvox.v1.Speech/Nothing",
    "/grpc.health.v1.Health/Check",
)
GRPC_DEFECTS = (grpc.StatusCode.UNKNOWN, grpc.StatusCode.DATA_LOSS, grpc.StatusCode.DEADLINE_EXCEEDED)


@pytest.fixture(scope="module", params=["uvicorn", "granian"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    folder = tmp_path_factory.mktemp("server")
    settings = {"grpc_port": 0, "max_voices": 50, "server": request.param}
    with attacked_server(folder, program=PROGRAM, **settings) as server:
        for text in WORDS:  # a language's dictionaries are loaded once, with its first text
            httpx.post(server.url + "/dev/phonemize", json={"text": text}, timeout=SECONDS)
        yield server
        assert "Traceback" not in server.log()
        assert '"exception"' not in server.log()


@pytest.fixture(scope="module")
def document(server: ProgramProcess) -> dict[str, Any]:
    return httpx.get(server.url + "/openapi.json").json()


def shape(value: object) -> object:
    """The names in a JSON value, without what they hold."""
    if isinstance(value, dict):
        return {name: shape(each) for name, each in value.items()}
    return [shape(value[0])] if isinstance(value, list) and value else None


def worded(path: str, status: int) -> list[object]:
    """The shapes in which the door of a path may refuse."""
    refusals = Refusals(row for door in DOORS for row in door.wordings.items())
    causes = [Refusal(status, "Why.", "type", "invalid_value", field) for field in (None, "field")]
    return [shape(refusals.worded(cause, path)[1]) for cause in causes]


def complaint(request: FuzzedRequest, answer: RawAnswer) -> str | None:
    """What is wrong with an answer."""
    status, wanted = answer.status, request.operation
    if wanted is None:
        return None if 0 < status < HTTPStatus.INTERNAL_SERVER_ERROR else f"{status} to an undocumented method"
    if status not in wanted.statuses:
        return f"{status} is not documented, only {sorted(wanted.statuses)}"
    lacking = (HTTPStatus.NOT_IMPLEMENTED, HTTPStatus.SERVICE_UNAVAILABLE)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR and status not in lacking:
        return f"{status} is the server's fault"
    if status >= HTTPStatus.BAD_REQUEST and "ready" not in request.path and "healthcheck" not in request.path:
        found = shape(answer.json())
        return None if found in worded(request.path, status) else f"{status} in another wording: {answer.body[:200]!r}"
    return None


async def fuzzed(server: ProgramProcess, requests: Iterator[FuzzedRequest]) -> tuple[Counter[int], list[str]]:
    """Send the requests, several at a time; the statuses, and what was wrong."""
    statuses: Counter[int] = Counter()
    wrong: list[str] = []

    async def client() -> None:
        for request in requests:
            try:
                answer = await exchanged(server.address, request.data, SECONDS)
                statuses[answer.status] += 1
                problem = complaint(request, answer)
            except (TimeoutError, ValueError) as error:
                problem = repr(error)
            if problem is not None:
                wrong.append(f"{request.method} {request.path}: {problem}; sent {request.data[:1_500]!r}")

    await asyncio.gather(*(client() for _ in range(AT_ONCE)))
    return statuses, wrong


async def test_every_random_request_gets_a_documented_answer(
    server: ProgramProcess, document: dict[str, Any], scale: int
) -> None:
    count = 500 * scale
    with watched(server) as toll:
        statuses, wrong = await fuzzed(server, Fuzzer(document, seed=14).requests(count))
        toll.requests = count
    print(sorted(statuses.items()))
    assert wrong == [], f"{len(wrong)} of {count}: {wrong[:5]}"
    assert {200, 400, 404, 405} <= statuses.keys(), "the requests did not get far"
    assert len(operations(document)) > 40
    toll.check()


async def test_what_is_no_http_is_refused_or_cut(server: ProgramProcess, scale: int) -> None:
    chance = random.Random(15)
    for _ in range(2 * scale):
        for data in BROKEN_HTTP:
            answer = await exchanged(server.address, data + b"\r\n\r\n" * 2, SECONDS, end=True)
            assert answer.status in (0, 200, 400, 404, 405, 426, 501, 505), (data, answer)
        noise = chance.randbytes(chance.randrange(1, 3_000)) + b"\r\n\r\n"
        assert (await exchanged(server.address, noise, SECONDS, end=True)).status in (0, 400)


async def test_a_websocket_to_any_path_is_refused_as_a_request_is(
    server: ProgramProcess, document: dict[str, Any], scale: int
) -> None:
    chance = random.Random(16)
    handshake = [
        (b"Upgrade", b"websocket"),
        (b"Sec-WebSocket-Key", b"dGhlIHNhbXBsZSBub25jZQ=="),
        (b"Sec-WebSocket-Version", b"13"),
    ]
    for path in [*document["paths"], "/", "/v1/nothing", "/../", "/%00", "/\u00e9"] * scale:
        headers = [*handshake, chance.choice([header for header in ODD_HEADERS if header[0] != b"Upgrade"])]
        data = request_bytes("GET", path.encode(), headers).replace(b"Connection: close", b"Connection: Upgrade")
        answer = await exchanged(server.address, data, SECONDS)
        assert answer.status in (400, 403, 404), (path, headers, answer)
        if answer.status != HTTPStatus.BAD_REQUEST:
            assert shape(answer.json()) in worded(path, answer.status)


async def test_random_messages_over_grpc_end_with_a_reason(server: ProgramProcess, scale: int) -> None:
    chance = random.Random(17)
    codes: Counter[grpc.StatusCode] = Counter()
    async with grpc.aio.insecure_channel(server.grpc) as channel:
        for number in range(100 * scale):
            name = GRPC_CALLS[number % len(GRPC_CALLS)]
            code = await grpc_outcome(channel, name, grpc_messages(chance))
            codes[code] += 1
            assert code not in GRPC_DEFECTS, name
    assert codes[grpc.StatusCode.INVALID_ARGUMENT] > 0
    assert codes[grpc.StatusCode.UNIMPLEMENTED] > 0


def grpc_messages(chance: random.Random) -> list[bytes]:
    """Messages of random bytes, of odd texts, or of fields that are nearly right; at least one.

    To a call that takes one message and gets none, gRPC's server gives no answer at all, whatever it serves.
    """
    texts = [b"Hi.", b"af_heart", b"", b"\xff\xfe", b"\0", *ODD_BODIES]

    def message() -> bytes:
        if chance.randrange(3) == 0:
            return chance.randbytes(chance.randrange(60))
        fields = b""
        for _ in range(chance.randrange(4)):
            text = chance.choice(texts)[:100]
            fields += bytes([chance.randrange(1, 8) << 3 | 2, len(text)]) + text
        return (
            bytes([chance.randrange(1, 5) << 3 | 2, len(fields)]) + fields
            if chance.randrange(2) and len(fields) < 128
            else fields
        )

    return [message() for _ in range(chance.randrange(1, 4))]


async def grpc_outcome(channel: grpc.aio.Channel, name: str, messages: list[bytes]) -> grpc.StatusCode:
    call = channel.stream_stream(name)(iter(messages), timeout=SECONDS)
    try:
        async for _ in call:
            pass
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


async def test_after_all_of_that_it_speaks_and_lists(server: ProgramProcess) -> None:
    async with httpx.AsyncClient(base_url=server.url, timeout=SECONDS) as client:
        spoken = await client.post("/v1/audio/speech", json={"input": "Hi.", "voice": "af_heart"})
        listed = await client.get("/v1/voices")
    assert (spoken.status_code, listed.status_code) == (200, 200)
