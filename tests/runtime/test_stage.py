"""What a stage promises to the sessions that share it."""

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.tables import each_row
from polyvox.errors import EngineError, UnavailableError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.precedence import Precedence, enter_precedence
from polyvox.runtime.stage import BatchReport, Stage

pytestmark = pytest.mark.anyio


@pytest.fixture
async def device() -> AsyncIterator[DeviceExecutor]:
    executor = DeviceExecutor("test-device", 1)
    yield executor
    executor.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("test-device")]


class Gate:
    """A batch function that records what it ran and holds each batch until it is let through."""

    def __init__(self, *, open_: bool = True) -> None:
        self.batches: list[list[int]] = []
        self.entered = threading.Event()
        self.passage = threading.Event()
        if open_:
            self.passage.set()

    def __call__(self, items: list[int]) -> list[int]:
        self.batches.append(list(items))
        self.entered.set()
        assert self.passage.wait(5)
        return [item * 10 for item in items]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.001)


def ask(stage: Stage[int, int], *items: int, due: Callable[[int], float] = lambda _: 0.0) -> list[asyncio.Task[int]]:
    return [asyncio.create_task(stage(item, due=due(item))) for item in items]


async def behind_a_held_batch(stage: Stage[int, int], gate: Gate) -> asyncio.Task[int]:
    """Occupy the device with item 0, so that what comes next has to queue."""
    (first,) = ask(stage, 0)
    await until(gate.entered.is_set)
    return first


async def test_each_caller_gets_the_result_of_its_own_item(device: DeviceExecutor) -> None:
    stage = Stage("times ten", Gate(), executor=device, max_batch=3)
    assert await asyncio.gather(*(stage(item) for item in range(8))) == [item * 10 for item in range(8)]
    await stage.close()


async def test_calls_made_together_share_batches_of_at_most_max_batch(device: DeviceExecutor) -> None:
    gate = Gate()
    stage = Stage("gate", gate, executor=device, max_batch=3)
    await asyncio.gather(*(stage(item) for item in range(8)))
    assert gate.batches == [[0, 1, 2], [3, 4, 5], [6, 7]]
    await stage.close()


async def test_the_item_due_first_runs_first_and_ties_run_in_order_of_arrival(device: DeviceExecutor) -> None:
    gate = Gate(open_=False)
    stage = Stage("gate", gate, executor=device, max_batch=1)
    first = await behind_a_held_batch(stage, gate)
    rest = ask(stage, 1, 2, 3, 4, due={1: 9.0, 2: 3.0, 3: 9.0, 4: 1.0}.__getitem__)
    await until(lambda: len(stage) == 4)
    gate.passage.set()
    await asyncio.gather(first, *rest)
    assert gate.batches == [[0], [4], [2], [1], [3]]
    await stage.close()


async def test_only_items_of_one_key_share_a_batch(device: DeviceExecutor) -> None:
    gate = Gate(open_=False)
    stage = Stage("gate", gate, executor=device, max_batch=4, key=lambda item: item % 2)
    first = await behind_a_held_batch(stage, gate)
    rest = ask(stage, 1, 2, 3, 4, 5, due=lambda item: 0.0 if item == 3 else float(item))
    await until(lambda: len(stage) == 5)
    gate.passage.set()
    await asyncio.gather(first, *rest)
    assert gate.batches == [[0], [3, 1, 5], [2, 4]]
    await stage.close()


async def test_groups_may_differ_in_how_many_fit_into_a_batch(device: DeviceExecutor) -> None:
    gate = Gate(open_=False)
    stage = Stage("s", gate, executor=device, max_batch=8, key=lambda item: item % 2, room=lambda odd: 1 if odd else 3)
    first = await behind_a_held_batch(stage, gate)
    others = ask(stage, 1, 2, 3, 4, 6, 8)
    await until(lambda: len(stage) == 6)
    gate.passage.set()
    await asyncio.gather(first, *others)
    assert gate.batches == [[0], [1], [2, 4, 6], [3], [8]]
    await stage.close()


