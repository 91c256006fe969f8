"""Admission control: active slots, the queue, and refusal when it is full."""

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.fakes import ToneEngine, running, tone_service
from polyvox.errors import OverloadedError, RefusalReason
from polyvox.runtime.precedence import current_precedence
from polyvox.service.admission.admission_request import AdmissionRequest
from polyvox.service.admission.controller import AdmissionController
from polyvox.service.admission.ticket import Ticket, TicketState
from polyvox.service.call_context import LOCAL_CALL, CallContext
from polyvox.service.speech_request import SpeechRequest
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
    with patch.object(AdmissionController, "now", staticmethod(clock)):
        yield clock


def is_granted(ticket: Ticket) -> bool:
    return ticket._admitted.is_set()


def request() -> SpeechRequest:
    return SpeechRequest(Utterance("hello", "low"))


async def test_requests_are_admitted_up_to_the_limit_and_then_queued() -> None:
    admission = AdmissionController(2, 3)
    tickets = [admission.enter() for _ in range(5)]
    assert [is_granted(ticket) for ticket in tickets] == [True, True, False, False, False]
    assert (admission.active, admission.waiting) == (2, 3)
    with pytest.raises(OverloadedError, match="2 requests at once and 3 waiting"):
        admission.enter()


async def test_the_queue_is_first_in_first_out() -> None:
    admission = AdmissionController(1, 3)
    first, second, third, fourth = (admission.enter() for _ in range(4))
    third.release()
    first.release()
    assert is_granted(second)
    assert not is_granted(fourth)
    second.release()
    assert is_granted(fourth)
    assert (admission.active, admission.waiting) == (1, 0)


async def test_a_ticket_counts_once_however_often_it_is_released() -> None:
    admission = AdmissionController(1, 1)
    first, second = admission.enter(), admission.enter()
    first.release()
    first.release()
    assert (admission.active, admission.waiting) == (1, 0)
    second.release()
    second.release()
    assert admission.active == 0


async def test_the_queue_can_have_no_room() -> None:
    admission = AdmissionController(1, 0)
    admission.enter()
    with pytest.raises(OverloadedError):
        admission.enter()


async def test_retry_after_is_one_second_before_any_request_has_finished() -> None:
    admission = AdmissionController(1, 0)
    admission.enter()
    with pytest.raises(OverloadedError) as caught:
        admission.enter()
    assert caught.value.retry_after == 1.0


async def test_without_chunks_the_time_of_whole_requests_counts(clock: Clock) -> None:
    admission = AdmissionController(2, 3)
    for seconds in (6.0, 10.0) * 4:
        ticket = admission.enter()
        clock.now += seconds
        ticket.release()
    for _ in range(5):
        admission.enter()
    with pytest.raises(OverloadedError) as caught:
        admission.enter()
    assert caught.value.retry_after == pytest.approx(8.0), "a place in the queue is free when the next one begins"


async def test_retry_after_is_at_least_one_second_and_uses_recent_requests_only(clock: Clock) -> None:
    admission = AdmissionController(1, 0)
    for seconds in (1000.0, *[0.01] * 64):
        ticket = admission.enter()
        clock.now += seconds
        ticket.release()
    admission.enter()
    with pytest.raises(OverloadedError) as caught:
        admission.enter()
    assert caught.value.retry_after == 1.0


steps = st.lists(st.one_of(st.just("enter"), st.integers(0, 30)), max_size=80)


@given(steps=steps, max_active=st.integers(1, 4), max_waiting=st.integers(0, 4))
@examples(150)
def test_the_limits_and_the_order_hold_for_any_sequence_of_events(
    steps: list[str | int], max_active: int, max_waiting: int
) -> None:
    with patch.object(AdmissionController, "now", staticmethod(lambda: 0.0)):
        admission = AdmissionController(max_active, max_waiting)
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
        sessions = [await service.open(SpeechRequest(Utterance(f"number {n}", "low")), LOCAL_CALL) for n in range(6)]

        async def read(place: int) -> None:
            async with sessions[place] as session:
                async for _ in session:
                    pass

        await asyncio.gather(*(read(place) for place in (5, 3, 1, 0, 2, 4)))
    assert [utterance.text for utterance in engine.heard] == [f"number {n}" for n in range(6)]


