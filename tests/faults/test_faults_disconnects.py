"""Clients that leave, at every point of every kind of call, leave nothing behind: no session, descriptor or memory."""

import asyncio
import json
import random
import re
import socket
import struct
import time
from collections.abc import Callable, Iterator

import grpc
import grpc.aio
import httpx
import pytest

from helpers.attacked_server import attacked_server
from helpers.grpc_clients import speech_client
from helpers.hostile import SPEECH
from helpers.processes import ProgramProcess
from helpers.quick_server import PROGRAM
from helpers.raw_requests import request_bytes
from helpers.serving import wait_for
from helpers.trials import watched

pytestmark = pytest.mark.anyio

AT_ONCE = 4
SETTLE_SECONDS = 20.0
SPARE_DESCRIPTORS = 4
SPARE_THREADS = 4
MEMORY_LEFT = 48 * 2**20
"""That a server may keep after thousands of clients: what its allocator does not give back."""
RESET = struct.pack("ii", 1, 0)
JSON = [(b"Content-Type", b"application/json")]
FORM = [(b"Content-Type", b"multipart/form-data; boundary=b")]


def speech(**fields: object) -> bytes:
    body = {"input": "slow", "voice": "af_heart", "response_format": "pcm"} | fields
    return request_bytes("POST", b"/v1/audio/speech", JSON, json.dumps(body).encode())


def form(path: bytes, file: bytes, /, **fields: str) -> bytes:
    parts = [f'Content-Disposition: form-data; name="{key}"\r\n\r\n{value}'.encode() for key, value in fields.items()]
    parts.append(b'Content-Disposition: form-data; name="%s"; filename="a.wav"\r\n\r\n%s' % (file, SPEECH))
    body = b"--b\r\n" + b"\r\n--b\r\n".join(parts) + b"\r\n--b--\r\n"
    return request_bytes("POST", path, FORM, body)


