"""A first chunk does not wait for the end of a long chunk that is not needed yet."""

import asyncio
import threading

import numpy as np
import pytest

from polyvox.engines.kokoro.chunking import Break, PhonemeChunk
from polyvox.engines.kokoro.request import ModelInput, ModelOutput, SynthesisRequest
from polyvox.engines.kokoro.synthesis import SerialSynthesis
from polyvox.runtime.cancellation import current_token
from polyvox.runtime.precedence import Precedence, enter_precedence

pytestmark = pytest.mark.anyio

SHORT, LONG = 4, 2_000
SOON, LATER = 0.0, 1e6
"""Seconds from now until a chunk is due."""


def request(size):
    return SynthesisRequest(PhonemeChunk((), Break.SENTENCE), ModelInput((7,) * size, np.zeros(1, np.float32), 1.0))


class HeldNetwork:
    """Holds long chunks until they are let through or stopped; remembers the sizes that it began and finished."""

    def __init__(self):
        self.began, self.finished = [], []
        self.entered, self.passage = threading.Event(), threading.Event()

    def __call__(self, item):
        self.began.append(len(item.ids))
        token = current_token()
        if len(item.ids) >= LONG // 2:
            self.entered.set()
            while not self.passage.wait(0.001):
                token.check()
        else:
            self.passage.wait(0.02)  # a pace that is known, and slow enough for a long chunk to be worth stopping
        self.finished.append(len(item.ids))
        return ModelOutput(np.zeros(2_400, np.float32), np.ones(len(item.ids) + 2, np.int64))


@pytest.fixture
async def network():
    return HeldNetwork()


@pytest.fixture
async def reports():
    return []


@pytest.fixture
async def synthesis(network, reports):
    synthesis = SerialSynthesis(network, 1, reports.append)
    await synthesis.synthesize(request(SHORT), 0.0)
    yield synthesis
    network.passage.set()
    await synthesis.close()


async def with_a_long_chunk_running(synthesis, network, seconds):
    due = asyncio.get_running_loop().time() + seconds
    running = asyncio.create_task(synthesis.synthesize(request(LONG), due))
    assert await asyncio.to_thread(network.entered.wait, 10)
    return running


@pytest.mark.parametrize("seconds", [SOON, 0.04], ids=["late already", "late if it waited"])
async def test_a_chunk_that_is_due_later_makes_way_and_is_synthesised_after_the_urgent_one(
    synthesis, network, reports, seconds
):
    long = await with_a_long_chunk_running(synthesis, network, LATER)
    async with asyncio.timeout(10):
        await synthesis.synthesize(request(SHORT), asyncio.get_running_loop().time() + seconds)
    assert not long.done()
    network.passage.set()
    await long
    assert network.began == [SHORT, LONG, SHORT, LONG]
    assert network.finished == [SHORT, SHORT, LONG]
    assert [report.stopped for report in reports] == [False, True, False, False]


async def test_a_chunk_goes_on_where_nobody_is_in_a_hurry(synthesis, network):
    long = await with_a_long_chunk_running(synthesis, network, LATER)
    later = asyncio.get_running_loop().time() + LATER + 1
    short = asyncio.create_task(synthesis.synthesize(request(SHORT), later))
    await asyncio.sleep(0.03)
    network.passage.set()
    await asyncio.gather(long, short)
    assert network.finished == [SHORT, LONG, SHORT] == network.began


@pytest.mark.parametrize("long_due", [SOON, 0.05], ids=["late", "soon"])
async def test_one_first_chunk_runs_beside_a_chunk_whose_player_would_run_dry(synthesis, network, long_due):
    long = await with_a_long_chunk_running(synthesis, network, long_due)
    now = asyncio.get_running_loop().time()
    async with asyncio.timeout(10):
        await synthesis.synthesize(request(SHORT), now)
    assert not long.done()
    network.passage.set()
    await long
    assert network.began == [SHORT, LONG, SHORT]
    assert network.finished == [SHORT, SHORT, LONG]


async def test_a_chunk_that_is_cancelled_while_it_makes_way_is_not_synthesised_again(synthesis, network):
    long = await with_a_long_chunk_running(synthesis, network, LATER)
    short = asyncio.create_task(synthesis.synthesize(request(SHORT), asyncio.get_running_loop().time()))
    await asyncio.sleep(0)
    long.cancel()
    await short
    with pytest.raises(asyncio.CancelledError):
        await long
    assert network.began == [SHORT, LONG, SHORT]


async def test_with_a_free_worker_nothing_makes_way(network):
    synthesis = SerialSynthesis(network, 2, None)
    await synthesis.synthesize(request(SHORT), 0.0)
    long = await with_a_long_chunk_running(synthesis, network, LATER)
    await synthesis.synthesize(request(SHORT), asyncio.get_running_loop().time())
    network.passage.set()
    await long
    assert network.began == [SHORT, LONG, SHORT]
    await synthesis.close()


async def of(stream, work):
    enter_precedence(stream)
    return await work


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside another"])
async def test_chunks_of_a_client_that_has_too_many_make_way_for_one_that_goes_first(synthesis, network, beside):
    greedy = Precedence(makes_way=lambda: True)
    now = asyncio.get_running_loop().time()
    sizes, long = [LONG, LONG // 2][: 1 + beside], []
    for size in sizes:
        network.entered.clear()
        long.append(asyncio.create_task(of(greedy, synthesis.synthesize(request(size), now))))
        assert await asyncio.to_thread(network.entered.wait, 10)
    async with asyncio.timeout(10):
        await of(Precedence(goes_first=True), synthesis.synthesize(request(SHORT), now))
    assert network.finished == [SHORT, SHORT]
    network.passage.set()
    await asyncio.gather(*long)
    assert sorted(network.began) == sorted([SHORT, SHORT, *sizes, *sizes])


async def test_a_chunk_of_a_job_is_stopped_for_a_live_one_a_few_times_and_then_left_to_its_end(synthesis, network):
    job = asyncio.create_task(of(Precedence(background=True), synthesis.synthesize(request(LONG), 0.0)))
    for live in range(4):
        assert await asyncio.to_thread(network.entered.wait, 10)
        network.entered.clear()
        async with asyncio.timeout(10):
            await synthesis.synthesize(request(SHORT), asyncio.get_running_loop().time())
        assert network.finished == [SHORT] * (live + 2)
    network.passage.set()
    await job
    assert network.began == [SHORT, *[LONG, SHORT] * 4], "it was not stopped a fourth time"
    assert network.finished[-1] == LONG


async def test_a_client_that_has_too_many_begins_nothing_beside_a_chunk_that_goes_first(synthesis, network):
    first = asyncio.create_task(of(Precedence(goes_first=True), synthesis.synthesize(request(LONG), 0.0)))
    assert await asyncio.to_thread(network.entered.wait, 10)
    greedy = Precedence(makes_way=lambda: True)
    other = asyncio.create_task(of(greedy, synthesis.synthesize(request(SHORT), 0.0)))
    await asyncio.sleep(0.03)
    assert network.began == [SHORT, LONG]
    network.passage.set()
    await asyncio.gather(first, other)