async def test_the_service_keeps_to_its_limit_and_says_when_to_retry() -> None:
    engine = ToneEngine(gate=asyncio.Event())
    async with running(tone_service(engine, max_sessions=2, max_queue=1)) as service:
        sessions = [await service.open(request(), LOCAL_CALL) for _ in range(3)]
        with pytest.raises(OverloadedError) as caught:
            await service.open(request(), LOCAL_CALL)
        assert caught.value.retry_after >= 1.0
        sample = service.metrics.registry.get_sample_value
        assert sample("polyvox_queue_depth") == 1
        assert sample("polyvox_active_sessions") == 2
        assert sample("polyvox_failures_total", {"kind": "overloaded"}) == 1
        await asyncio.sleep(0.01)
        for session in sessions:
            session.cancel()
    assert engine.most_speaking == 2


def enter(
    admission: AdmissionController, client: str = "one", seconds: float = 10.0, max_wait: float = 5.0, **options: Any
) -> Ticket:
    """A request of so many seconds of audio, once `measured` has told how long a character takes."""
    return entered(admission, "tone", client, chars=round(10 * seconds), max_wait=max_wait, **options)


def entered(
    admission: AdmissionController, model: str, client: str, *, capacity: float | None = None, **options: Any
) -> Ticket:
    return admission.enter(AdmissionRequest(model, client, **options), capacity)


async def speak(ticket: Ticket, clock: Clock, audio: float, seconds: float) -> None:
    """One chunk that takes so long."""
    await ticket.turn()
    clock.now += seconds
    ticket.produced(audio, seconds)


async def measured(clock: Clock, max_active: int = 2, max_waiting: int = 64, **options: Any) -> AdmissionController:
    """Streams of this model have been seen to get two seconds of audio per second."""
    admission = AdmissionController(max_active, max_waiting, **options)
    for _ in range(8):
        ticket = enter(admission, seconds=2.0)
        await speak(ticket, clock, 2.0, 1.0)
        ticket.finish()
        ticket.release()
    return admission


