"""Side work: few threads, a bounded queue, and nothing done for a caller who left."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from polyvox.errors import OverloadedError, TextError
from polyvox.service.admission.side_work import SideWork

pytestmark = pytest.mark.anyio


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0.005)


async def test_beyond_the_queue_a_call_is_refused_with_the_time_to_wait() -> None:
    refused: list[int] = []
    side = SideWork(1, 2, 100, lambda: refused.append(1))
    gate = threading.Event()
    calls = [asyncio.create_task(side.run(gate.wait)) for _ in range(3)]
    await settled()
    assert (side.running, side.waiting) == (1, 2)
    with pytest.raises(OverloadedError) as error:
        await side.run(gate.wait)
    assert error.value.retry_after >= 1
    assert refused == [1]
    gate.set()
    assert await asyncio.gather(*calls) == [True] * 3
    await settled()
    assert (side.running, side.waiting) == (0, 0)
    side.close()


@pytest.mark.long
async def test_a_caller_who_leaves_the_queue_costs_nothing() -> None:
    side = SideWork(1, 2, 100)
    gate, ran = threading.Event(), []
    first = asyncio.create_task(side.run(gate.wait))
    await settled()
    second = asyncio.create_task(side.run(lambda: ran.append(2)))
    await settled()
    second.cancel()
    await settled()
    assert side.waiting == 0
    gate.set()
    await first
    await settled()
    assert ran == []
    side.close()


async def test_work_in_pieces_stops_after_its_caller_left() -> None:
    side = SideWork(1, 2, 100)
    gate, made = threading.Event(), []

    def pieces() -> Iterator[int]:
        for piece in range(5):
            made.append(piece)
            yield piece
            gate.wait()

    call = asyncio.create_task(side.run_pieces(pieces))
    await settled()
    call.cancel()
    await settled()
    assert side.running == 1  # the piece under way ends by itself
    gate.set()
    await settled()
    assert side.running == 0
    assert made == [0, 1]
    assert await side.run_pieces(lambda: iter("ab")) == ["a", "b"]
    side.close()


async def test_a_call_that_fails_frees_its_thread() -> None:
    side = SideWork(1, 0, 100)
    with pytest.raises(ZeroDivisionError):
        await side.run(lambda: 1 // 0)
    await settled()
    assert side.running == 0
    assert await side.run(lambda: 7) == 7
    side.close()


def test_a_text_over_the_limit_is_refused_by_its_field() -> None:
    async def check() -> None:
        side = SideWork(1, 0, 100)
        side.check_text("a" * 100, "text")
        with pytest.raises(TextError, match="at most 100") as error:
            side.check_text("a" * 101, "text")
        assert error.value.field == "text"
        side.close()

    asyncio.run(check())
