"""Chunks of one utterance in flight ahead of their player."""

import asyncio
from contextlib import aclosing

import numpy as np
import pytest

from helpers.tables import each_row
from polyvox.engines.kit.first_chunks import FirstChunks
from polyvox.engines.kokoro.chunking import Break, PhonemeChunk
from polyvox.engines.kokoro.lookahead import synthesize_in_order
from polyvox.engines.kokoro.render import RenderedChunk
from polyvox.engines.kokoro.request import ModelInput, SynthesisRequest
from polyvox.engines.kokoro.synthesis import SynthesisResult
from polyvox.errors import EngineError, TextError

pytestmark = pytest.mark.anyio

BROKEN = 13
"""The chunk at which the device fails."""


class GatedSynthesis:
    """Gives a second of audio for each request while its gate is open, and remembers requests and cancellations."""

    def __init__(self, lookahead, *, held=False):
        self.lookahead = lookahead
        self.first_chunks = FirstChunks()
        self.asked, self.cancelled = [], []
        self.gate = asyncio.Event()
        if not held:
            self.gate.set()

    async def pieces(self, request, due):
        self.asked.append((request.input.ids[0], due))
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled.append(request.input.ids[0])
            raise
        if request.input.ids[0] == BROKEN:
            raise EngineError("The device failed.")
        yield SynthesisResult(RenderedChunk(np.zeros(24_000, np.float32), 0, ()), 0.0)

    async def close(self):
        pass


class NumberedRequests:
    """Requests numbered from 0, made one at a time; at `fault` the text turns out to be bad."""

    def __init__(self, count, fault=None, speed=1.0):
        self.count, self.fault, self.speed = count, fault, speed
        self.made = 0

    async def next(self):
        await asyncio.sleep(0)
        number = self.made
        if number == self.fault:
            raise TextError("Bad text.", field="input")
        self.made += 1
        if number >= self.count:
            return None
        return SynthesisRequest(
            PhonemeChunk((), Break.SENTENCE, 0.0), ModelInput((number,) * 20, np.zeros((1, 256)), self.speed)
        )


async def settled():
    for _ in range(50):
        await asyncio.sleep(0)


async def collect(requests, synthesis, came=None):
    """The numbers of all chunks in the order in which they came."""
    came = [] if came is None else came
    async for chunk in synthesize_in_order(requests.next, synthesis):
        came.append(chunk.request.input.ids[0])
    return came


@each_row("lookahead", [1, 3])
async def test_chunks_come_in_order_and_all(lookahead):
    assert await collect(NumberedRequests(7), GatedSynthesis(lookahead)) == list(range(7))
    assert await collect(NumberedRequests(0), GatedSynthesis(lookahead)) == []


@each_row("lookahead", [1, 3])
async def test_no_more_than_the_lookahead_are_in_flight_or_not_taken(lookahead):
    requests, synthesis = NumberedRequests(9), GatedSynthesis(lookahead)
    async with aclosing(synthesize_in_order(requests.next, synthesis)) as chunks:
        for number in range(3):
            await anext(chunks)
            await settled()
            assert len(synthesis.asked) == number + lookahead, "those before it, itself, and those ahead"
            assert requests.made == number + lookahead


async def test_the_first_is_due_at_once_and_the_next_when_those_before_it_have_been_heard():
    now = asyncio.get_running_loop().time()
    synthesis = GatedSynthesis(4, held=True)
    waiting = asyncio.create_task(collect(NumberedRequests(4, speed=0.5), synthesis))
    await settled()
    first, *others = (due for _, due in synthesis.asked)
    assert first == pytest.approx(now, abs=1.0)
    assert np.diff([first, *others]) == pytest.approx([20 * 0.065 / 0.5] * 3), "by the phonemes and the speed"
    synthesis.gate.set()
    assert await waiting == [0, 1, 2, 3]


async def test_a_later_request_s_first_chunk_is_due_before_what_was_asked_ahead():
    early, late = GatedSynthesis(4, held=True), GatedSynthesis(4, held=True)
    tasks = [asyncio.create_task(collect(NumberedRequests(4), synthesis)) for synthesis in (early, late)]
    await settled()
    assert late.asked[0][1] < min(due for _, due in early.asked[1:])
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_the_real_duration_replaces_the_expected_one():
    synthesis = GatedSynthesis(1)
    began = asyncio.get_running_loop().time()
    await collect(NumberedRequests(4), synthesis)
    dues = [due for _, due in synthesis.asked]
    assert np.diff(dues[1:]) == pytest.approx([1.0, 1.0])
    assert dues[1] - began == pytest.approx(1.0, abs=0.5)


async def test_an_error_in_the_text_is_raised_after_the_chunks_before_it():
    came = []
    with pytest.raises(TextError):
        await collect(NumberedRequests(9, fault=3), GatedSynthesis(4), came)
    assert came == [0, 1, 2]


async def test_a_chunk_that_fails_ends_the_utterance_and_frees_the_rest():
    before, requests, came = asyncio.all_tasks(), NumberedRequests(20), []
    requests.made = BROKEN - 1
    with pytest.raises(EngineError):
        await collect(requests, GatedSynthesis(4), came)
    assert came == [BROKEN - 1]
    assert asyncio.all_tasks() == before


async def test_closing_early_cancels_everything_in_flight():
    before, synthesis = asyncio.all_tasks(), GatedSynthesis(4)
    chunks = synthesize_in_order(NumberedRequests(9).next, synthesis)
    await anext(chunks)
    await settled()
    synthesis.gate.clear()
    await anext(chunks)
    await settled()
    await chunks.aclose()
    assert synthesis.cancelled == [4], "the one that was asked for last; those before it had been spoken"
    assert asyncio.all_tasks() == before