class TestWaits:
    async def test_nothing_is_refused_for_its_wait_before_the_pace_is_known(self, clock: Clock) -> None:
        admission = AdmissionController(1, 8)
        tickets = [enter(admission, max_wait=0.1) for _ in range(9)]
        assert [is_granted(ticket) for ticket in tickets] == [True] + [False] * 8

    async def test_a_request_waits_only_where_its_turn_comes_in_time(self, clock: Clock) -> None:
        admission = await measured(clock)
        for seconds in (4.0, 6.0):  # 2 s and 3 s of work
            enter(admission, seconds=seconds)
        enter(admission, seconds=6.0)  # begins after 2 s, ends after 5 s
        enter(admission, seconds=4.0)  # begins after 3 s, ends after 5 s
        with pytest.raises(OverloadedError, match=r"wait 5\.0 s") as caught:
            enter(admission)
        assert caught.value.reason is RefusalReason.WAIT
        assert caught.value.retry_after == pytest.approx(5.0 - 0.7 * 5.0)
        assert not is_granted(enter(admission, max_wait=10.0))

    async def test_long_texts_ahead_make_a_longer_wait_than_short_ones(self, clock: Clock) -> None:
        for seconds, waits in ((0.5, True), (8.0, False)):
            admission = await measured(clock, max_active=1)
            for _ in range(4):
                enter(admission, seconds=seconds, max_wait=60.0)
            if waits:
                enter(admission)
            else:
                with pytest.raises(OverloadedError, match=r"wait 16\.0 s"):
                    enter(admission)

    async def test_those_turned_away_are_told_to_come_back_one_after_the_other(self, clock: Clock) -> None:
        admission = await measured(clock, max_active=1)
        enter(admission, seconds=20.0, max_wait=60.0)
        advice = []
        for _ in range(3):
            with pytest.raises(OverloadedError) as caught:
                enter(admission, seconds=4.0)
            advice.append(caught.value.retry_after)
        assert advice == pytest.approx([10.0 - 3.5, 10.0 - 3.5 + 2.0, 10.0 - 3.5 + 4.0])

    async def test_whoever_comes_back_when_told_is_admitted(self, clock: Clock) -> None:
        admission = await measured(clock, max_active=1)
        speaking = enter(admission, seconds=20.0, max_wait=60.0)
        with pytest.raises(OverloadedError) as caught:
            enter(admission, seconds=4.0)
        for _ in range(7):
            await speak(speaking, clock, 2.0, 1.0)
        assert caught.value.retry_after < 7.0
        assert not is_granted(enter(admission, seconds=4.0))

    async def test_one_that_has_waited_as_long_as_it_accepts_is_refused(self) -> None:
        engine = ToneEngine(gate=asyncio.Event())
        async with running(tone_service(engine, max_sessions=1, max_wait_seconds=0.05)) as service:
            speaking, waiting = await service.open(request(), LOCAL_CALL), await service.open(request(), LOCAL_CALL)
            with pytest.raises(OverloadedError, match=r"within 0\.05 s"):
                await anext(aiter(waiting))
            sample = service.metrics.registry.get_sample_value
            assert sample("polyvox_refused_total", {"reason": "wait"}) == 1
            assert sample("polyvox_queue_depth") == 0
            assert sample("polyvox_queue_seconds_count") == 1
            speaking.cancel()

    async def test_a_shorter_wait_can_be_asked_for(self) -> None:
        engine = ToneEngine(gate=asyncio.Event())
        async with running(tone_service(engine, max_sessions=1)) as service:
            speaking = await service.open(request(), LOCAL_CALL)
            waiting = await service.open(SpeechRequest(Utterance("hello", "low")), CallContext(max_wait=0.05))
            with pytest.raises(OverloadedError, match=r"within 0\.05 s"):
                await anext(aiter(waiting))
            speaking.cancel()


def turns(speaking: Ticket, waiting: list[Ticket]) -> list[str]:
    """The clients of those who wait, in the order in which the one slot is theirs."""
    order = []
    while waiting:
        speaking.release()
        (speaking,) = (ticket for ticket in waiting if is_granted(ticket))
        waiting.remove(speaking)
        order.append(speaking.client)
    return order


