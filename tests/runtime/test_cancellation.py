"""Calls that nobody waits for any more stop, and no others."""

import asyncio
import threading

import numpy as np
import onnx
import pytest

from polyvox.bundles.onnx_graphs.builder import FLOAT, GraphBuilder
from polyvox.runtime.cancellation import CancelToken, InferenceStoppedError, current_token, running_under
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.ort import OrtGraph
from polyvox.runtime.stage import Stage

pytestmark = pytest.mark.anyio

NODES = 600
LONG = 30_000
"""Rows with which the graph runs for many seconds."""


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "graph.onnx"
    builder = GraphBuilder()
    value = "x"
    for _ in range(NODES):
        value = builder.op("Sin", value)
    onnx.save(builder.model({"x": (FLOAT, ("n", 64))}, {"y": (value, ("n", 64))}), path)
    return OrtGraph(path, 1)


@pytest.fixture
def device():
    executor = DeviceExecutor("test-cancellation", 2)
    yield executor
    executor.close()


def run(graph, rows):
    return graph.run(["y"], {"x": np.full((rows, 64), 0.5, np.float32)})[0]


def entering(started, graph, rows):
    started.set()
    return run(graph, rows)


@pytest.mark.long
async def test_a_run_of_a_graph_stops_when_its_caller_is_cancelled_and_a_run_beside_it_goes_on(device, graph):
    started, outcome = threading.Event(), asyncio.get_running_loop().create_future()
    loop = asyncio.get_running_loop()

    def abandoned():
        try:
            entering(started, graph, LONG)
        except InferenceStoppedError as error:
            loop.call_soon_threadsafe(outcome.set_result, error)
            raise
        loop.call_soon_threadsafe(outcome.set_result, None)

    caller = asyncio.create_task(device.run(abandoned))
    assert await asyncio.to_thread(started.wait, 10)
    beside = asyncio.create_task(device.run(lambda: run(graph, 2_000)))
    await asyncio.sleep(0.05)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert isinstance(await outcome, InferenceStoppedError)
    assert (await beside).shape == (2_000, 64)
    np.testing.assert_array_equal(await device.run(lambda: run(graph, 1)), (await beside)[:1])


async def test_a_batch_of_a_stage_stops_when_all_its_callers_are_gone_and_the_next_is_served(graph):
    device, reports, started = DeviceExecutor("test-abandoned", 1), [], threading.Event()
    stage = Stage(
        "graph", lambda rows: [len(entering(started, graph, rows[0]))], executor=device, observer=reports.append
    )
    caller = asyncio.create_task(stage(LONG))
    assert await asyncio.to_thread(started.wait, 10)
    caller.cancel()
    assert await stage(3) == 3
    assert [report.stopped for report in reports] == [True, False]
    await stage.close()
    device.close()


async def test_a_batch_goes_on_while_one_of_its_callers_waits(device):
    entered, passage, tokens = threading.Event(), threading.Event(), []

    def batch(items):
        tokens.append(current_token())
        entered.set()
        assert passage.wait(10)
        tokens[0].check()
        return items

    stage = Stage("rows", batch, executor=device, max_batch=2)
    first, second = (asyncio.create_task(stage(item)) for item in (1, 2))
    assert await asyncio.to_thread(entered.wait, 10)
    first.cancel()
    await asyncio.wait([first])
    assert not tokens[0].cancelled
    passage.set()
    assert await second == 2
    await stage.close()


async def test_an_error_of_an_abandoned_call_is_not_reported_to_anybody(device):
    complaints, entered = [], threading.Event()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))

    def failing():
        token = current_token()
        entered.set()
        while not token.cancelled:
            entered.wait(0.001)
        token.check()

    caller = asyncio.create_task(device.run(failing))
    assert await asyncio.to_thread(entered.wait, 10)
    caller.cancel()
    await asyncio.wait([caller])
    del caller
    assert await device.run(lambda: "next") == "next"
    await asyncio.to_thread(device.close)
    await asyncio.sleep(0)
    assert complaints == []


def test_a_graph_does_not_start_under_a_cancelled_token(graph):
    token = CancelToken()
    token.cancel()
    with running_under(token), pytest.raises(InferenceStoppedError):
        run(graph, 1)
    assert run(graph, 1).shape == (1, 64)


def test_a_fault_of_a_graph_is_no_stop(graph):
    with pytest.raises(Exception, match="missing from input feed") as raised:
        graph.run(["y"], {"z": np.zeros((1, 64), np.float32)})
    assert not isinstance(raised.value, InferenceStoppedError)


def test_a_callback_is_called_once_within_its_block_and_not_after_it():
    token, calls = CancelToken(), []
    with token.on_cancel(lambda: calls.append("within")):
        token.cancel()
        token.cancel()
    late = CancelToken()
    with late.on_cancel(lambda: calls.append("late")):
        pass
    late.cancel()
    assert calls == ["within"]
