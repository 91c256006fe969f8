import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.audio_signals import at_rate, pieces, tone, voice
from helpers.examples import examples
from helpers.tables import each_row
from polyvox.audio.limiter import StreamLimiter, is_within
from polyvox.types import Pcm

CEILING = 10 ** (-1 / 20)


def limited(pcm: Pcm, rate: int = 24_000, piece: int = 1_000) -> Pcm:
    limiter = StreamLimiter(-1.0, rate, pcm.ndim)
    return np.concatenate([*(limiter.push(part) for part in pieces(pcm, piece)), limiter.finish()])


def true_peak(pcm: Pcm, rate: int) -> float:
    return float(np.abs(at_rate(pcm, rate, 192_000)).max())


@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 900),
    st.sampled_from([0.01, 0.2, 1.0]),
    st.integers(1, 300),
    st.sampled_from([8_000, 24_000]),
)
@examples(40)
def test_no_sample_passes_the_ceiling_and_none_is_lost(
    seed: int, length: int, density: float, piece: int, rate: int
) -> None:
    random = np.random.default_rng(seed)
    pcm = (random.uniform(-12, 12, length) * (random.random(length) < density)).astype(np.float32)
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


def reference(pcm: Pcm, rate: int) -> Pcm:
    """The limiter's definition, sample by sample, in double precision and over the whole signal."""
    ahead, reach, slope = round(0.005 * rate), 8, 60 / rate
    signal = pcm.reshape(len(pcm), -1).astype(np.float64)
    padded = np.pad(signal, ((reach, reach), (0, 0)))
    offsets = np.arange(1 - reach, reach + 1)
    between = np.zeros(len(signal) + 1)
    for point in (0.25, 0.5, 0.75):
        taps = np.sinc(offsets - point) * np.cos(np.pi * (offsets - point) / (2 * reach + 1)) ** 2
        for channel in padded.T:
            points = np.correlate(channel, taps / taps.sum(), "valid")
            between = np.maximum(between, np.abs(points))
    peaks = np.maximum(np.abs(signal).max(axis=1), np.maximum(between[:-1], between[1:]))
    needs = np.minimum(0.0, -1.0 - 20 * np.log10(np.maximum(peaks, 1e-9)))
    for index in range(1, len(needs)):
        needs[index] = min(needs[index], needs[index - 1] + slope)
    # Needs go on falling back behind the last sample, where nothing is heard any more.
    later = needs[-1] + slope * np.arange(1, ahead + 1)
    following = np.concatenate([np.zeros(ahead), needs, np.minimum(later, 0.0)])
    deepest = np.array([following[index : index + ahead + 1].min() for index in range(len(needs) + ahead)])
    gains = np.array([deepest[index : index + ahead + 1].mean() for index in range(len(needs))])
    return np.clip(signal * 10 ** (gains[:, None] / 20), -CEILING, CEILING).reshape(pcm.shape).astype(np.float32)


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.tuples(st.integers(1, 1_500), st.floats(0.0, 3.0)), min_size=1, max_size=6),
    st.integers(1, 700),
    st.sampled_from([8_000, 24_000]),
    st.sampled_from([1, 2]),
)
@examples(30)
def test_runs_of_loud_and_quiet_are_limited_as_the_definition_says(
    seed: int, runs: list[tuple[int, float]], piece: int, rate: int, channels: int
) -> None:
    level = np.concatenate([np.full(length, loudness, np.float32) for length, loudness in runs])
    noise = np.random.default_rng(seed).standard_normal((len(level), channels), np.float32)
    pcm = (noise * level[:, None])[:, 0] if channels == 1 else noise * level[:, None]
    np.testing.assert_allclose(limited(pcm, rate, piece), reference(pcm, rate), rtol=5e-7, atol=3e-7)


def test_speech_whose_true_peaks_cannot_pass_the_ceiling_is_unchanged_bit_for_bit() -> None:
    pcm = 0.5 * voice(0.5, 24_000) / np.abs(voice(0.5, 24_000)).max()
    assert np.array_equal(limited(pcm), pcm)


@given(st.integers(0, 2**32 - 1), st.integers(1, 900), st.floats(0.3, 1.2))
@examples(100)
def test_a_signal_is_within_a_ceiling_where_limiting_would_not_change_it(seed: int, length: int, level: float) -> None:
    noise = np.random.default_rng(seed).uniform(-1, 1, length).astype(np.float32)
    noise[length // 2 :] *= 0.1  # loud samples are few, and may stand at either end
    pcm = np.float32(level) * (noise if seed % 2 else noise[::-1])
    assert is_within(pcm, -1.0) == np.array_equal(limited(pcm), pcm)


def test_a_peak_between_samples_is_not_within_a_ceiling() -> None:
    pcm = np.zeros(200, np.float32)
    pcm[100:102] = 0.85
    assert np.abs(pcm).max() < CEILING
    assert not is_within(pcm, -1.0)
    assert is_within(np.zeros(0, np.float32), -1.0)


def test_a_sample_that_is_infinite_is_clipped_and_the_rest_stays_finite() -> None:
    pcm = tone(0.5, 24_000, 1_000, amplitude=0.5)
    pcm[6_000] = np.inf
    out = limited(pcm)
    assert np.isfinite(out).all()
    assert np.abs(out).max() <= CEILING + 1e-7