class TestClients:
    async def test_take_turns_in_the_queue(self, clock: Clock) -> None:
        admission = AdmissionController(1, 8)
        speaking = enter(admission, "third")
        waiting = [enter(admission, client) for client in ("one", "one", "one", "two", "two")]
        assert turns(speaking, waiting) == ["one", "two", "one", "two", "one"]

    async def test_who_comes_later_does_not_go_before_all_who_wait(self, clock: Clock) -> None:
        admission = AdmissionController(1, 8)
        speaking = enter(admission, "one")
        waiting = [enter(admission, "one") for _ in range(3)]
        speaking.release()
        waiting[0].release()
        speaking = waiting[1]
        late = [enter(admission, "two") for _ in range(3)]
        assert turns(speaking, [waiting[2], *late]) == ["two", "one", "two", "two"]

    async def test_move_up_when_they_withdraw_what_they_do_not_want_any_more(self, clock: Clock) -> None:
        admission = AdmissionController(1, 16)
        speaking = enter(admission, "third")
        *withdrawn, wanted = [enter(admission, "one") for _ in range(5)]
        others = [enter(admission, "two") for _ in range(3)]
        for ticket in withdrawn:
            ticket.release()
        assert turns(speaking, [wanted, *others]) == ["one", "two", "two", "two"]

    async def test_have_what_they_listen_to_not_put_off_by_their_batches(self, clock: Clock) -> None:
        admission = AdmissionController(1, 16)
        speaking = enter(admission, "third")
        items = [enter(admission, "one", background=True) for _ in range(4)]
        live = [enter(admission, client) for client in ("one", "two", "two")]
        assert turns(speaking, [*live, *items]) == ["one", "two", "two", *["one"] * 4]

    async def test_expect_no_wait_because_of_what_another_has_in_the_queue(self, clock: Clock) -> None:
        admission = await measured(clock, max_active=1)
        enter(admission, "one", seconds=4.0)
        enter(admission, "one", seconds=4.0)
        with pytest.raises(OverloadedError):
            enter(admission, "one", seconds=4.0)
        assert not is_granted(enter(admission, "two", seconds=4.0))

    async def test_have_the_whole_queue_while_nobody_else_waits(self) -> None:
        admission = AdmissionController(1, 4, max_share=0.5)
        enter(admission, "one")
        assert [enter(admission, "one") for _ in range(4)]
        with pytest.raises(OverloadedError) as caught:
            enter(admission, "one")
        assert caught.value.reason is RefusalReason.QUEUE

    async def test_give_up_a_place_beyond_their_share_of_a_full_queue(self) -> None:
        admission = AdmissionController(1, 4, max_share=0.5)
        tickets = [enter(admission, "one") for _ in range(5)]
        enter(admission, "two")
        with pytest.raises(OverloadedError) as caught:
            await tickets[-1].granted()
        assert caught.value.reason is RefusalReason.SHARE
        assert admission.waiting == 4

    async def test_give_up_no_item_of_a_batch_for_it(self) -> None:
        admission = AdmissionController(1, 4, max_share=0.5)
        tickets = [enter(admission, "one") for _ in range(5)]
        item = enter(admission, "one", background=True)
        enter(admission, "two")
        assert (tickets[-1].state, item.state) == (TicketState.LEFT, TicketState.WAITING)

    async def test_get_no_more_than_their_share_of_the_queue_while_another_waits(self) -> None:
        admission = AdmissionController(1, 4, max_share=0.5)
        enter(admission, "three")
        for client in ("two", "one", "one"):
            enter(admission, client)
        with pytest.raises(OverloadedError) as caught:
            enter(admission, "one")
        assert caught.value.reason is RefusalReason.SHARE

    async def test_make_way_for_another_between_chunks_with_more_than_their_share_of_the_slots(self) -> None:
        admission = AdmissionController(2, 4, max_share=0.5)
        first, second = enter(admission, "one"), enter(admission, "one")
        for ticket in (first, second):
            await ticket.turn()
            ticket.produced(0.1, 0.1)
        other = enter(admission, "two")
        turn = asyncio.create_task(first.turn())
        await asyncio.sleep(0.01)
        assert is_granted(other)
        await second.turn()
        assert (first.state, second.state) == (TicketState.YIELDING, TicketState.ACTIVE)
        other.release()
        await turn
        assert first.state is TicketState.ACTIVE


class TestSlots:
    async def test_are_lent_while_a_client_does_not_read_and_taken_back_at_once(self) -> None:
        admission = AdmissionController(1, 4)
        slow, waiting = enter(admission), enter(admission)
        slow.pause()
        assert is_granted(waiting)
        slow.resume()
        assert (admission.active, slow.state) == (2, TicketState.ACTIVE)
        third = enter(admission)
        waiting.release()
        assert not is_granted(third), "one more than the limit was running"
        slow.release()
        assert is_granted(third)

    async def test_are_free_when_only_the_client_still_has_to_read(self) -> None:
        async with running(tone_service(ToneEngine(chunks=2), max_sessions=1)) as service:
            unread = await service.open(request(), LOCAL_CALL)
            async with asyncio.timeout(2), await service.open(request(), LOCAL_CALL) as session:
                assert len([chunk async for chunk in session]) == 2
            async with unread:
                assert len([chunk async for chunk in unread]) == 2

    async def test_are_given_up_by_a_stream_well_ahead_of_its_playback(self, clock: Clock) -> None:
        admission = AdmissionController(1, 4)
        far = enter(admission, seconds=100.0)
        await speak(far, clock, 9.0, 1.0)
        waiting = enter(admission)
        await far.turn()
        assert not is_granted(waiting)
        await speak(far, clock, 3.0, 0.5)
        turn = asyncio.create_task(far.turn())
        await asyncio.sleep(0.01)
        assert is_granted(waiting)
        assert far.state is TicketState.YIELDING
        waiting.release()
        await turn
        assert far.state is TicketState.ACTIVE

    async def test_of_the_longest_stalled_are_freed_when_twice_as_many_as_fit_are_open(self, clock: Clock) -> None:
        admission = AdmissionController(2, 4)
        dropped: list[int] = []
        tickets = []
        for number in range(4):
            ticket = enter(admission)
            ticket.on_drop = partial(dropped.append, number)
            ticket.pause()
            tickets.append(ticket)
            clock.now += 1.0
        waiting = enter(admission, "two")
        assert (is_granted(waiting), dropped) == (False, [])
        clock.now += 2.0
        tickets[0].read()
        admission._look_again()
        assert dropped == [1]
        tickets[1].release()
        assert is_granted(waiting)
        assert admission._timer is None


