import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from helpers.audio_signals import at_rate, pieces, tone, voice
from helpers.tables import each_row
from polyvox.audio.limiter import StreamLimiter
from polyvox.types import Pcm

CEILING = 10 ** (-1 / 20)


def limited(pcm: Pcm, rate: int = 24_000, piece: int = 1_000) -> Pcm:
    limiter = StreamLimiter(-1.0, rate, pcm.ndim)
    return np.concatenate([*(limiter.push(part) for part in pieces(pcm, piece)), limiter.finish()])


def true_peak(pcm: Pcm, rate: int) -> float:
    return float(np.abs(at_rate(pcm, rate, 192_000)).max())


@settings(deadline=None, max_examples=40)
@given(
    hnp.arrays(np.float32, st.integers(0, 900), elements=st.floats(-12, 12, width=32)),
    st.integers(1, 300),
    st.sampled_from([8_000, 24_000]),
)
def test_no_sample_passes_the_ceiling_and_none_is_lost(pcm: Pcm, piece: int, rate: int) -> None:
    out = limited(pcm, rate, piece)
    assert out.shape == pcm.shape
    assert np.abs(out).max(initial=0) <= CEILING + 1e-7
    np.testing.assert_allclose(out, limited(pcm, rate, max(len(pcm), 1)), atol=1e-6)


def test_what_is_below_the_ceiling_passes_unchanged() -> None:
    pcm = voice(0.5, 24_000)
    np.testing.assert_allclose(limited(pcm), pcm, atol=1e-7)


@each_row("rate", [8_000, 24_000, 48_000])
def test_peaks_between_the_samples_are_limited_too(rate: int) -> None:
    between = np.sin(np.pi / 4 + np.pi / 2 * np.arange(rate)).astype(np.float32)
    assert np.abs(between).max() < 0.71
    assert true_peak(between, rate) > 0.99
    assert true_peak(limited(between, rate), rate) <= CEILING * 1.01
    speech = 4 * voice(0.5, rate) * np.hanning(rate // 2).astype(np.float32) ** 0.2
    assert true_peak(limited(speech, rate), rate) <= CEILING * 1.01


def test_the_gain_falls_before_the_peak_and_returns_after_it() -> None:
    pcm = tone(1.0, 24_000, 1_000, amplitude=0.5)
    pcm[12_000:12_240] *= 4
    gain = limited(pcm)[6::12] / pcm[6::12]
    np.testing.assert_allclose(gain[:980], 1, atol=1e-4)
    assert gain[1_000:1_020].max() < 0.5
    assert np.abs(np.diff(20 * np.log10(gain))).max() < 1.5
    np.testing.assert_allclose(gain[1_300:], 1, atol=1e-4)


def test_both_channels_are_turned_down_together() -> None:
    quiet, loud = tone(0.5, 24_000, 300, 0.1), tone(0.5, 24_000, 500, 2.0)
    both = limited(np.stack([quiet, loud], axis=1))
    assert both.shape == (12_000, 2)
    assert np.abs(both[1_000:-1_000, 0]).max() == pytest.approx(0.1 * CEILING / 2, rel=0.02)
