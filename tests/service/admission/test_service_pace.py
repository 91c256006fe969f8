"""The measured pace of a model, and how many streams it lets run."""

import pytest

from helpers.tables import each_row
from polyvox.service.admission.pace import PLAYING, Pace

SERIAL = 10.0
"""Seconds of audio per second of an engine that works for one stream at a time."""


def serial(pace: Pace, running: int, chunks: int = 40, capacity: float = SERIAL) -> None:
    for _ in range(chunks):
        pace.chunk(1.0, running / capacity, running)


def batched(pace: Pace, running: int, chunks: int = 40, each: float = 2.0) -> None:
    for _ in range(chunks):
        pace.chunk(1.0, 1.0 / each, running)


def test_nothing_is_known_before_enough_chunks_were_seen() -> None:
    pace = Pace(32)
    serial(pace, running=32, chunks=3)
    assert (pace.limit, pace.capacity) == (32, None)
    serial(pace, running=32, chunks=4)
    assert pace.capacity is not None
    assert pace.of_stream is None, "nobody is refused yet"


def test_an_engine_that_batches_is_not_limited() -> None:
    pace = Pace(32)
    for running in (1, 4, 32, 1, 32):
        batched(pace, running)
        assert pace.limit == 32
    assert pace.of_stream == pytest.approx(2.0)


def test_a_lone_stream_says_nothing_about_many() -> None:
    pace = Pace(32)
    serial(pace, running=1)
    assert pace.limit == 32


@each_row("running", [12, 32])
def test_streams_that_fall_behind_each_other_are_limited_to_as_many_as_are_kept_playing(running: int) -> None:
    pace = Pace(32)
    serial(pace, running)
    assert pace.limit == int(SERIAL / PLAYING) + 1
    assert pace.of_stream == pytest.approx(SERIAL / pace.limit)


def test_the_limit_is_remembered_when_the_load_is_low() -> None:
    pace = Pace(32)
    serial(pace, running=32)
    serial(pace, running=1)
    assert pace.limit == int(SERIAL / PLAYING) + 1


def test_the_limit_follows_the_engine_up_and_down() -> None:
    pace = Pace(32)
    serial(pace, running=32)
    serial(pace, running=pace.limit, capacity=3.1 * SERIAL)
    assert pace.limit == int(3.1 * SERIAL / PLAYING) + 1
    serial(pace, running=pace.limit, capacity=SERIAL)
    assert pace.limit == int(SERIAL / PLAYING) + 1


def test_an_engine_slower_than_playback_that_batches_gets_all_its_streams_back() -> None:
    pace = Pace(8)
    batched(pace, running=8, each=0.5)
    assert pace.limit < 8
    batched(pace, running=1, each=0.5)
    for _ in range(8):
        batched(pace, running=pace.limit, each=0.5)
    assert pace.limit == 8


def test_at_least_four_run_however_slow_the_engine_is() -> None:
    pace = Pace(8)
    serial(pace, running=8, capacity=0.1)
    assert pace.limit == 4


def test_the_limit_can_be_switched_off() -> None:
    pace = Pace(32, adaptive=False)
    serial(pace, running=32)
    assert pace.limit == 32
    assert pace.of_stream == pytest.approx(SERIAL / 32)


def test_the_length_of_a_text_is_expected_from_recent_ones() -> None:
    pace = Pace(32)
    assert pace.expected_seconds(100) == pytest.approx(7.0)
    assert pace.expected_seconds(0) == 10.0
    pace.finished(100, 20.0)
    pace.finished(0, 40.0)
    assert pace.expected_seconds(50) == pytest.approx(10.0)
    assert pace.expected_seconds(0) == pytest.approx(30.0)


def test_a_capacity_that_the_engine_knows_limits_the_first_streams_and_follows_what_is_seen() -> None:
    pace = Pace(32, capacity=SERIAL)
    assert (pace.capacity, pace.limit) == (SERIAL, int(SERIAL / PLAYING) + 1)
    assert pace.of_stream is None, "nobody is refused yet"
    serial(pace, running=8, capacity=2 * SERIAL)
    assert pace.capacity == SERIAL, "chunks that were there at once say nothing about the engine"
    pace.delivered(2 * SERIAL)
    assert pace.capacity == 2 * SERIAL
    pace.delivered(SERIAL / 2)
    assert pace.capacity == SERIAL / 2
