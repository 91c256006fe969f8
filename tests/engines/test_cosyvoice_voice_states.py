"""Decoder states of voices are computed once, kept within bounds, and never kept when they failed."""

import asyncio
from dataclasses import dataclass

import numpy as np
import pytest

from polyvox.engines.cosyvoice.decoder.speech_decoder import DecoderState
from polyvox.engines.cosyvoice.decoder.voice_states import MAX_VOICES, VoiceStates
from polyvox.errors import EngineError, UnavailableError
from polyvox.types import PreparedVoice

pytestmark = pytest.mark.anyio


@dataclass(frozen=True, slots=True)
class Sized(DecoderState):
    size: int = 10

    @property
    def nbytes(self):
        return self.size


def voice(number, digest=""):
    return PreparedVoice("", digest, {"embedding": np.full(4, number, np.float32)})


class Computations:
    """Records the voices that were computed; each waits until it is let through, and fails while it is told to."""

    def __init__(self, *, open_=True):
        self.voices, self.passage, self.failing = [], asyncio.Event(), False
        if open_:
            self.passage.set()

    async def __call__(self, asked):
        self.voices.append(int(asked.arrays["embedding"][0]))
        await self.passage.wait()
        if self.failing:
            raise EngineError("no memory")
        return Sized(0)


async def turns():
    """Let all tasks go as far as they can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_streams_that_ask_at_once_share_one_computation():
    computations = Computations(open_=False)
    states = VoiceStates(computations, 100)
    asked = [asyncio.create_task(states.get(voice(1, digest))) for digest in ("a", "b", "c")]
    await turns()
    computations.passage.set()
    first, second, third = await asyncio.gather(*asked)
    assert first is second is third
    assert await states.get(voice(1)) is first
    assert computations.voices == [1]


async def test_the_least_recently_used_voices_go_when_all_are_too_large_together():
    computations = Computations()
    states = VoiceStates(computations, 25)
    for number in (1, 2, 1, 3):
        await states.get(voice(number))
    assert len(states) == 2
    assert computations.voices == [1, 2, 3]
    await states.get(voice(1))
    assert computations.voices == [1, 2, 3]
    await states.get(voice(2))
    assert computations.voices == [1, 2, 3, 2]


async def test_a_voice_larger_than_the_bound_is_spoken_and_not_kept():
    states = VoiceStates(Computations(), 5)
    assert (await states.get(voice(1))).nbytes == 10
    assert len(states) == 0


async def test_a_failed_computation_fails_all_who_wait_and_is_tried_again():
    computations = Computations(open_=False)
    states = VoiceStates(computations, 100)
    computations.failing = True
    asked = [asyncio.create_task(states.get(voice(1))) for _ in range(2)]
    await turns()
    computations.passage.set()
    results = await asyncio.gather(*asked, return_exceptions=True)
    assert [str(error) for error in results] == ["no memory", "no memory"]
    computations.failing = False
    assert await states.get(voice(1)) == Sized(0)
    assert computations.voices == [1, 1]


async def test_a_waiter_that_leaves_takes_nothing_from_the_others():
    computations = Computations(open_=False)
    states = VoiceStates(computations, 100)
    leaves, stays = (asyncio.create_task(states.get(voice(1))) for _ in range(2))
    await turns()
    leaves.cancel()
    await turns()
    assert leaves.cancelled()
    computations.passage.set()
    assert await stays == Sized(0)
    assert computations.voices == [1]


async def test_a_computation_that_fails_after_all_have_left_is_not_kept():
    computations = Computations(open_=False)
    states = VoiceStates(computations, 100)
    asked = asyncio.create_task(states.get(voice(1)))
    await turns()
    asked.cancel()
    computations.failing = True
    computations.passage.set()
    await turns()
    assert len(states) == 0
    computations.failing = False
    assert await states.get(voice(1)) == Sized(0)


async def test_states_that_take_no_cache_are_bounded_in_number():
    """As those of version 1 and of streams that are computed anew: else every recording would stay in memory."""

    async def free_of_charge(asked):
        return DecoderState(0)

    states = VoiceStates(free_of_charge, 0)
    for number in range(MAX_VOICES + 20):
        await states.get(voice(number))
    assert len(states) == MAX_VOICES


async def test_a_stream_that_waits_while_the_engine_closes_is_told_so():
    states = VoiceStates(Computations(open_=False), 100)
    waiting = asyncio.create_task(states.get(voice(1)))
    await turns()
    states.clear()
    with pytest.raises(UnavailableError, match="shutting down"):
        await waiting


async def test_a_stream_that_is_cancelled_stays_cancelled():
    states = VoiceStates(Computations(open_=False), 100)
    waiting = asyncio.create_task(states.get(voice(1)))
    await turns()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
