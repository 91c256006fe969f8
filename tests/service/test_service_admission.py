"""Admission control: active slots, the queue, and refusal when it is full."""

import asyncio
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.fakes import ToneEngine, running, tone_service
from polyvox.errors import OverloadedError
from polyvox.service.admission import Admission, Ticket
from polyvox.service.speech import SpeechRequest
from polyvox.types import Utterance

pytestmark = pytest.mark.anyio


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock()
    with patch.object(Admission, "_now", staticmethod(clock)):
        yield clock


def is_granted(ticket: Ticket) -> bool:
    return ticket._admitted.is_set()


def request() -> SpeechRequest:
    return SpeechRequest(Utterance("hello", "low"))


async def test_requests_are_admitted_up_to_the_limit_and_then_queued() -> None:
    admission = Admission(2, 3)
    tickets = [admission.enter() for _ in range(5)]
    assert [is_granted(ticket) for ticket in tickets] == [True, True, False, False, False]
    assert (admission.active, admission.waiting) == (2, 3)
    with pytest.raises(OverloadedError, match="2 requests at once and 3 waiting"):
        admission.enter()


async def test_the_queue_is_first_in_first_out() -> None:
    admission = Admission(1, 3)
    first, second, third, fourth = (admission.enter() for _ in range(4))
    third.release()
    first.release()
    assert is_granted(second)
    assert not is_granted(fourth)
    second.release()
    assert is_granted(fourth)
    assert (admission.active, admission.waiting) == (1, 0)


async def test_a_ticket_counts_once_however_often_it_is_released() -> None:
    admission = Admission(1, 1)
    first, second = admission.enter(), admission.enter()
    first.release()
    first.release()
    assert (admission.active, admission.waiting) == (1, 0)
    second.release()
    second.release()
    assert admission.active == 0


async def test_the_queue_can_have_no_room() -> None:
    admission = Admission(1, 0)
    admission.enter()
    with pytest.raises(OverloadedError):
        admission.enter()


async def test_retry_after_is_one_second_before_any_request_has_finished() -> None:
    assert Admission(1, 0).retry_after() == 1.0


async def test_retry_after_follows_from_recent_durations_and_the_queue(clock: Clock) -> None:
    admission = Admission(2, 3)
    for seconds in (6.0, 10.0):
        ticket = admission.enter()
        clock.now += seconds
        ticket.release()
    for _ in range(5):
        admission.enter()
    with pytest.raises(OverloadedError) as caught:
        admission.enter()
    assert caught.value.retry_after == pytest.approx(8.0 * 4 / 2)


async def test_retry_after_is_at_least_one_second_and_uses_recent_requests_only(clock: Clock) -> None:
    admission = Admission(1, 0)
    for seconds in (1000.0, *[0.01] * 64):
        ticket = admission.enter()
        clock.now += seconds
        ticket.release()
    assert admission.retry_after() == 1.0


steps = st.lists(st.one_of(st.just("enter"), st.integers(0, 30)), max_size=80)


@given(steps=steps, max_active=st.integers(1, 4), max_waiting=st.integers(0, 4))
@settings(max_examples=150, deadline=None)
def test_the_limits_and_the_order_hold_for_any_sequence_of_events(
    steps: list[str | int], max_active: int, max_waiting: int
) -> None:
    with patch.object(Admission, "_now", staticmethod(lambda: 0.0)):
        admission = Admission(max_active, max_waiting)
        present: list[Ticket] = []
        for step in steps:
            if step == "enter":
                if len(present) < max_active + max_waiting:
                    present.append(admission.enter())
                else:
                    with pytest.raises(OverloadedError):
                        admission.enter()
            elif present:
                present.pop(int(step) % len(present)).release()
            granted = [is_granted(ticket) for ticket in present]
            assert granted == [True] * min(len(present), max_active) + [False] * max(0, len(present) - max_active)
            assert (admission.active, admission.waiting) == (sum(granted), len(granted) - sum(granted))


async def test_requests_are_spoken_in_the_order_in_which_they_came() -> None:
    engine = ToneEngine(chunks=1)
    async with running(tone_service(engine, max_sessions=1, max_queue=10)) as service:
        sessions = [await service.open(SpeechRequest(Utterance(f"number {n}", "low"))) for n in range(6)]

        async def read(place: int) -> None:
            async with sessions[place] as session:
                async for _ in session:
                    pass

        await asyncio.gather(*(read(place) for place in (5, 3, 1, 0, 2, 4)))
    assert [utterance.text for utterance in engine.heard] == [f"number {n}" for n in range(6)]


async def test_the_service_keeps_to_its_limit_and_says_when_to_retry() -> None:
    engine = ToneEngine(gate=asyncio.Event())
    async with running(tone_service(engine, max_sessions=2, max_queue=1)) as service:
        sessions = [await service.open(request()) for _ in range(3)]
        with pytest.raises(OverloadedError) as caught:
            await service.open(request())
        assert caught.value.retry_after >= 1.0
        sample = service.metrics.registry.get_sample_value
        assert sample("polyvox_queue_depth") == 1
        assert sample("polyvox_active_sessions") == 2
        assert sample("polyvox_failures_total", {"kind": "overloaded"}) == 1
        await asyncio.sleep(0.01)
        for session in sessions:
            session.cancel()
    assert engine.most_speaking == 2
