"""Silence is cut as the original of ZipVoice cuts it, and no sound with it."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from polyvox.audio import silence
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


def edges_cut_by_all_windows(pcm: np.ndarray, *, start: bool, end: bool) -> np.ndarray:
    """The rule in its plain form: all windows are looked at, from either end."""

    def silent(given: np.ndarray) -> int:
        mono = given if given.ndim == 1 else np.sqrt(np.mean(np.square(given), axis=1))
        begins = range(0, len(mono), 240)
        loud = [np.square(mono[at : at + 240], dtype=np.float64).mean() >= 1e-5 for at in begins]
        return loud.index(True) * 240 if any(loud) else len(given)

    leading, trailing = silent(pcm), silent(pcm[::-1])
    if leading == len(pcm):
        return pcm[:0] if start or end else pcm
    first, last = max(0, leading - 2400) if start else 0, max(0, trailing - 2400) if end else 0
    return pcm[first : len(pcm) - last]


@given(
    st.lists(st.tuples(st.sampled_from((0.0, 0.002, 0.0032, 0.1)), st.integers(0, 20_000)), max_size=5),
    st.sampled_from((1, 2)),
    st.booleans(),
    st.booleans(),
    st.integers(0, 99),
)
@examples(200)
def test_edges_are_those_that_all_windows_give(parts, channels, start, end, seed) -> None:
    noise = np.random.Generator(np.random.Philox(seed))
    pieces = [noise.standard_normal((length, channels), np.float32) * loud for loud, length in parts]
    pcm = np.concatenate([np.zeros((0, channels), np.float32), *pieces])
    pcm = pcm[:, 0] if channels == 1 else pcm
    found = with_edges_cut(pcm, RATE, start=start, end=end)
    np.testing.assert_array_equal(found, edges_cut_by_all_windows(pcm, start=start, end=end))
    assert np.shares_memory(found, pcm) or not len(found)


def test_a_click_across_two_windows_counts_as_the_windows_from_the_start_have_it() -> None:
    for at in range(9_500, 10_500, 7):
        pcm = quiet(1.0)
        pcm[at : at + 12] = 0.018
        for start, end in ((True, False), (False, True), (True, True)):
            found = with_edges_cut(pcm, RATE, start=start, end=end)
            np.testing.assert_array_equal(found, edges_cut_by_all_windows(pcm, start=start, end=end))


def test_of_a_chunk_only_the_edges_that_are_asked_for_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at, audible = list[int](), silence._audible

    def counting(pcm: np.ndarray, sample_rate: int) -> np.ndarray:
        looked_at.append(len(pcm))
        return audible(pcm, sample_rate)

    monkeypatch.setattr(silence, "_audible", counting)
    pcm = np.concatenate((quiet(0.1), tone(9.0), quiet(0.1)))
    with_edges_cut(pcm, RATE, start=False, end=False)
    assert looked_at == []
    with_edges_cut(pcm, RATE, start=True, end=False)
    assert sum(looked_at) < RATE
    with_edges_cut(pcm, RATE)
    assert sum(looked_at) < 2 * RATE
