import pytest

from polyvox.deploy.pulse import Pulse


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_an_engine_nobody_waits_for_is_idle_and_never_stuck(clock):
    pulse = Pulse(10.0, clock)
    clock.now = 1_000.0
    assert pulse.stuck_seconds == 0.0
    assert pulse.idle_seconds == 1_000.0


def test_a_wait_without_any_answer_is_stuck_once_it_is_too_long(clock):
    pulse = Pulse(10.0, clock)
    clock.now = 100.0
    with pulse.waiting():
        assert pulse.idle_seconds == 0.0
        clock.now = 110.0
        assert pulse.stuck_seconds == 0.0
        clock.now = 111.0
        assert pulse.stuck_seconds == 11.0
    assert pulse.stuck_seconds == 0.0


def test_an_answer_to_anybody_shows_that_it_works(clock):
    pulse = Pulse(10.0, clock)
    with pulse.waiting():
        clock.now = 9.0
        with pulse.waiting():
            pass
        clock.now = 18.0
        assert pulse.stuck_seconds == 0.0


def test_an_error_is_an_answer_and_giving_up_is_none(clock):
    pulse = Pulse(10.0, clock)
    with pulse.waiting():
        clock.now = 9.0
        with pytest.raises(ValueError), pulse.waiting():
            raise ValueError
        clock.now = 18.0
        assert pulse.stuck_seconds == 0.0
        with pytest.raises(KeyboardInterrupt), pulse.waiting():
            raise KeyboardInterrupt
        clock.now = 20.0
        assert pulse.stuck_seconds == 11.0
