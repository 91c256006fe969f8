"""The estimators of a model's throughput and of the error of forecasts."""

import pytest

from polyvox.service.admission.capacity import PLAYBACK_RATE, ContendedThroughput, ForecastError, ThroughputEstimator

SERIAL = 10.0
"""Seconds of audio per second of an engine that works for one stream at a time."""


def serial(throughput: ThroughputEstimator, running: int, chunks: int = 40, capacity: float = SERIAL) -> None:
    for _ in range(chunks):
        throughput.chunk(1.0, running / capacity, running)


def batched(throughput: ThroughputEstimator, running: int, chunks: int = 40, each: float = 2.0) -> None:
    for _ in range(chunks):
        throughput.chunk(1.0, 1.0 / each, running)


def test_nothing_is_known_before_enough_chunks_were_seen() -> None:
    throughput = ThroughputEstimator(32)
    serial(throughput, running=32, chunks=3)
    assert (throughput.limit, throughput.capacity) == (32, None)
    serial(throughput, running=32, chunks=4)
    assert throughput.capacity is not None
    assert throughput.per_stream is None, "nobody is refused yet"


def test_an_engine_that_batches_is_not_limited() -> None:
    throughput = ThroughputEstimator(32)
    for running in (1, 4, 32, 1, 32):
        batched(throughput, running)
        assert throughput.limit == 32
    assert throughput.per_stream == pytest.approx(2.0)


def test_a_lone_stream_says_nothing_about_many() -> None:
    throughput = ThroughputEstimator(32)
    serial(throughput, running=1)
    assert throughput.limit == 32


@pytest.mark.parametrize("running", [12, 32])
def test_streams_that_fall_behind_each_other_are_limited_to_as_many_as_are_kept_playing(running: int) -> None:
    throughput = ThroughputEstimator(32)
    serial(throughput, running)
    assert throughput.limit == int(SERIAL / PLAYBACK_RATE) + 1
    assert throughput.per_stream == pytest.approx(SERIAL / throughput.limit)


def test_the_limit_is_remembered_when_the_load_is_low() -> None:
    throughput = ThroughputEstimator(32)
    serial(throughput, running=32)
    serial(throughput, running=1)
    assert throughput.limit == int(SERIAL / PLAYBACK_RATE) + 1


def test_the_limit_follows_the_engine_up_and_down() -> None:
    throughput = ThroughputEstimator(32)
    serial(throughput, running=32)
    serial(throughput, running=throughput.limit, capacity=3.1 * SERIAL)
    assert throughput.limit == int(3.1 * SERIAL / PLAYBACK_RATE) + 1
    serial(throughput, running=throughput.limit, capacity=SERIAL)
    assert throughput.limit == int(SERIAL / PLAYBACK_RATE) + 1


def test_an_engine_slower_than_playback_that_batches_gets_all_its_streams_back() -> None:
    throughput = ThroughputEstimator(8)
    batched(throughput, running=8, each=0.5)
    assert throughput.limit < 8
    batched(throughput, running=1, each=0.5)
    for _ in range(8):
        batched(throughput, running=throughput.limit, each=0.5)
    assert throughput.limit == 8


def test_at_least_four_run_however_slow_the_engine_is() -> None:
    throughput = ThroughputEstimator(8)
    serial(throughput, running=8, capacity=0.1)
    assert throughput.limit == 4


def test_the_limit_can_be_switched_off() -> None:
    throughput = ThroughputEstimator(32, adaptive=False)
    serial(throughput, running=32)
    assert throughput.limit == 32
    assert throughput.per_stream == pytest.approx(SERIAL / 32)


def test_the_length_of_a_text_is_expected_from_recent_ones() -> None:
    throughput = ThroughputEstimator(32)
    assert throughput.expected_seconds(100) == pytest.approx(7.0)
    assert throughput.expected_seconds(0) == 10.0
    throughput.finished(100, 20.0)
    throughput.finished(0, 40.0)
    assert throughput.expected_seconds(50) == pytest.approx(10.0)
    assert throughput.expected_seconds(0) == pytest.approx(30.0)


