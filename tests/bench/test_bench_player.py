"""The simulated player, on arrival times made up for the purpose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyvox.bench.player import Arrival, play


def arrivals(*pieces: tuple[float, float]) -> list[Arrival]:
    return [Arrival(time, seconds) for time, seconds in pieces]


def test_audio_that_is_always_ahead_never_starves() -> None:
    playback = play(arrivals((0.5, 1.0), (1.0, 2.0), (3.0, 4.0)))
    assert (playback.started, playback.underruns, playback.starved) == (0.5, 0, 0.0)


def test_a_late_piece_is_one_underrun_as_long_as_the_gap() -> None:
    playback = play(arrivals((0.5, 1.0), (1.75, 1.0)))
    assert playback.underruns == 1
    assert playback.starved == pytest.approx(0.25)


def test_a_piece_on_the_very_moment_is_in_time() -> None:
    assert play(arrivals((0.0, 1.0), (1.0, 1.0))).underruns == 0


def test_after_a_gap_the_clock_goes_on_from_the_late_piece() -> None:
    # Dry at 1.0, resumes at 2.0, dry again at 3.0; the third piece at 3.5 starves it for another half second.
    playback = play(arrivals((0.0, 1.0), (2.0, 1.0), (3.5, 1.0)))
    assert playback.underruns == 2
    assert playback.starved == pytest.approx(1.5)


def test_a_prebuffer_delays_the_start_and_hides_gaps_up_to_its_length() -> None:
    pieces = arrivals((0.0, 1.0), (1.3, 1.0))
    assert play(pieces, prebuffer=0.2).starved == pytest.approx(0.1)
    covered = play(pieces, prebuffer=0.5)
    assert (covered.started, covered.underruns) == (0.5, 0)


pieces = st.lists(st.tuples(st.floats(0, 10), st.floats(0.001, 10)), min_size=1, max_size=30)


@pytest.mark.long
@given(pieces, st.floats(0, 5))
def test_playing_takes_the_audio_and_the_starvation_and_nothing_else(
    gaps: list[tuple[float, float]], prebuffer: float
) -> None:
    clock = 0.0
    stream: list[Arrival] = []
    for gap, seconds in gaps:
        clock += gap
        stream.append(Arrival(clock, seconds))
    playback = play(stream, prebuffer)
    end = playback.started + sum(piece.seconds for piece in stream) + playback.starved
    assert end >= stream[-1].time + stream[-1].seconds - 1e-6
    assert (playback.underruns > 0) == (playback.starved > 0)
    assert playback.starved <= max(0.0, stream[-1].time - playback.started) + 1e-6
