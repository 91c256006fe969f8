"""The bounded queue of chunks between a session and its reader."""

import asyncio

import numpy as np
import pytest

from polyvox.errors import EngineError, StalledError
from polyvox.service.buffer import ChunkBuffer
from polyvox.types import AudioChunk

pytestmark = pytest.mark.anyio


def chunk(index: int = 0) -> AudioChunk:
    return AudioChunk(np.zeros(1, np.float32), 24_000, index, index)


async def test_chunks_come_out_in_order_and_then_the_end() -> None:
    buffer = ChunkBuffer(3)
    for index in range(3):
        buffer.put(chunk(index))
    buffer.finish()
    assert [(await buffer.get()).index for _ in range(3)] == [0, 1, 2]
    assert await buffer.get() is None
    assert await buffer.get() is None


async def test_an_error_comes_after_the_chunks_before_it_and_stays() -> None:
    buffer = ChunkBuffer(3)
    buffer.put(chunk())
    buffer.finish(EngineError("Broken."))
    assert await buffer.get() is not None
    for _ in range(2):
        with pytest.raises(EngineError):
            await buffer.get()


async def test_discarding_drops_what_was_not_read() -> None:
    buffer = ChunkBuffer(3)
    buffer.put(chunk())
    buffer.finish(discard=True)
    assert await buffer.get() is None


async def test_a_waiting_reader_wakes_for_a_chunk_and_for_the_end() -> None:
    buffer = ChunkBuffer(1)
    reader = asyncio.create_task(buffer.get())
    await asyncio.sleep(0)
    buffer.put(chunk(5))
    assert (await reader).index == 5
    reader = asyncio.create_task(buffer.get())
    await asyncio.sleep(0)
    buffer.finish()
    assert await reader is None


async def test_room_is_there_until_the_buffer_is_full_and_again_when_something_was_read() -> None:
    buffer = ChunkBuffer(2)
    await buffer.room(patience=0.01)
    buffer.put(chunk())
    await buffer.room(patience=0.01)
    buffer.put(chunk())
    waiting = asyncio.create_task(buffer.room(patience=1.0))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    await buffer.get()
    async with asyncio.timeout(0.5):
        await waiting


async def test_patience_ends_when_nothing_is_read() -> None:
    buffer = ChunkBuffer(1)
    buffer.put(chunk())
    with pytest.raises(StalledError):
        await buffer.room(patience=0.01)
    with pytest.raises(StalledError):
        await buffer.emptied(patience=0.01)


async def test_patience_starts_anew_with_every_chunk_that_is_read() -> None:
    buffer = ChunkBuffer(4)
    for index in range(4):
        buffer.put(chunk(index))
    waiting = asyncio.create_task(buffer.emptied(patience=0.15))
    for _ in range(4):
        await asyncio.sleep(0.06)
        await buffer.get()
    await waiting


async def test_a_cancelled_reader_loses_nothing() -> None:
    buffer = ChunkBuffer(1)
    reader = asyncio.create_task(buffer.get())
    await asyncio.sleep(0)
    buffer.put(chunk(7))
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert (await buffer.get()).index == 7