async def test_background_requests_hold_half_of_the_slots_and_wait_behind_all_others() -> None:
    admission = AdmissionController(4, 4, max_share=1.0)
    items = [entered(admission, "m", "batch", background=True) for _ in range(6)]
    for _ in range(9):
        items[0].produced(0.1, 0.1)
    assert [is_granted(item) for item in items] == [True, True, False, False, False, False]
    live = [entered(admission, "m", "live") for _ in range(3)]
    assert [is_granted(ticket) for ticket in live] == [True, True, False]
    items[0].release()
    assert is_granted(live[2])
    assert not is_granted(items[2])
    live[0].release()
    assert is_granted(items[2])


async def test_background_requests_take_no_places_of_the_queue() -> None:
    admission = AdmissionController(1, 1, max_share=1.0)
    items = [entered(admission, "m", "batch", background=True) for _ in range(5)]
    live = entered(admission, "m", "live")
    assert (is_granted(items[0]), is_granted(live)) == (True, False)
    with pytest.raises(OverloadedError):
        entered(admission, "m", "live")


async def test_a_background_request_makes_way_between_its_chunks_and_live_ones_do_not(clock: Clock) -> None:
    admission = AdmissionController(2, 4)
    item = entered(admission, "m", "batch", background=True)
    first = entered(admission, "m", "live")
    for ticket in (item, first):
        ticket.produced(0.1, 0.1)
    first.produced(20.0, 0.1)
    entered(admission, "m", "batch", background=True)
    assert (admission.yield_seconds(item), admission.yield_seconds(first)) == (0.0, 0.0)
    second = entered(admission, "m", "live")
    assert not is_granted(second)
    assert admission.yield_seconds(item) == 1.0
    admission.yield_slot(item, TicketState.YIELDING)
    assert is_granted(second)


async def test_a_live_request_begins_beside_background_ones_that_nobody_hears(clock: Clock) -> None:
    admission = AdmissionController(8, 8, adaptive=True)
    item = entered(admission, "m", "batch", chars=500, background=True, capacity=3.0)
    await item.turn()
    assert admission.may_start(entered(admission, "m", "anna", chars=500))


async def flooded(clock: Clock) -> AdmissionController:
    """A model that keeps about two streams playing, and a client that has and wants more of them."""
    admission = AdmissionController(16, 64, adaptive=True, max_share=0.5)
    tickets = [entered(admission, "m", "flood", chars=500, capacity=2.5) for _ in range(12)]
    assert sum(is_granted(ticket) for ticket in tickets) == 4
    for ticket in tickets[:2]:
        ticket.started = True
        ticket.produced(1.0, 0.4)
    for ticket in tickets[2:4]:
        admission.yield_slot(ticket, TicketState.STARTING)
        ticket.queue.held_back.add(ticket)
    return admission


