"""Which streams an engine can serve without a gap for any of them."""

import pytest

from helpers.tables import each_row
from polyvox.service.admission.schedulability import PlayingStream, StartForecast, has_room, is_schedulable

LONG = 60.0


@each_row(
    ("streams", "capacity", "expected"),
    [
        ([(0, LONG)], 1.0, True),
        ([(0, LONG)], 0.9, False),
        ([(0, LONG), (0, LONG)], 1.9, False),
        ([(0, LONG), (0, LONG)], 2.0, True),
        ([(5, LONG), (0, 1)], 1.1, True),
        ([(0.1, LONG), (0, 1)], 1.1, False),
        ([(5, LONG), (0, LONG)], 1.9, False),
        ([(5, 2), (0, 5)], 1.5, True),
        ([(-1, LONG)], 1.01, False),
    ],
)
def test_what_is_needed_by_any_moment_can_be_made_by_then(streams, capacity, expected):
    assert is_schedulable([PlayingStream(*stream) for stream in streams], capacity) is expected


@each_row("capacity", [1.1, 1.5, 2.5])
def test_serving_the_most_urgent_first_bears_the_forecast_out(capacity):
    """By small steps: each goes to the stream whose audio ends first."""
    for other in (0.0, 2.0, 6.0, 20.0):
        ahead, left = [other, 0.0], [30.0, 5.0]
        streams = [PlayingStream(*pair) for pair in zip(ahead, left, strict=True)]
        gap, step = 0.0, 0.01
        while any(rest > 0 for rest in left):
            urgent = min((i for i in range(2) if left[i] > 0), key=lambda i: ahead[i])
            made = min(left[urgent], capacity * step)
            left[urgent] -= made
            ahead[urgent] += made
            ahead = [lead - step for lead in ahead]
            gap = max(gap, *(-lead for lead, rest in zip(ahead, left, strict=True) if rest > 0), 0.0)
        assert (gap <= 2 * step) is is_schedulable(streams, capacity)


@each_row(
    ("streams", "size", "lead", "expected"),
    [
        ([], LONG, 10.0, True),
        ([(5, LONG)], 2.0, 5.0, True),
        ([(5, LONG)], 2.0, 5.1, False),  # too little ahead to wait for the new one
        ([(5, LONG), (5, LONG)], LONG, 1.0, False),  # more than the engine can keep playing
    ],
)
def test_a_new_stream_has_room_when_the_others_have_their_lead_and_all_can_be_served(streams, size, lead, expected):
    assert has_room([PlayingStream(*stream) for stream in streams], size, lead, 2.5) is expected


ENGINE = StartForecast(rate=12.0, capacity=10.0, apart=0.2, lead=10.0)


def test_with_nobody_before_it_a_stream_begins_at_once() -> None:
    assert ENGINE.seconds([], [5.0], longest=4.0) == 0.0


def test_streams_that_fit_beside_each_other_begin_as_fast_as_first_chunks_are_made() -> None:
    assert ENGINE.seconds([], [2.0] * 5, longest=4.0) == pytest.approx(4 * 0.2)


def test_a_line_that_is_too_long_is_not_played_through() -> None:
    assert ENGINE.seconds([], [2.0] * 50, longest=4.0) == pytest.approx(49 * 0.2)


def test_a_stream_waits_until_those_that_are_heard_can_do_without_the_engine() -> None:
    playing = [PlayingStream(0.5, 60.0)] * 8
    wait = ENGINE.seconds(playing, [20.0], longest=8.0)
    # Each needs two seconds ahead of its listener, and gains half a second in each.
    assert wait == pytest.approx(1.5 / 0.5, abs=0.5)


def test_more_than_the_engine_can_keep_playing_wait_until_others_end() -> None:
    playing = [PlayingStream(3.5, 60.0)] * 11
    wait = ENGINE.seconds(playing, [30.0], longest=30.0)
    assert 5.0 < wait < 30.0
    assert ENGINE.seconds(playing, [30.0] * 15, longest=4.0) > 4.0


def test_each_further_stream_in_line_begins_later() -> None:
    waits = [ENGINE.seconds([], [4.0] * places, longest=30.0) for places in range(1, 25)]
    assert waits == sorted(waits)
    assert waits[-1] > waits[0]
