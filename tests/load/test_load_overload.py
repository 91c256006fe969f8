"""More load than the engine can take: who is admitted hears something soon, who is not is told so at once.

Clients come whether or not others have been answered, as people do.
"""

import asyncio
import json
import random
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from helpers.attacked_server import attacked_server
from helpers.paced_server import FREE_CHARS, PACE, SECONDS_PER_CHAR
from helpers.processes import ProgramProcess
from helpers.trials import percentile, watched

pytestmark = pytest.mark.anyio

MAX_WAIT = 2.0
NORMAL_FIRST_AUDIO = 1.0
"""Most that first audio takes without a queue, when as many streams run as can be kept playing."""
REFUSAL_LIMIT = 0.1
TEXT = "x" * 57
SECONDS = len(TEXT) * SECONDS_PER_CHAR
OVERLOAD = 4.0


@dataclass(frozen=True, slots=True)
class Answer:
    """One request: its status, the seconds to the first byte of audio or of the refusal, and what it was told."""

    status: int
    first: float
    retry_after: float
    asked_at: float


async def ask(server: ProgramProcess, text: str = TEXT, after: float = 0.0) -> Answer:
    """Speak a text and read it all."""
    await asyncio.sleep(after)
    began = time.monotonic()
    reader, writer = await asyncio.open_connection(*server.address)
    writer.write(speech_request(text))
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    await reader.read(1)  # nothing but audio stands in a body of PCM
    first = time.monotonic() - began
    while await reader.read(65_536):
        pass
    writer.close()
    headers = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if line)
    return Answer(int(head.split()[1]), first, float(headers.get("retry-after", 0)), began)


def speech_request(text: str) -> bytes:
    body = json.dumps({"input": text, "voice": "af_heart", "model": "kokoro", "response_format": "pcm"}).encode()
    head = f"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Content-Type: application/json\r\n\r\n" + body


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    folder = tmp_path_factory.mktemp("server")
    with attacked_server(folder, program="helpers.paced_server", max_wait_seconds=MAX_WAIT) as server:
        yield server


async def offer(server: ProgramProcess, load: float, seconds: float) -> list[Answer]:
    """Requests at random times, `load` times as many as the engine can speak."""
    rate = load * PACE / SECONDS
    chance = random.Random(0)
    times = sorted(chance.uniform(0, seconds) for _ in range(round(rate * seconds)))
    return await asyncio.gather(*(ask(server, after=at) for at in times))


async def come_back(server: ProgramProcess, refused: list[Answer]) -> list[Answer]:
    """Ask again for those who were refused, each when it was told to."""
    now = time.monotonic()
    waits = [max(0.0, answer.asked_at + answer.retry_after - now) for answer in refused]
    return await asyncio.gather(*(ask(server, after=wait) for wait in waits))


async def test_four_times_the_load_is_heard_soon_or_refused_at_once(server: ProgramProcess, scale: int) -> None:
    with watched(server) as toll:
        answers = await offer(server, OVERLOAD, seconds=4.0 + scale)
    again = await come_back(server, [answer for answer in answers if answer.status == 429][-20:])
    heard = [answer.first for answer in answers if answer.status == 200]
    refused = [answer for answer in answers if answer.status == 429]
    figures = {
        "asked": len(answers),
        "heard": len(heard),
        "first_audio_p50": round(percentile(heard, 0.5), 3),
        "first_audio_p95": round(percentile(heard, 0.95), 3),
        "refused_p50": round(percentile([answer.first for answer in refused], 0.5), 4),
        "refused_p95": round(percentile([answer.first for answer in refused], 0.95), 4),
        "retry_after_p50": percentile([answer.retry_after for answer in refused], 0.5),
        "came_back": len(again),
        "admitted_then": sum(answer.status == 200 for answer in again),
    }
    print(json.dumps(figures))
    toll.check()
    assert len(heard) + len(refused) == len(answers)
    assert percentile(heard, 0.95) <= MAX_WAIT + NORMAL_FIRST_AUDIO
    assert percentile([answer.first for answer in refused], 0.95) <= REFUSAL_LIMIT + percentile(toll.idle)
    assert len(heard) >= 0.7 * len(answers) / OVERLOAD, "the engine was not kept busy"
    assert sum(answer.status == 200 for answer in again) >= 0.8 * len(again) == 0.8 * 20


async def test_clients_that_read_nothing_do_not_keep_others_from_being_heard(server: ProgramProcess) -> None:
    silent = [silent_client(server) for _ in range(32)]
    try:
        await until_stalled(server)
        first = (await ask(server)).first
        print(json.dumps({"silent": len(silent), "first_audio": round(first, 3)}))
        assert first <= NORMAL_FIRST_AUDIO
    finally:
        for client in silent:
            client.close()


def silent_client(server: ProgramProcess) -> socket.socket:
    """Asks for a long speech and reads none of it."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    client.connect(server.address)
    client.sendall(speech_request("x" * FREE_CHARS))
    return client


async def until_stalled(server: ProgramProcess) -> None:
    """Wait until the engine has nothing to do: no more audio is made, though all requests are open."""
    made = -1.0
    async with httpx.AsyncClient(base_url=server.url) as client:
        for _ in range(120):
            lines = (await client.get("/metrics")).text.splitlines()
            now = next(float(line.split()[1]) for line in lines if line.startswith("polyvox_audio_seconds_total{"))
            if now == made > 0:
                return
            made = now
            await asyncio.sleep(0.5)
    raise AssertionError("the engine goes on for clients that do not read")
