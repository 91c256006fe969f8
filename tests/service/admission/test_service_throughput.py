"""What streams were given together, measured while several of them ran."""

import pytest

from polyvox.service.admission.throughput import Throughput


def test_only_the_time_in_which_several_streams_ran_counts() -> None:
    throughput, now = Throughput(), 0.0
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
    throughput, now = Throughput(), 0.0
    for _ in range(64):
        throughput.passed(now := now + 0.75, 1)
        throughput.passed(now := now + 0.25, 3)
        throughput.chunk(2.0)
    assert throughput.per_second == pytest.approx(2.0)


def test_what_was_delivered_long_ago_is_forgotten() -> None:
    throughput, now = Throughput(), 0.0
    for audio in (8.0, 1.0):
        for _ in range(64):
            throughput.passed(now := now + 0.5, 4)
            throughput.chunk(audio)
    assert throughput.per_second == pytest.approx(2.0)
