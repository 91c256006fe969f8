"""The health watchdog."""

import pytest

from polyvox.deploy.watchdog import Watchdog


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_an_engine_without_callers_is_idle_and_never_stuck(clock):
    watchdog = Watchdog(10.0, clock)
    clock.now = 1_000.0
    assert watchdog.stuck_seconds == 0.0
    assert watchdog.idle_seconds == 1_000.0


def test_a_wait_without_a_result_is_stuck_once_over_the_limit(clock):
    watchdog = Watchdog(10.0, clock)
    clock.now = 100.0
    with watchdog.waiting():
        assert watchdog.idle_seconds == 0.0
        clock.now = 110.0
        assert watchdog.stuck_seconds == 0.0
        clock.now = 111.0
        assert watchdog.stuck_seconds == 11.0
    assert watchdog.stuck_seconds == 0.0


def test_a_result_for_any_caller_resets_the_clock(clock):
    watchdog = Watchdog(10.0, clock)
    with watchdog.waiting():
        clock.now = 9.0
        with watchdog.waiting():
            pass
        clock.now = 18.0
        assert watchdog.stuck_seconds == 0.0


def test_an_error_resets_the_clock_and_a_cancelled_caller_does_not(clock):
    watchdog = Watchdog(10.0, clock)
    with watchdog.waiting():
        clock.now = 9.0
        with pytest.raises(ValueError), watchdog.waiting():
            raise ValueError
        clock.now = 18.0
        assert watchdog.stuck_seconds == 0.0
        with pytest.raises(KeyboardInterrupt), watchdog.waiting():
            raise KeyboardInterrupt
        clock.now = 20.0
        assert watchdog.stuck_seconds == 11.0
