"""How soon the last of a line of streams begins."""

import pytest

from polyvox.service.admission.playing_streams import PlayingStream
from polyvox.service.admission.start_forecast import StartForecast

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
