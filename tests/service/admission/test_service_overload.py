"""Four times the load that an engine can take, in virtual time: who is admitted is heard soon, others are refused."""

import asyncio
import random
from dataclasses import dataclass, field
from unittest.mock import patch

import pytest

from helpers.virtual_time import VirtualTimeLoop
from polyvox.errors import OverloadedError
from polyvox.service.admission.admission import Admission
from polyvox.service.admission.ticket import Job, Ticket
from polyvox.service.playback import Playback

MAX_WAIT = 5.0
WORKERS = 2
WORKER_PACE = 8.5
"""Seconds of audio per second of one worker alone."""
TOGETHER = 0.8
"""Share of that which each keeps when both work: what the engine claims beforehand is more than it can do."""
CAPACITY = WORKERS * WORKER_PACE * TOGETHER
CHUNK = 1.6
SECONDS_PER_CHAR = 0.07


@dataclass
class Outcome:
    """What became of all requests; times in seconds."""

    asked: int = 0
    refused_at_once: int = 0
    in_vain: int = 0
    first_audio: list[float] = field(default_factory=list)
    gaps: int = 0
    audio_per_second: float = 0.0
    heard_of: dict[str, int] = field(default_factory=dict)

    @property
    def in_time(self) -> float:
        return sum(seconds <= MAX_WAIT for seconds in self.first_audio) / len(self.first_audio)


class Overload:
    """An admission, an engine that makes whole chunks on two workers, and callers who come by chance."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        self.outcome = Outcome()
        self._loop = loop
        self._admission = Admission(32, 64, adaptive=True, max_share=0.5)
        self._workers = asyncio.Semaphore(WORKERS)
        self._working = 0
        self._audio = 0.0

    async def run(self, load: float, shortest: float, longest: float, shares: list[float], seconds: float) -> Outcome:
        chance, callers = random.Random(0), list[asyncio.Task[None]]()
        rate = load * CAPACITY / ((shortest + longest) / 2)
        while self._loop.time() < seconds:
            await asyncio.sleep(chance.expovariate(rate))
            client = chance.choices([f"client {number}" for number in range(len(shares))], shares)[0]
            callers.append(asyncio.create_task(self._call(client, chance.uniform(shortest, longest))))
        self.outcome.audio_per_second = self._audio / seconds
        await asyncio.gather(*callers)
        return self.outcome

    async def closed_loop(self, callers: int, each: int, shortest: float, longest: float) -> Outcome:
        """So many callers who ask again as soon as they were answered; the outcome of these alone."""
        self.outcome, chance = Outcome(), random.Random(0)

        async def call_again() -> None:
            for _ in range(each):
                await self._call("one", chance.uniform(shortest, longest))

        await asyncio.gather(*(call_again() for _ in range(callers)))
        return self.outcome

    async def _call(self, client: str, audio: float) -> None:
        self.outcome.asked += 1
        job = Job("m", client, round(audio / SECONDS_PER_CHAR), MAX_WAIT, capacity=WORKERS * WORKER_PACE)
        try:
            ticket = self._admission.enter(job)
        except OverloadedError:
            self.outcome.refused_at_once += 1
            return
        try:
            await ticket.granted()
            await self._stream(ticket, audio)
        except OverloadedError:
            self.outcome.in_vain += 1
        finally:
            ticket.release()

    async def _stream(self, ticket: Ticket, audio: float) -> None:
        playback, client = Playback(), ticket.job.client
        while audio > 0:
            await ticket.turn()
            began, chunk = self._loop.time(), min(CHUNK, audio)
            await self._make(chunk)
            now = self._loop.time()
            if not ticket.audio:
                self.outcome.first_audio.append(now - ticket.entered)
                self.outcome.heard_of[client] = self.outcome.heard_of.get(client, 0) + 1
            ticket.produced(chunk, now - began)
            self.outcome.gaps += playback.add(now, chunk)
            audio -= chunk
        ticket.finish()

    async def _make(self, audio: float) -> None:
        async with self._workers:
            self._working += 1
            await asyncio.sleep(audio / (WORKER_PACE * (TOGETHER if self._working > 1 else 1.0)))
            self._working -= 1
            self._audio += audio


def overloaded(load: float, shortest: float, longest: float, shares: list[float], seconds: float) -> Outcome:
    loop = VirtualTimeLoop()
    with patch.object(Admission, "now", staticmethod(loop.time)):
        return loop.run(Overload(loop).run(load, shortest, longest, shares, seconds))


EQUAL = [1.0] * 4


@pytest.mark.long
@pytest.mark.parametrize(
    ("shortest", "longest", "shares", "seconds"),
    [
        pytest.param(1.8, 3.2, EQUAL, 60.0, id="sentences"),
        pytest.param(1.8, 3.2, [7.0, 1.0, 1.0, 1.0], 60.0, id="one client floods"),
        pytest.param(1.8, 3.2, [1.0], 60.0, id="one client alone"),
        pytest.param(2.0, 30.0, EQUAL, 240.0, id="sentences and pages"),
    ],
)
def test_who_is_admitted_is_heard_in_time_and_hardly_anyone_waits_in_vain(shortest, longest, shares, seconds) -> None:
    outcome = overloaded(4.0, shortest, longest, shares, seconds)
    assert outcome.in_time >= 0.95
    assert outcome.in_vain <= 0.01 * outcome.asked
    assert outcome.audio_per_second >= 0.95 * CAPACITY, "the engine is kept busy"
    assert outcome.gaps <= 0.02 * len(outcome.first_audio)
    if len(shares) > 1:
        assert min(outcome.heard_of.values()) >= 0.5 * max(outcome.heard_of.values()), "clients have equal shares"


def test_hardly_anyone_is_refused_below_the_limit() -> None:
    outcome = overloaded(0.8, 1.8, 3.2, EQUAL, 60.0)
    assert (outcome.refused_at_once, outcome.in_vain) == (0, 0)
    assert outcome.in_time == 1.0


def test_sixteen_who_can_all_be_heard_in_time_are_not_refused_also_not_after_a_burst_of_pages() -> None:
    loop = VirtualTimeLoop()
    overload = Overload(loop)

    async def calls() -> tuple[Outcome, Outcome]:
        burst = await overload.closed_loop(64, 1, 12.0, 18.0)
        await asyncio.sleep(5.0)
        return burst, await overload.closed_loop(16, 3, 1.6, 2.6)

    with patch.object(Admission, "now", staticmethod(loop.time)):
        burst, sentences = loop.run(calls())
    assert burst.refused_at_once + burst.in_vain > 32, "a page of each is more than the engine can do"
    assert (sentences.asked, len(sentences.first_audio)) == (48, 48)
    assert sentences.in_time == 1.0
    assert sentences.gaps == 0
