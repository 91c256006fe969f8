"""Words laid out over speech by its pauses and their lengths."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyvox.audio.word_layout import lay_out, speech_regions, without_quiet_edges
from polyvox.types import Span

RATE = 16_000


def noise(seconds: float) -> np.ndarray:
    return np.random.default_rng(1).uniform(-0.5, 0.5, int(seconds * RATE)).astype(np.float32)


def quiet(seconds: float) -> np.ndarray:
    return np.zeros(int(seconds * RATE), np.float32)


def seconds(span: Span) -> tuple[float, float]:
    return span.start / RATE, span.end / RATE


def test_speech_is_cut_at_pauses():
    pcm = np.concatenate((quiet(0.2), noise(0.5), quiet(0.05), noise(0.5), quiet(0.3), noise(0.4), quiet(0.1)))
    assert [seconds(region) for region in speech_regions(pcm, RATE)] == [
        pytest.approx((0.2, 1.25), abs=0.02),
        pytest.approx((1.55, 1.95), abs=0.02),
    ]


def test_a_pause_falls_on_the_mark_even_where_lengths_would_put_it_elsewhere():
    pcm = np.concatenate((noise(0.5), quiet(0.3), noise(1.1)))
    spans = lay_out(pcm, RATE, [0.3, 0.4, 0.3, 0.4], [False, True, False, True])
    assert [seconds(span)[0] for span in spans] == pytest.approx([0.0, 0.214, 0.8, 1.27], abs=0.03)


def test_words_share_a_stretch_by_their_lengths():
    spans = lay_out(noise(1.0), RATE, [0.1, 0.3], [False, True])
    assert [seconds(span) for span in spans] == [
        pytest.approx((0.0, 0.25), abs=0.02),
        pytest.approx((0.25, 1.0), abs=0.02),
    ]


def test_both_channels_are_heard():
    pcm = np.stack((quiet(1.0), noise(1.0)), axis=1)
    assert len(lay_out(np.concatenate((pcm, pcm)), RATE, [0.5, 0.5], [True, True])) == 2


@given(
    st.lists(st.tuples(st.booleans(), st.floats(0.0, 0.6)), max_size=6),
    st.lists(st.tuples(st.floats(0.0, 2.0), st.booleans()), min_size=1, max_size=8),
)
def test_every_word_has_a_place_in_the_audio_in_order(sounds, words):
    pcm = np.concatenate([quiet(0.0), *(noise(length) if loud else quiet(length) for loud, length in sounds)])
    spans = lay_out(pcm, RATE, [length for length, _ in words], [mark for _, mark in words])
    assert len(spans) == len(words)
    assert all(0 <= span.start <= span.end <= len(pcm) for span in spans)
    assert all(before.end <= after.start for before, after in pairwise(spans))


def test_very_many_words_are_laid_out_without_comparing_all_of_them():
    spans = lay_out(np.concatenate((noise(2.0), quiet(0.5), noise(2.0))), RATE, [0.1] * 20_000, [False] * 20_000)
    assert len(spans) == 20_000
    assert spans[-1].end == pytest.approx(4.5 * RATE, abs=200)


def test_a_long_silence_at_an_edge_is_cut_off_and_a_short_one_stays():
    pcm = np.concatenate((quiet(0.03), noise(0.3), quiet(0.2)))
    assert seconds(without_quiet_edges(Span(0, len(pcm)), pcm, RATE)) == pytest.approx((0.0, 0.33), abs=0.01)
    assert without_quiet_edges(Span(0, 400), quiet(1.0), RATE) == Span(0, 400)