def test_a_capacity_that_the_engine_knows_limits_the_first_streams_and_follows_what_is_seen() -> None:
    throughput = ThroughputEstimator(32, capacity=SERIAL)
    assert (throughput.capacity, throughput.limit) == (SERIAL, int(SERIAL / PLAYBACK_RATE) + 1)
    assert throughput.per_stream is None, "nobody is refused yet"
    serial(throughput, running=8, capacity=2 * SERIAL)
    assert throughput.capacity == SERIAL, "chunks that were there at once say nothing about the engine"
    for number, delivered in enumerate((2 * SERIAL, SERIAL / 2)):
        for chunk in range(64):
            throughput.passed(64.0 * number + chunk + 1.0, running=2)
            throughput.delivered(delivered)
        assert throughput.capacity == pytest.approx(delivered)


def test_only_the_time_in_which_several_streams_ran_counts() -> None:
    throughput, now = ContendedThroughput(), 0.0
    for _ in range(32):  # alone, and slow
        throughput.passed(now := now + 1.0, 1)
        throughput.chunk(1.0)
    assert throughput.per_second is None
    for _ in range(32):
        throughput.passed(now := now + 10.0, 0)  # nobody
        throughput.passed(now := now + 0.5, 2)
        throughput.chunk(2.0)
    assert throughput.per_second == pytest.approx(4.0)


def test_a_chunk_that_was_partly_made_beside_others_counts_in_part() -> None:
    throughput, now = ContendedThroughput(), 0.0
    for _ in range(64):
        throughput.passed(now := now + 0.75, 1)
        throughput.passed(now := now + 0.25, 3)
        throughput.chunk(2.0)
    assert throughput.per_second == pytest.approx(2.0)


def test_what_was_delivered_long_ago_is_forgotten() -> None:
    throughput, now = ContendedThroughput(), 0.0
    for audio in (8.0, 1.0):
        for _ in range(64):
            throughput.passed(now := now + 0.5, 4)
            throughput.chunk(audio)
    assert throughput.per_second == pytest.approx(2.0)


def test_streams_that_run_dry_make_the_lead_longer_up_to_a_bound() -> None:
    throughput = ThroughputEstimator(32, capacity=SERIAL)
    throughput.played(ran_dry=False)
    assert throughput.spare_lead == 0.0
    leads = []
    for _ in range(20):
        throughput.played(ran_dry=True)
        leads.append(throughput.spare_lead)
    assert leads[0] > 0.2
    assert leads == sorted(leads)
    assert leads[-1] == 4.0


def test_one_stream_in_a_hundred_may_run_dry() -> None:
    throughput = ThroughputEstimator(32, capacity=SERIAL)
    for _ in range(3):
        throughput.played(ran_dry=True)
    lead = throughput.spare_lead
    for number in range(1_000):
        throughput.played(ran_dry=number % 100 == 0)
    assert throughput.spare_lead == pytest.approx(lead)
    for _ in range(1_000):
        throughput.played(ran_dry=False)
    assert throughput.spare_lead == 0.0


def test_while_a_capacity_is_learnt_streams_that_run_dry_say_nothing() -> None:
    throughput = ThroughputEstimator(32)
    throughput.played(ran_dry=True)
    assert throughput.spare_lead == 0.0


def test_without_streams_a_forecast_is_believed() -> None:
    assert ForecastError().factor(0.0) == 1.0


def test_a_forecast_is_made_long_enough_for_most_streams() -> None:
    error = ForecastError()
    for share in (*[0.9] * 20, *[1.3] * 10):
        error.add(2.0, 2.0 * share, now=1.0)
    assert error.factor(2.0) == pytest.approx(1.3)


def test_a_few_streams_change_little_and_none_changes_it_beyond_measure() -> None:
    error = ForecastError()
    error.add(2.0, 3.0, now=0.0)
    assert error.factor(0.0) == 1.5  # one of five
    for _ in range(32):
        error.add(2.0, 40.0, now=0.0)
    assert error.factor(0.0) == 1.5


def test_what_was_long_ago_is_forgotten() -> None:
    error = ForecastError()
    for _ in range(32):
        error.add(2.0, 3.0, now=0.0)
    assert error.factor(5.0) == 1.5
    assert error.factor(11.0) == 1.0


def test_short_waits_say_nothing() -> None:
    error = ForecastError()
    for _ in range(32):
        error.add(0.1, 0.4, now=0.0)
    assert error.factor(0.0) == 1.0
