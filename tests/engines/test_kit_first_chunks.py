"""Streams that begin go before what is heard later, and hold it up for a moment only."""

import asyncio

import pytest

from polyvox.engines.kit import first_chunks
from polyvox.engines.kit.first_chunks import FirstChunks

pytestmark = pytest.mark.anyio


async def waits(streams: FirstChunks) -> bool:
    """Whether a further chunk waits."""
    passing = asyncio.ensure_future(streams.passed())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting = not passing.done()
    passing.cancel()
    return waiting


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_chunks, "LONGEST_SECONDS", 60.0)


@pytest.mark.usefixtures("patient")
async def test_further_chunks_wait_while_too_many_streams_are_unheard() -> None:
    streams, found = FirstChunks(many=2), []
    unheard = []
    for _ in range(4):
        unheard.append(streams.begin())
        found.append(await waits(streams))
    for stream in unheard:
        stream.heard()
        found.append(await waits(streams))
    assert found == [False, False, True, True, True, False, False, False]


@pytest.mark.usefixtures("patient")
async def test_a_stream_is_heard_once() -> None:
    streams = FirstChunks(many=1)
    first, _, _ = streams.begin(), streams.begin(), streams.begin()
    first.heard()
    first.heard()
    assert await waits(streams), "two others are not heard yet"


@pytest.mark.usefixtures("patient")
async def test_they_wait_for_each_wave_of_streams() -> None:
    streams, found = FirstChunks(many=1), []
    for _ in range(3):
        wave = [streams.begin(), streams.begin()]
        found.append(await waits(streams))
        for stream in wave:
            stream.heard()
        found.append(await waits(streams))
    assert found == [True, False] * 3


async def test_they_wait_no_longer_than_a_listener_can_bear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_chunks, "LONGEST_SECONDS", 0.01)
    streams = FirstChunks(many=1)
    unheard = [streams.begin() for _ in range(3)]
    async with asyncio.timeout(10):
        await streams.passed()
    assert not await waits(streams), "still as many, but for too long"
    for stream in unheard:
        stream.heard()
    monkeypatch.setattr(first_chunks, "LONGEST_SECONDS", 60.0)
    streams.begin(), streams.begin()
    assert await waits(streams)


async def test_where_nothing_is_batched_nobody_waits() -> None:
    streams = FirstChunks()
    for _ in range(100):
        streams.begin()
    assert not await waits(streams)
