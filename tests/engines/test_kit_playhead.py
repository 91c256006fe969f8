"""The deadlines of chunks on the clock of their player."""

import pytest

from polyvox.engines.kit.playhead import Playhead


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def playhead(clock):
    return Playhead(clock)


def test_the_first_chunk_is_due_at_once(playhead):
    assert playhead.due == 100.0


def test_playing_starts_when_the_first_chunk_arrives(playhead, clock):
    clock.now = 103.0
    playhead.push(2.0)
    assert playhead.due == 105.0


def test_later_chunks_play_right_behind_the_one_before_whenever_they_arrive(playhead, clock):
    playhead.push(2.0)
    clock.now = 101.0
    playhead.push(3.0)
    assert playhead.due == 105.0


def test_a_chunk_that_arrives_late_plays_when_it_arrives(playhead, clock):
    playhead.push(2.0)
    clock.now = 110.0
    playhead.push(3.0)
    assert playhead.due == 113.0


def test_chunks_requested_ahead_are_due_when_those_before_them_have_played(playhead):
    assert [playhead.expect(seconds) for seconds in (1.0, 2.0, 4.0)] == [100.0, 101.0, 103.0]
    assert playhead.due == 107.0


def test_the_real_duration_replaces_the_expected_one(playhead, clock):
    for seconds in (1.0, 2.0):
        playhead.expect(seconds)
    clock.now = 100.5
    playhead.push(1.5)
    assert playhead.due == 104.0, "started at 100.5, played 1.5 s, and 2 s are expected"
    assert playhead.expect(5.0) == 104.0
    playhead.push(2.5)
    playhead.push(5.0)
    assert playhead.due == 109.5


def test_what_is_left_of_a_chunk_in_pieces_is_still_expected(playhead):
    for seconds in (2.0, 4.0):
        playhead.expect(seconds)
    playhead.push(0.5, last=False)
    assert playhead.due == 106.0, "0.5 s play, and 1.5 s and 4 s are expected"
    playhead.push(2.0, last=False)
    assert playhead.due == 106.5, "the chunk is longer than was expected"
    playhead.push(0.5)
    assert playhead.due == 107.0