async def test_a_batch_costs_no_more_than_max_cost_and_the_most_urgent_is_always_in_it(device: DeviceExecutor) -> None:
    gate = Gate(open_=False)
    stage = Stage("s", gate, executor=device, max_batch=8, cost=lambda item: item, max_cost=10)
    first = await behind_a_held_batch(stage, gate)
    due = {4: 5.0, 5: 3.0, 3: 4.0, 30: 2.0, 2: 1.0, 12: 9.0, 1: 9.5}
    rest = ask(stage, *due, due=due.__getitem__)
    await until(lambda: len(stage) == len(due))
    gate.passage.set()
    assert await asyncio.gather(first, *rest) == [0, *(item * 10 for item in due)]
    assert gate.batches == [[0], [2], [30], [5, 3], [4], [12], [1]]
    await stage.close()


async def test_a_lone_item_waits_for_company_no_longer_than_max_wait(device: DeviceExecutor) -> None:
    gate = Gate()
    stage = Stage("gate", gate, executor=device, max_batch=2, max_wait=0.05)
    began = time.monotonic()
    await stage(1)
    assert time.monotonic() - began >= 0.05
    await stage.close()


async def test_company_that_fills_the_batch_ends_the_wait(device: DeviceExecutor) -> None:
    gate = Gate()
    stage = Stage("gate", gate, executor=device, max_batch=2, max_wait=30.0)
    tasks = ask(stage, 1)
    await asyncio.sleep(0.01)
    tasks += ask(stage, 2)
    async with asyncio.timeout(5):
        await asyncio.gather(*tasks)
    assert gate.batches == [[1, 2]]
    await stage.close()


async def test_the_device_does_not_idle_for_a_lonely_urgent_item_when_others_are_ready(device: DeviceExecutor) -> None:
    gate = Gate()
    stage = Stage("gate", gate, executor=device, max_batch=2, max_wait=30.0, key=lambda item: item % 2)
    tasks = ask(stage, 1, 2, 4, due=lambda item: float(item))
    async with asyncio.timeout(5):
        await asyncio.gather(*tasks)
    assert gate.batches == [[1], [2, 4]]
    await stage.close()


async def test_a_cancelled_waiter_leaves_the_queue_before_the_next_batch(device: DeviceExecutor) -> None:
    gate = Gate(open_=False)
    stage = Stage("gate", gate, executor=device, max_batch=4)
    first = await behind_a_held_batch(stage, gate)
    kept, dropped = ask(stage, 1, 2)
    await until(lambda: len(stage) == 2)
    dropped.cancel()
    with pytest.raises(asyncio.CancelledError):
        await dropped
    assert len(stage) == 1
    gate.passage.set()
    assert await asyncio.gather(first, kept) == [0, 10]
    assert gate.batches == [[0], [1]]
    await stage.close()


async def test_waiters_cancelled_in_the_very_turn_a_batch_is_formed_do_not_ride_in_it(device: DeviceExecutor) -> None:
    gate = Gate()
    stage = Stage("gate", gate, executor=device, max_batch=1)
    await stage(0)
    tasks = ask(stage, 1, 2)
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError) for result in done)
    assert await stage(3) == 30
    assert gate.batches == [[0], [3]]
    await stage.close()


async def test_a_waiter_cancelled_while_its_batch_runs_leaves_at_once_and_its_mates_are_served(
    device: DeviceExecutor,
) -> None:
    gate = Gate(open_=False)
    stage = Stage("gate", gate, executor=device, max_batch=2)
    leaver, mate = ask(stage, 1, 2)
    await until(gate.entered.is_set)
    leaver.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaver
    gate.passage.set()
    assert await mate == 20
    await stage.close()


