import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.audio_signals import at_rate, matched, pieces, tone, voice
from helpers.examples import examples
from helpers.tables import each_row
from polyvox.audio.resample import StreamResampler, resampled
from polyvox.errors import InvalidRequestError

rates = st.sampled_from([4_000, 8_000, 11_025, 16_000, 22_050, 24_000, 37_123, 44_100, 48_000, 192_000])


@given(rates, rates, st.integers(0, 9_000), st.lists(st.integers(0, 2_500), max_size=8), st.sampled_from([1, 2]))
@examples(60)
def test_the_length_is_exact_however_the_input_is_cut(
    source: int, target: int, length: int, cuts: list[int], channels: int
) -> None:
    pcm = voice(length / source, source, channels)
    length = len(pcm)
    resampler = StreamResampler(source, target, channels)
    outputs = []
    for cut in cuts:
        outputs.append(resampler.push(pcm[:cut]))
        pcm = pcm[cut:]
    outputs += [resampler.push(pcm), resampler.finish()]
    resampled = np.concatenate(outputs)
    assert resampled.dtype == np.float32
    assert resampled.ndim == channels
    assert 2 * abs(len(resampled) * source - length * target) <= source, "rounded; of a half, either way"


@each_row(("source", "target"), [(24_000, 48_000), (24_000, 8_000), (22_050, 24_000), (44_100, 16_000)])
def test_a_tone_keeps_its_pitch_its_level_and_its_start(source: int, target: int) -> None:
    match = matched(tone(0.5, target, 1_000), at_rate(tone(0.5, source, 1_000), source, target))
    assert match.lag == 0
    assert abs(match.level) < 0.01
    assert match.snr > 50


def test_what_the_new_rate_cannot_carry_is_removed_not_folded() -> None:
    assert np.abs(at_rate(tone(0.5, 48_000, 7_000), 48_000, 8_000)[400:-400]).max() < 1e-4


def test_the_channels_of_stereo_stay_apart() -> None:
    left, right = voice(0.3, 24_000, seed=1), voice(0.3, 24_000, seed=2)
    both = at_rate(np.stack([left, right], axis=1), 24_000, 16_000)
    np.testing.assert_allclose(both[:, 0], at_rate(left, 24_000, 16_000), atol=1e-6)
    np.testing.assert_allclose(both[:, 1], at_rate(right, 24_000, 16_000), atol=1e-6)


@each_row("channels", [1, 2])
def test_a_whole_recording_comes_out_as_its_stream_does(channels: int) -> None:
    pcm = voice(0.5, 24_000, channels)
    np.testing.assert_array_equal(resampled(pcm, 24_000, 16_000), at_rate(pcm, 24_000, 16_000))


def test_equal_rates_change_nothing_and_hold_nothing_back() -> None:
    pcm = voice(0.1, 24_000)
    resampler = StreamResampler(24_000, 24_000)
    assert resampler.push(pcm) is pcm
    assert len(resampler.finish()) == 0


@each_row(("source", "target"), [(24_000, 8_000), (24_000, 48_000), (24_000, 44_100)])
def test_no_more_than_80_ms_stay_inside(source: int, target: int) -> None:
    resampler = StreamResampler(source, target)
    given_seconds = taken_seconds = held = 0.0
    for piece in pieces(voice(1.0, source), source // 50):
        given_seconds += len(piece) / source
        taken_seconds += len(resampler.push(piece)) / target
        held = max(held, given_seconds - taken_seconds)
    assert held <= 0.08


def test_rates_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidRequestError):
        StreamResampler(24_000, 1)
