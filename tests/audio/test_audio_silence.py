"""Silence is cut as the original of ZipVoice cuts it, and no sound with it."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from polyvox.audio.silence import with_edges_cut, with_pauses_cut

RATE = 24_000
RECORDED = dict(np.load(Path(__file__).parents[1] / "golden" / "zipvoice_frontend" / "dsp.npz"))
TRIMMED_LENGTH, GAP_LENGTH = RECORDED["lengths"]


def tone(seconds: float, amplitude: float = 0.1) -> np.ndarray:
    return (amplitude * np.sin(np.arange(round(seconds * RATE)) * 0.1)).astype(np.float32)


def quiet(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * RATE), np.float32)


def test_edges_are_cut_where_the_original_cuts_them() -> None:
    ours, theirs = with_edges_cut(RECORDED["wav"][0], RATE), RECORDED["edge_trimmed"][0]
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= 1 / 32768  # it works on 16 bits


def test_a_long_pause_is_shortened_as_by_the_original_to_a_window_and_its_rounding() -> None:
    speech = RECORDED["wav"][0][9000:28000]
    joined = np.concatenate((speech, quiet(2.7), speech))
    assert abs(len(with_pauses_cut(joined, RATE)) - GAP_LENGTH) <= 0.010 * RATE + 8


def test_a_second_stays_at_either_side_of_a_pause_and_shorter_ones_stay_whole() -> None:
    long = np.concatenate((tone(0.5), quiet(3.0), tone(0.5)))
    assert len(with_pauses_cut(long, RATE)) == 3.0 * RATE
    short = np.concatenate((tone(0.5), quiet(0.9), tone(0.5)))
    np.testing.assert_array_equal(with_pauses_cut(short, RATE), short)


def test_silence_is_all_edge() -> None:
    assert len(with_edges_cut(quiet(2.0), RATE)) == 0
    assert len(with_edges_cut(quiet(0.0), RATE)) == 0


def test_stereo_is_silent_where_both_channels_are() -> None:
    left = np.stack((np.concatenate((tone(0.5), quiet(1.0))), np.concatenate((quiet(1.0), tone(0.5)))), axis=1)
    np.testing.assert_array_equal(with_edges_cut(left, RATE), left)


@pytest.mark.parametrize("cut", [with_edges_cut, with_pauses_cut])
@given(st.lists(st.tuples(st.booleans(), st.floats(0.01, 2.5)), max_size=5))
@examples(30)
def test_no_sound_is_ever_cut(cut, parts) -> None:
    pcm = np.concatenate([quiet(0.0), *(tone(length) if loud else quiet(length) for loud, length in parts)])
    assert np.square(cut(pcm, RATE)).sum() == pytest.approx(np.square(pcm).sum(), rel=1e-5)