TURNS = [{"voice": "af_heart", "text": "slow"}] * 3
CALLS = {
    "speech, streamed": speech(),
    "speech, whole": speech(stream=False, response_format="mp3"),
    "speech as events": speech(stream_format="sse"),
    "captions": request_bytes(
        "POST", b"/dev/captioned_speech", JSON, b'{"input":"slow","voice":"af_heart","stream":true}'
    ),
    "dialogue": request_bytes("POST", b"/v1/audio/dialogue", JSON, json.dumps({"turns": TURNS}).encode()),
    "voice of a recording": form(b"/inference_zero_shot", b"prompt_wav", tts_text="slow", prompt_text="x"),
    "registration": form(b"/v1/voices", b"audio", name="one", transcript="x"),
    "list": request_bytes("GET", b"/v1/audio/voices", []),
    "handshake": request_bytes(
        "GET",
        b"/v1/audio/speech",
        [
            (b"Upgrade", b"websocket"),
            (b"Sec-WebSocket-Version", b"13"),
            (b"Sec-WebSocket-Key", b"AAAAAAAAAAAAAAAAAAAAAA=="),
        ],
    ).replace(b"Connection: close", b"Connection: Upgrade"),
}
STATUSES = {"registration": 201, "handshake": 404}
"""Of those that are not answered with 200."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    folder = tmp_path_factory.mktemp("server")
    with attacked_server(folder, program=PROGRAM, grpc_port=0, max_voices=5) as server:
        yield server
        assert "Traceback" not in server.log()


def sessions(server: ProgramProcess) -> float:
    """Requests that are spoken or wait for it."""
    found = re.findall(
        r"^polyvox_(?:active_sessions|queue_depth) (\S+)$", httpx.get(server.url + "/metrics").text, re.M
    )
    assert len(found) == 2
    return sum(map(float, found))


def state(server: ProgramProcess) -> tuple[int, int, int]:
    """Descriptors, threads and memory, once no session is left."""
    wait_for(lambda: sessions(server) == 0, SETTLE_SECONDS)
    time.sleep(0.2)
    return server.descriptors(), server.threads(), server.memory()


def leave(connection: socket.socket, chance: random.Random) -> None:
    """Hang up: in order, or by a reset as when a machine disappears."""
    if chance.randrange(2):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    connection.close()


async def call_and_leave(server: ProgramProcess, chance: random.Random) -> None:
    """Send all or a part of a call, read all or a part of the answer, and hang up."""
    data = CALLS[chance.choice(list(CALLS))]
    sent = len(data) if chance.randrange(2) else chance.randrange(len(data))
    reads = chance.choice((0, 0, 1, 1, 4)) if sent == len(data) else 0
    loop = asyncio.get_running_loop()
    connection = socket.socket()
    connection.setblocking(False)
    try:
        await loop.sock_connect(connection, server.address)
        await loop.sock_sendall(connection, data[:sent])
        await asyncio.sleep(chance.choice((0.0, 0.001, 0.01, 0.05)))
        for _ in range(reads):
            async with asyncio.timeout(0.5):
                if not await loop.sock_recv(connection, 1_000):
                    break
    except (ConnectionError, TimeoutError):
        return
    finally:
        leave(connection, chance)


async def test_each_of_the_calls_would_be_answered(server: ProgramProcess) -> None:
    answers = {}
    calls = {name: data for name, data in CALLS.items() if name != "speech, whole"}  # which would never be
    for name, data in calls.items():
        reader, writer = await asyncio.open_connection(*server.address)
        writer.write(data)
        async with asyncio.timeout(SETTLE_SECONDS):
            answers[name] = int((await reader.readline()).split()[1])
        writer.close()
    assert answers == {name: STATUSES.get(name, 200) for name in calls}


async def leave_many(
    server: ProgramProcess, count: int, seed: int, way: Callable[[ProgramProcess, random.Random], object]
) -> None:
    chances = iter(random.Random(f"{seed} {number}") for number in range(count))

    async def client() -> None:
        for chance in chances:
            await way(server, chance)

    await asyncio.gather(*(client() for _ in range(AT_ONCE)))


async def check_nothing_is_left(
    server: ProgramProcess, count: int, way: Callable[[ProgramProcess, random.Random], object]
) -> None:
    await leave_many(server, count // 4, 1, way)
    before = await asyncio.to_thread(state, server)
    with watched(server) as toll:
        await leave_many(server, count, 2, way)
        toll.requests = count
    after = await asyncio.to_thread(state, server)
    assert after[0] <= before[0] + SPARE_DESCRIPTORS
    assert after[1] <= before[1] + SPARE_THREADS
    assert after[2] <= before[2] + MEMORY_LEFT
    toll.check()


async def test_nothing_is_left_of_clients_that_hang_up(server: ProgramProcess, scale: int) -> None:
    await check_nothing_is_left(server, 250 * scale, call_and_leave)


async def grpc_call_and_leave(server: ProgramProcess, chance: random.Random) -> None:
    """Begin one of the calls over gRPC, and cancel it or drop the whole connection at some point."""
    client = speech_client()
    config = client.Config(voice="af_heart")
    async with grpc.aio.insecure_channel(server.grpc) as channel:
        stub = client.stubs.SpeechStub(channel)
        if chance.randrange(2):
            call = stub.Speak(client.SpeakRequest(config=config, text="slow"))
        else:
            events = [client.ConverseRequest(config=config), client.ConverseRequest(text="slow and so on. ")]
            call = stub.Converse(iter(events[: chance.randrange(3)]))
        try:
            async with asyncio.timeout(chance.choice((0.001, 0.01, 0.05, 0.1))):
                while await call.read() is not grpc.aio.EOF:
                    continue
        except (TimeoutError, grpc.aio.AioRpcError, asyncio.CancelledError):
            return
        finally:
            if chance.randrange(2):
                call.cancel()


async def test_nothing_is_left_of_calls_over_grpc_that_are_cancelled(server: ProgramProcess, scale: int) -> None:
    await check_nothing_is_left(server, 60 * scale, grpc_call_and_leave)


async def test_calls_over_grpc_that_never_say_what_they_want_keep_nobody_out(server: ProgramProcess) -> None:
    client = speech_client()
    async with grpc.aio.insecure_channel(server.grpc) as silent, grpc.aio.insecure_channel(server.grpc) as honest:
        calls = [silent.stream_stream("/polyvox.v1.Speech/Speak")(iter(())) for _ in range(300)]
        await asyncio.sleep(0.2)
        speak = client.stubs.SpeechStub(honest).Speak(client.SpeakRequest(text="Hi."), timeout=20)
        assert [message async for message in speak]
        for call in calls:
            call.cancel()