async def test_an_exception_fails_its_own_batch_and_no_other(device: DeviceExecutor) -> None:
    def fragile(items: list[int]) -> list[int]:
        if 13 in items:
            raise ValueError("thirteen")
        return items

    stage = Stage("fragile", fragile, executor=device, max_batch=2)
    results = await asyncio.gather(*(stage(item) for item in (12, 13, 14, 15)), return_exceptions=True)
    assert [str(result) for result in results] == ["thirteen", "thirteen", "14", "15"]
    assert await stage(16) == 16
    await stage.close()


@pytest.mark.parametrize("error", [StopIteration(), asyncio.CancelledError()])
async def test_exceptions_that_futures_cannot_carry_still_wake_the_waiter(
    device: DeviceExecutor, error: BaseException
) -> None:
    def raising(items: list[int]) -> list[int]:
        raise error

    stage = Stage("raising", raising, executor=device)
    with pytest.raises(RuntimeError, match=type(error).__name__):
        async with asyncio.timeout(5):
            await stage(1)
    await stage.close()


async def test_a_batch_function_that_loses_items_is_an_engine_error(device: DeviceExecutor) -> None:
    stage = Stage("forgetful", lambda items: items[1:], executor=device, max_batch=2)
    with pytest.raises(EngineError, match="1 results for 2 items"):
        await asyncio.gather(stage(1), stage(2))
    await stage.close()


async def test_a_key_function_that_fails_fails_only_its_caller(device: DeviceExecutor) -> None:
    stage = Stage("keyed", lambda items: items, executor=device, key=lambda item: 1 // item)
    with pytest.raises(ZeroDivisionError):
        await stage(0)
    assert await stage(1) == 1
    await stage.close()


async def test_close_finishes_the_running_batch_and_refuses_the_rest(device: DeviceExecutor) -> None:
    tasks = asyncio.all_tasks()
    gate = Gate(open_=False)
    stage = Stage("gate", gate, executor=device)
    first = await behind_a_held_batch(stage, gate)
    (queued,) = ask(stage, 1)
    await until(lambda: len(stage) == 1)
    closing = asyncio.create_task(stage.close())
    with pytest.raises(UnavailableError, match="'gate' is closed"):
        await queued
    gate.passage.set()
    await closing
    assert await first == 0
    with pytest.raises(UnavailableError):
        await stage(2)
    assert asyncio.all_tasks() == tasks


async def test_as_many_batches_run_side_by_side_as_the_device_has_threads() -> None:
    device = DeviceExecutor("test-pair", 2)
    meeting = threading.Barrier(2, timeout=5)

    def meet(items: list[int]) -> list[int]:
        meeting.wait()
        return items

    stage = Stage("meet", meet, executor=device)
    assert await asyncio.gather(stage(1), stage(2)) == [1, 2]
    await stage.close()
    device.close()


async def test_stages_on_one_device_choose_their_batch_only_when_the_thread_is_free(device: DeviceExecutor) -> None:
    gate, other = Gate(open_=False), Gate()
    held = Stage("held", gate, executor=device)
    late = Stage("late", other, executor=device, max_batch=8)
    first = await behind_a_held_batch(held, gate)
    tasks = ask(late, 1)
    await asyncio.sleep(0.01)
    tasks += ask(late, 2)
    await until(lambda: len(late) == 2)
    gate.passage.set()
    await asyncio.gather(first, *tasks)
    assert other.batches == [[1, 2]]
    await held.close()
    await late.close()


async def test_every_batch_is_reported_with_its_size_and_times(device: DeviceExecutor) -> None:
    reports: list[BatchReport] = []

    def slow(items: list[int]) -> list[int]:
        time.sleep(0.1)
        return items

    stage = Stage("slow", slow, executor=device, max_batch=2, observer=reports.append)
    await asyncio.gather(stage(1), stage(2), stage(3))
    await stage.close()
    assert [(report.stage, report.size) for report in reports] == [("slow", 2), ("slow", 1)]
    assert all(report.run_seconds >= 0.1 for report in reports)
    assert reports[1].wait_seconds >= 0.1 > reports[0].wait_seconds


@pytest.mark.long
async def test_an_idle_stage_keeps_no_item_or_result_alive(device: DeviceExecutor) -> None:
    class Big:
        pass

    stage: Stage[Big, Big] = Stage("big", lambda items: [Big() for _ in items], executor=device)
    item = Big()
    result = await stage(item)
    traces = weakref.ref(item), weakref.ref(result)
    del item, result
    await asyncio.sleep(0.01)
    gc.collect()
    assert [trace() for trace in traces] == [None, None]
    await stage.close()


async def test_a_call_on_the_device_that_is_cancelled_keeps_its_thread_until_it_ends() -> None:
    device = DeviceExecutor("test-single", 1)
    passage = threading.Event()
    held = asyncio.create_task(device.run(lambda: passage.wait(5)))
    await asyncio.sleep(0.01)
    held.cancel()
    with pytest.raises(asyncio.CancelledError):
        await held
    following = asyncio.create_task(device.reserve())
    await asyncio.sleep(0.02)
    assert not following.done()
    passage.set()
    await following
    device.release()
    assert await device.run(lambda: "next") == "next"
    device.close()
    with pytest.raises(UnavailableError, match="closed"):
        await device.run(lambda: None)


asks = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=24)


