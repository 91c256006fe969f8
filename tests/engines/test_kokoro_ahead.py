"""Chunks of one utterance on their way ahead of their player."""

import asyncio
from contextlib import aclosing

import numpy as np
import pytest

from polyvox.engines.kokoro.ahead import told_in_order
from polyvox.engines.kokoro.call import Call, ModelInput
from polyvox.engines.kokoro.plan import Break, Chunk
from polyvox.engines.kokoro.render import Rendered
from polyvox.engines.kokoro.synthesis import Spoken
from polyvox.errors import EngineError, TextError

pytestmark = pytest.mark.anyio

BROKEN = 13
"""The chunk at which the device fails."""


class Paced:
    """Speaks a second for each call, when it is told to, and remembers what it was asked."""

    def __init__(self, ahead, *, held=False):
        self.ahead = ahead
        self.asked, self.left = [], []
        self.passage = asyncio.Event()
        if not held:
            self.passage.set()

    async def speak(self, call, due):
        self.asked.append((call.input.ids[0], due))
        try:
            await self.passage.wait()
        except asyncio.CancelledError:
            self.left.append(call.input.ids[0])
            raise
        if call.input.ids[0] == BROKEN:
            raise EngineError("The device failed.")
        return Spoken(Rendered(np.zeros(24_000, np.float32), 0, ()), 0.0)

    async def close(self):
        pass


class Script:
    """Calls numbered from 0, read one at a time; at `fault` the text turns out to be bad."""

    def __init__(self, count, fault=None, speed=1.0):
        self.count, self.fault, self.speed = count, fault, speed
        self.read_so_far = 0

    async def read(self):
        await asyncio.sleep(0)
        number = self.read_so_far
        if number == self.fault:
            raise TextError("Bad text.", field="input")
        self.read_so_far += 1
        if number >= self.count:
            return None
        return Call(Chunk((), Break.SENTENCE, 0.0), ModelInput((number,) * 20, np.zeros((1, 256)), self.speed))


async def settled():
    for _ in range(50):
        await asyncio.sleep(0)


async def heard(script, synthesis, came=None):
    """The numbers of all chunks in the order in which they came."""
    came = [] if came is None else came
    async for told in told_in_order(script.read, synthesis):
        came.append(told.call.input.ids[0])
    return came


@pytest.mark.parametrize("ahead", [1, 3])
async def test_chunks_come_in_order_and_all(ahead):
    assert await heard(Script(7), Paced(ahead)) == list(range(7))
    assert await heard(Script(0), Paced(ahead)) == []


@pytest.mark.parametrize("ahead", [1, 3])
async def test_no_more_than_allowed_are_under_way_or_unheard(ahead):
    script, synthesis = Script(9), Paced(ahead)
    async with aclosing(told_in_order(script.read, synthesis)) as chunks:
        for number in range(3):
            await anext(chunks)
            await settled()
            assert len(synthesis.asked) == number + ahead, "those before it, itself, and those ahead"
            assert script.read_so_far == number + ahead


async def test_the_first_is_due_at_once_and_the_next_when_those_before_it_have_been_heard():
    now = asyncio.get_running_loop().time()
    synthesis = Paced(4, held=True)
    waiting = asyncio.create_task(heard(Script(4, speed=0.5), synthesis))
    await settled()
    first, *others = (due for _, due in synthesis.asked)
    assert first == pytest.approx(now, abs=1.0)
    assert np.diff([first, *others]) == pytest.approx([20 * 0.065 / 0.5] * 3), "by the phonemes and the speed"
    synthesis.passage.set()
    assert await waiting == [0, 1, 2, 3]


async def test_a_later_request_s_first_chunk_is_due_before_what_was_asked_ahead():
    early, late = Paced(4, held=True), Paced(4, held=True)
    tasks = [asyncio.create_task(heard(Script(4), synthesis)) for synthesis in (early, late)]
    await settled()
    assert late.asked[0][1] < min(due for _, due in early.asked[1:])
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_what_the_player_really_has_replaces_the_guess():
    synthesis = Paced(1)
    began = asyncio.get_running_loop().time()
    await heard(Script(4), synthesis)
    dues = [due for _, due in synthesis.asked]
    assert np.diff(dues[1:]) == pytest.approx([1.0, 1.0])
    assert dues[1] - began == pytest.approx(1.0, abs=0.5)


async def test_a_fault_in_the_text_is_told_after_the_chunks_before_it():
    came = []
    with pytest.raises(TextError):
        await heard(Script(9, fault=3), Paced(4), came)
    assert came == [0, 1, 2]


async def test_a_chunk_that_fails_ends_the_utterance_and_frees_the_rest():
    before, script, came = asyncio.all_tasks(), Script(20), []
    script.read_so_far = BROKEN - 1
    with pytest.raises(EngineError):
        await heard(script, Paced(4), came)
    assert came == [BROKEN - 1]
    assert asyncio.all_tasks() == before


async def test_leaving_early_frees_everything_under_way():
    before, synthesis = asyncio.all_tasks(), Paced(4)
    chunks = told_in_order(Script(9).read, synthesis)
    await anext(chunks)
    await settled()
    synthesis.passage.clear()
    await anext(chunks)
    await settled()
    await chunks.aclose()
    assert synthesis.left == [4], "the one that was asked for last; those before it had been spoken"
    assert asyncio.all_tasks() == before
