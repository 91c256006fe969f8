"""Background steps wait while live ones are at work, and go on after all."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable

import pytest

from polyvox.runtime.background_steps import BackgroundSteps
from polyvox.runtime.cancellation import current_token
from polyvox.runtime.stage import BatchReport

pytestmark = pytest.mark.anyio

NEVER = 1e6


class Held:
    """A step that lasts until it is let through or stopped."""

    def __init__(self) -> None:
        self.entered, self.passage = threading.Event(), threading.Event()
        self.began = 0

    def __call__(self) -> int:
        self.began += 1
        self.entered.set()
        while not self.passage.wait(0.001):
            current_token().check()
        return self.began


@pytest.fixture
async def held() -> AsyncIterator[Held]:
    held = Held()
    yield held
    held.passage.set()


def started(steps: BackgroundSteps, fn: Callable[[], int]) -> "asyncio.Task[int]":
    return asyncio.create_task(steps.run(fn))


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_no_step_begins_beside_a_live_one_nor_between_two_of_them(held: Held) -> None:
    held.passage.set()
    steps = BackgroundSteps("s", 2, patience=NEVER)
    assert await started(steps, held) == 1
    with steps.live():
        waiting = started(steps, held)
        await turns()
    await turns()
    with steps.live():
        await asyncio.sleep(0.06)  # longer than the time between two steps of a stream
        assert held.began == 1
    assert await asyncio.wait_for(waiting, 5) == 2
    await steps.close()


async def test_steps_that_waited_together_do_not_all_begin_before_the_next_live_one(held: Held) -> None:
    steps = BackgroundSteps("s", 1, patience=NEVER)
    first, second = started(steps, held), started(steps, held)
    await asyncio.to_thread(held.entered.wait, 5)
    with steps.live():
        held.passage.set()
        assert await asyncio.wait_for(first, 5) == 1
        await turns()
        assert held.began == 1
    assert await asyncio.wait_for(second, 5) == 2
    await steps.close()


async def test_beside_live_steps_without_end_one_begins_after_a_while(held: Held) -> None:
    held.passage.set()
    steps = BackgroundSteps("s", 2, patience=0.05)
    await started(steps, held)
    with steps.live():
        began = asyncio.get_running_loop().time()
        two = [started(steps, held), started(steps, held)]
        await asyncio.wait_for(asyncio.gather(*two), 5)
        assert asyncio.get_running_loop().time() - began >= 0.09, "one at a time"
    await steps.close()


async def test_a_step_is_stopped_for_a_live_one_and_run_again_but_not_for_ever(held: Held) -> None:
    reports: list[BatchReport] = []
    steps = BackgroundSteps("s", 1, patience=NEVER, stops=2, observer=reports.append)
    step = started(steps, held)
    for began in (1, 2, 3):
        await asyncio.to_thread(held.entered.wait, 5)
        held.entered.clear()
        assert held.began == began
        with steps.live():
            await asyncio.sleep(0.01)
    held.passage.set()
    assert await asyncio.wait_for(step, 5) == 3
    assert [report.stopped for report in reports] == [True, True, False]
    await steps.close()


async def test_a_caller_that_leaves_while_it_waits_gives_its_thread_back(held: Held) -> None:
    held.passage.set()
    steps = BackgroundSteps("s", 1, patience=NEVER)
    await started(steps, held)
    with steps.live():
        waiting = started(steps, held)
        await turns()
        waiting.cancel()
        await asyncio.wait([waiting])
    assert await asyncio.wait_for(started(steps, held), 5) == 2
    await steps.close()


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own on Linux only")
async def test_its_threads_have_the_lowest_priority() -> None:
    steps = BackgroundSteps("s", 1, patience=NEVER)
    own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    assert await steps.run(lambda: os.getpriority(os.PRIO_PROCESS, threading.get_native_id())) > own
    await steps.close()