@given(asks=asks, max_batch=st.integers(1, 6))
@examples(60)
def test_any_queue_is_served_completely_grouped_and_by_due_time(asks: list[tuple[int, int]], max_batch: int) -> None:
    """Model: take the earliest due; add its group's next most urgent; repeat until nothing is left."""
    batches: list[list[tuple[int, int, int]]] = []
    entered, passage = threading.Event(), threading.Event()

    def run(items: list[tuple[int, int, int]]) -> list[int]:
        entered.set()
        passage.wait(5)
        batches.append(items)
        return [place for place, _, _ in items]

    async def scenario() -> list[int]:
        device = DeviceExecutor("test-model", 1)
        stage = Stage("model", run, executor=device, max_batch=max_batch, key=lambda item: item[1])
        first = asyncio.create_task(stage((-1, -1, 0)))
        await until(entered.is_set)
        rest = [asyncio.create_task(stage((place, key, due), due=float(due))) for place, (key, due) in enumerate(asks)]
        await until(lambda: len(stage) == len(asks))
        passage.set()
        await first
        answers = await asyncio.gather(*rest)
        await stage.close()
        device.close()
        return answers

    assert asyncio.run(scenario()) == list(range(len(asks)))
    waiting = sorted(((place, key, due) for place, (key, due) in enumerate(asks)), key=lambda item: (item[2], item[0]))
    expected = []
    while waiting:
        batch = [item for item in waiting if item[1] == waiting[0][1]][:max_batch]
        waiting = [item for item in waiting if item not in batch]
        expected.append(batch)
    assert batches[1:] == expected


@pytest.mark.parametrize("isolates", [True, False])
async def test_an_item_that_fails_takes_no_other_with_it_where_the_stage_isolates(
    device: DeviceExecutor, isolates: bool
) -> None:
    batches: list[list[int]] = []

    def run(items: list[int]) -> list[int]:
        batches.append(list(items))
        if 2 in items:
            raise ValueError("two")
        return [item * 10 for item in items]

    stage = Stage[int, int]("s", run, executor=device, max_batch=3, max_wait=5.0, isolates=isolates)
    results = await asyncio.gather(*ask(stage, 1, 2, 3), return_exceptions=True)
    if isolates:
        assert [results[0], results[2]] == [10, 30]
        assert batches == [[1, 2, 3], [1], [2], [3]]
    failed = results[1:2] if isolates else results
    assert [str(error) for error in failed] == ["two"] * len(failed)
    await stage.close()