async def test_the_first_stream_of_a_client_begins_at_once_beside_one_that_floods(clock: Clock) -> None:
    admission = await flooded(clock)
    anna = entered(admission, "m", "anna", chars=500)
    assert is_granted(anna)
    assert admission.may_start(anna)
    assert not is_granted(entered(admission, "m", "anna", chars=500))  # its second takes its turn
    assert not is_granted(entered(admission, "m", "flood", chars=500))


async def test_it_still_waits_for_those_that_take_no_more_than_their_share(clock: Clock) -> None:
    admission = await flooded(clock)
    bert = entered(admission, "m", "bert", chars=500)
    bert.started = True
    bert.produced(1.0, 0.4)
    assert not admission.may_start(entered(admission, "m", "anna", chars=500))


async def test_its_first_audio_goes_before_all_other_work(clock: Clock) -> None:
    admission = await flooded(clock)
    anna = entered(admission, "m", "anna", chars=500)
    await anna.turn()
    stream = current_precedence()
    assert stream.goes_first
    assert not stream.makes_way()
    anna.produced(0.5, 0.1)
    assert not stream.goes_first


async def test_streams_of_a_client_that_has_too_many_make_way(clock: Clock) -> None:
    admission = await flooded(clock)
    flood = entered(admission, "m", "flood", chars=500)
    anna = entered(admission, "m", "anna", chars=500)
    assert not flood.makes_way  # its listener has no audio to spare
    for ticket in (flood, anna):
        ticket.produced(2.0, 0.1)
    assert (flood.makes_way, anna.makes_way) == (True, False)
    clock.now += 1.5
    assert not flood.makes_way


async def test_background_requests_grow_in_number_while_their_chunks_come_soon(clock: Clock) -> None:
    admission = AdmissionController(16, 4, max_share=1.0)
    items = [entered(admission, "m", "batch", background=True) for _ in range(12)]
    assert [is_granted(item) for item in items].count(True) == 1
    for _ in range(3):
        for item in [item for item in items if is_granted(item)]:
            item.produced(1.0, 0.1)
    quick = [is_granted(item) for item in items].count(True)
    assert 3 <= quick <= 8
    for _ in range(3):
        items[0].produced(1.0, 5.0)
    for item in items[:quick]:
        item.release()
    assert [is_granted(item) for item in items].count(True) == quick + 1


async def test_a_background_request_waits_while_a_live_one_may_run_out_of_audio(clock: Clock) -> None:
    admission = AdmissionController(4, 4)
    item, live = entered(admission, "m", "batch", background=True), entered(admission, "m", "live")
    item.produced(1.0, 0.1)
    assert admission.yield_seconds(item) == 1.0
    admission.yield_slot(item, TicketState.YIELDING)
    assert not item._woken.is_set()
    admission.take_slot(item)
    live.produced(20.0, 0.1)
    assert admission.yield_seconds(item) == 0.0


async def test_streams_that_are_held_back_leave_a_slot_to_one_more_only(clock: Clock) -> None:
    admission = AdmissionController(16, 64, adaptive=True)
    tickets = [entered(admission, "m", "one", chars=500, capacity=2.5) for _ in range(8)]
    assert [is_granted(ticket) for ticket in tickets] == [True] * 4 + [False] * 4
    assert [admission.start(ticket) for ticket in tickets[:4]] == [True, False, False, False]
    assert [is_granted(ticket) for ticket in tickets] == [True] * 5 + [False] * 3


async def test_streams_that_are_held_back_begin_as_soon_as_audio_is_made(clock: Clock) -> None:
    admission = AdmissionController(16, 64, adaptive=True)
    first, second = (entered(admission, "m", "one", chars=40, capacity=8.0) for _ in range(2))
    await first.turn()
    turn = asyncio.create_task(second.turn())
    await asyncio.sleep(0)
    assert second.state is TicketState.STARTING
    first.produced(2.8, 0.4)
    assert second.state is TicketState.ACTIVE
    await turn


