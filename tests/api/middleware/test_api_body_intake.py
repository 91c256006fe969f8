"""Bodies through the middleware: slow ones, steady ones, and the memory they take meanwhile."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from helpers.fakes import tone_service
from helpers.serving import called, error_of
from polyvox.service.speech import SpeechService

pytestmark = pytest.mark.anyio
JSON = {"Content-Type": "application/json"}


class Pieces(httpx.AsyncByteStream):
    """A body that arrives in pieces, with a pause before each."""

    def __init__(self, *pieces: bytes, pause: float) -> None:
        self._pieces = pieces
        self._pause = pause

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            await asyncio.sleep(self._pause)
            yield piece


def speech(**settings: object) -> SpeechService:
    return tone_service(**settings)


@pytest.mark.long
async def test_a_slow_but_steady_body_is_read_to_its_end() -> None:
    pieces = [b'{"input":"One two', *[b" " * 1_000] * 10, b'.","model":"tone","response_format":"pcm"}']
    async with called(speech(body_timeout_seconds=0.2, body_min_rate=2_000)) as client:
        response = await client.post("/v1/audio/speech", content=Pieces(*pieces, pause=0.06), headers=JSON)
    assert response.status_code == 200


async def test_a_body_that_stops_is_refused_and_its_connection_closed() -> None:
    service = speech(body_timeout_seconds=0.2)
    async with called(service) as client:
        response = await client.post("/v1/audio/speech", content=Pieces(b"{", b" ", pause=2.0), headers=JSON)
    assert response.status_code == 408
    assert response.headers["connection"] == "close"
    assert error_of(response)["code"] == "client_stalled"
    assert service.metrics.registry.get_sample_value("polyvox_refused_bodies_total", {"limit": "slow"}) == 1


async def test_without_memory_left_a_large_body_is_refused_and_a_small_one_read() -> None:
    service = speech(max_pending_body_bytes=2**20)
    taken = service.bodies.open(None)
    taken.hold(2**20)
    async with called(service) as client:
        large = await client.post("/v1/audio/speech", content=b" " * 100_000, headers=JSON)
        small = await client.post("/v1/audio/speech", json={"input": "One.", "model": "tone"})
        taken.close()
        again = await client.post("/v1/audio/speech", content=b" " * 100_000, headers=JSON)
    assert large.status_code == 429
    assert int(large.headers["retry-after"]) > 0
    assert small.status_code == 200
    assert again.status_code == 400
    assert service.bodies.used == 0