async def test_what_goes_first_does_not_wait_for_what_is_overdue(device: DeviceExecutor) -> None:
    gate = Gate(open_=False)
    stage = Stage("s", gate, executor=device)
    late = [asyncio.create_task(stage(item, due=1.0)) for item in (1, 2)]
    await until(lambda: len(gate.batches) == 1)
    enter_precedence(Precedence(goes_first=True))
    first = asyncio.create_task(stage(3, due=1e9))
    await asyncio.sleep(0)
    gate.passage.set()
    await asyncio.gather(*late, first)
    await stage.close()
    assert gate.batches == [[1], [3], [2]]


async def test_a_stream_that_goes_first_keeps_the_order_of_its_own_steps(device: DeviceExecutor) -> None:
    gate = Gate(open_=False)
    stage = Stage("s", gate, executor=device)
    held = await behind_a_held_batch(stage, gate)
    enter_precedence(Precedence(goes_first=True))
    steps = ask(stage, 2, 1, due=float)
    await asyncio.sleep(0)
    gate.passage.set()
    await asyncio.gather(held, *steps)
    await stage.close()
    assert gate.batches == [[0], [1], [2]]


async def test_a_stream_goes_first_no_longer_than_until_its_first_audio(device: DeviceExecutor) -> None:
    gate = Gate(open_=False)
    stage = Stage("s", gate, executor=device)
    held = await behind_a_held_batch(stage, gate)
    other = ask(stage, 1, due=float)
    stream = Precedence(goes_first=True)
    enter_precedence(stream)
    ahead = ask(stage, 2, due=float)
    await asyncio.sleep(0)
    stream.goes_first = False
    gate.passage.set()
    await asyncio.gather(held, *other, *ahead)
    await stage.close()
    assert gate.batches == [[0], [1], [2]]


@each_row("makes_way", [True, False])
async def test_the_cores_are_left_to_a_stream_that_goes_first_by_those_that_have_too_many(makes_way: bool) -> None:
    executor, gate = DeviceExecutor("two-threads", 2), Gate(open_=False)
    stage = Stage("s", gate, executor=executor, clears_for_first=True)
    stream = Precedence(goes_first=True)
    enter_precedence(stream)
    first = ask(stage, 0)
    await until(gate.entered.is_set)
    enter_precedence(Precedence(makes_way=lambda: makes_way))
    other = ask(stage, 1)
    await asyncio.sleep(0.02)
    assert gate.batches == ([[0]] if makes_way else [[0], [1]])
    gate.passage.set()
    async with asyncio.timeout(5):  # it asks for no second step, and is not waited for
        await asyncio.gather(*first, *other)
    await stage.close()
    executor.close()


@each_row("callers_first", [True, False])
async def test_the_next_step_of_an_urgent_stream_is_there_before_a_thread_takes_another(callers_first: bool) -> None:
    executor, gate = DeviceExecutor("one-thread", 1), Gate()
    stage = Stage("s", gate, executor=executor, callers_first=callers_first)

    async def steps(items: Sequence[int], due: float) -> None:
        for item in items:
            await stage(item, due=due)

    await asyncio.gather(steps([1, 2, 3], 1.0), steps([4, 5], 2.0))
    await stage.close()
    executor.close()
    expected = [1, 2, 3, 4, 5] if callers_first else [1, 4, 2, 5, 3]
    assert gate.batches == [[item] for item in expected]


async def test_between_two_steps_of_a_stream_that_goes_first_nothing_is_begun() -> None:
    executor, gate = DeviceExecutor("two-threads", 2), Gate()
    stage = Stage("s", gate, executor=executor, clears_for_first=True)
    stream = Precedence(goes_first=True)
    greedy = Precedence(makes_way=lambda: True)

    async def two_steps() -> None:
        enter_precedence(stream)
        await stage(1, due=0.0)
        await asyncio.sleep(0.005)
        await stage(2, due=0.0)
        stream.goes_first = False

    async def waiting() -> None:
        enter_precedence(greedy)
        await stage(3, due=0.0)

    await asyncio.gather(two_steps(), waiting())
    await stage.close()
    executor.close()
    assert gate.batches == [[1], [2], [3]]