async def test_a_stream_without_text_leaves_its_slot_and_begins_when_text_comes(clock: Clock) -> None:
    admission = AdmissionController(16, 64, adaptive=True)
    typist, other = (entered(admission, "m", "one", chars=40, capacity=8.0) for _ in range(2))
    await typist.turn()
    typist.idle()
    assert (typist.state, typist.started, admission.active) == (TicketState.IDLE, False, 1)
    await other.turn()  # nobody who has nothing to say is waited for
    came = asyncio.create_task(typist.text_came())
    await asyncio.sleep(0)
    assert typist.state is TicketState.STARTING
    other.produced(2.8, 0.4)
    await came
    assert (typist.state, typist.started) == (TicketState.ACTIVE, True)


async def test_nobody_waits_for_a_stream_that_waits_for_text(clock: Clock) -> None:
    typist = enter(AdmissionController(2, 4))
    await speak(typist, clock, 4.0, 1.0)
    typist.idle()
    clock.now += 3.0
    assert (typist.is_heard, typist.ahead(clock.now)) == (False, pytest.approx(1.0)), "its listener plays on"
    clock.now += 7.0
    await typist.text_came()
    assert (typist.is_heard, typist.ahead(clock.now)) == (True, 0.0), "it goes on from where text came"


async def test_a_stream_whose_engine_waits_for_text_is_heard_until_it_runs_dry(clock: Clock) -> None:
    along = enter(AdmissionController(2, 4), paced=False)
    await speak(along, clock, 4.0, 1.0)
    assert along.is_heard
    clock.now += 4.0
    assert not along.is_heard


async def test_a_stream_that_continues_one_that_is_heard_has_its_slot_though_others_wait(clock: Clock) -> None:
    admission = AdmissionController(16, 64, adaptive=True)
    first = entered(admission, "m", "one", chars=40, capacity=2.5)
    others = [entered(admission, "m", "two", chars=400) for _ in range(8)]
    await first.turn()
    first.produced(4.0, 0.5)
    first.release()
    assert first.seconds_ahead == 4.0
    next_ = entered(admission, "m", "one", chars=40, max_wait=0.1, continues=True)
    assert is_granted(next_)
    assert admission.may_start(next_)
    assert not all(is_granted(other) for other in others)


async def test_waiting_for_text_is_no_error_of_the_forecast(clock: Clock) -> None:
    admission = AdmissionController(16, 64, adaptive=True)
    typist = entered(admission, "m", "one", capacity=8.0)
    typist.forecast = 2.0
    await typist.turn()
    typist.idle()
    clock.now += 60.0
    await typist.text_came()
    clock.now += 2.0
    typist.produced(1.0, 2.0)
    assert typist.queue.forecast_error.factor(clock.now) == 1.0


async def test_a_listener_plays_nothing_while_it_does_not_read(clock: Clock) -> None:
    ticket = enter(AdmissionController(2, 4))
    await speak(ticket, clock, 4.0, 1.0)
    clock.now += 1.0
    ticket.pause()
    clock.now += 60.0
    assert ticket.ahead(clock.now) == pytest.approx(3.0)
    ticket.resume()
    clock.now += 5.0
    assert ticket.ahead(clock.now) == pytest.approx(-2.0)
    ticket.produced(1.0, 0.1)
    assert ticket.ahead(clock.now) == pytest.approx(1.0), "after a gap it goes on from there"


async def test_a_stream_begins_later_when_others_have_run_dry(clock: Clock) -> None:
    """The silence of a listener who does not read, or whose text is not there yet, counts for nothing."""
    admission = AdmissionController(8, 16, adaptive=True, clock=clock)
    for pauses, silence, lead in ((True, 5.0, 0.0), (False, 0.05, 0.0), (False, 5.0, pytest.approx(0.4, abs=0.01))):
        ticket = entered(admission, "m", "one", capacity=8.0)
        await ticket.turn()
        ticket.produced(1.0, 0.1)
        if pauses:
            ticket.pause()
        clock.now += 1.0 + silence
        if pauses:
            ticket.resume()
        ticket.produced(1.0, 0.1)
        ticket.finish()
        ticket.release()
        assert ticket.queue.throughput.spare_lead == lead
