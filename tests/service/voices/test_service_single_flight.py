"""Work that several callers wait for runs once, and goes on as long as one of them waits."""

import asyncio

import pytest

from polyvox.service.voices.single_flight import SingleFlight

pytestmark = pytest.mark.anyio


class Work:
    """Something that ends when it is told to."""

    def __init__(self):
        self.begun = 0
        self.cancelled = 0
        self.under_way = asyncio.Event()
        self.go_on = asyncio.Event()

    async def __call__(self):
        self.begun += 1
        self.under_way.set()
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return self.begun


async def test_callers_with_one_key_share_its_result():
    shared, work = SingleFlight(), Work()
    waiting = [asyncio.create_task(shared.run("key", work)) for _ in range(5)]
    await work.under_way.wait()
    work.go_on.set()
    assert await asyncio.gather(*waiting) == [1] * 5


async def test_another_key_runs_its_own_work():
    shared, work = SingleFlight(), Work()
    work.go_on.set()
    assert sorted(await asyncio.gather(shared.run("a", work), shared.run("b", work))) in ([1, 2], [2, 2])
    assert work.begun == 2


async def test_a_later_call_runs_the_work_again():
    shared, work = SingleFlight(), Work()
    work.go_on.set()
    assert [await shared.run("key", work), await shared.run("key", work)] == [1, 2]


async def test_an_exception_reaches_every_caller():
    shared, begun = SingleFlight(), asyncio.Event()

    async def fail():
        begun.set()
        await asyncio.sleep(0)
        raise ValueError("no")

    results = await asyncio.gather(*(shared.run("key", fail) for _ in range(3)), return_exceptions=True)
    assert [str(result) for result in results] == ["no"] * 3


async def test_a_cancelled_caller_does_not_disturb_the_others():
    shared, work = SingleFlight(), Work()
    leaving, staying = (asyncio.create_task(shared.run("key", work)) for _ in range(2))
    await work.under_way.wait()
    leaving.cancel()
    await asyncio.wait([leaving])
    work.go_on.set()
    assert await staying == 1
    assert work.cancelled == 0


async def test_the_work_is_cancelled_with_its_last_caller_and_can_run_again():
    shared, work = SingleFlight(), Work()
    waiting = [asyncio.create_task(shared.run("key", work)) for _ in range(2)]
    await work.under_way.wait()
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)
    again = asyncio.create_task(shared.run("key", work))
    await asyncio.sleep(0.01)
    assert work.cancelled == 1
    work.go_on.set()
    assert await again == 2


async def test_closing_cancels_running_work():
    shared, work = SingleFlight(), Work()
    waiting = asyncio.create_task(shared.run("key", work))
    await work.under_way.wait()
    await shared.close()
    await asyncio.wait([waiting])
    assert waiting.cancelled()
    assert work.cancelled == 1
