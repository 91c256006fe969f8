"""Forecasts learn from how late streams were heard, and forget it soon."""

import pytest

from polyvox.service.admission.lateness import Lateness


def test_without_streams_a_forecast_is_believed() -> None:
    assert Lateness().factor(0.0) == 1.0


def test_a_forecast_is_made_long_enough_for_most_streams() -> None:
    lateness = Lateness()
    for share in (*[0.9] * 20, *[1.3] * 10):
        lateness.add(2.0, 2.0 * share, now=1.0)
    assert lateness.factor(2.0) == pytest.approx(1.3)


def test_a_few_streams_change_little_and_none_changes_it_beyond_measure() -> None:
    lateness = Lateness()
    lateness.add(2.0, 3.0, now=0.0)
    assert lateness.factor(0.0) == 1.5  # one of five
    for _ in range(32):
        lateness.add(2.0, 40.0, now=0.0)
    assert lateness.factor(0.0) == 1.5


def test_what_was_long_ago_is_forgotten() -> None:
    lateness = Lateness()
    for _ in range(32):
        lateness.add(2.0, 3.0, now=0.0)
    assert lateness.factor(5.0) == 1.5
    assert lateness.factor(11.0) == 1.0


def test_short_waits_say_nothing() -> None:
    lateness = Lateness()
    for _ in range(32):
        lateness.add(0.1, 0.4, now=0.0)
    assert lateness.factor(0.0) == 1.0
