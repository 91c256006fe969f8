import io
import json

import av
import numpy as np
import pytest
from av.filter.loudnorm import stats

from helpers.audio_signals import pieces, tone, voice
from helpers.tables import each_row
from polyvox.audio.encode import AudioFormat, encode
from polyvox.audio.loudness import LoudnessMeter, StreamLoudness, highpass_filter, shelf_filter
from polyvox.errors import InvalidRequestError
from polyvox.types import Pcm

RATE = 24_000


def reference_lufs(pcm: Pcm, rate: int) -> float:
    """The integrated loudness that FFmpeg measures."""
    container = av.open(io.BytesIO(encode(pcm, AudioFormat.WAV, rate)))
    return float(json.loads(stats("i=-24:lra=7:tp=-2", container.streams.audio[0]))["input_i"])


def measured_lufs(pcm: Pcm, rate: int) -> float | None:
    meter = LoudnessMeter(rate, pcm.ndim)
    samples = pcm.reshape(len(pcm), -1).astype(np.float64)
    for start in range(0, len(pcm) - meter.block + 1, meter.block):
        meter.add(samples[start : start + meter.block])
    return meter.loudness


def levelled(pcm: Pcm, target: float = -16.0, rate: int = RATE, piece: int = 1_000) -> Pcm:
    stream = StreamLoudness(target, rate, pcm.ndim)
    return np.concatenate([*(stream.push(part) for part in pieces(pcm, piece)), stream.finish()])


def test_the_filters_are_the_standards_at_48_khz() -> None:
    numerator, denominator = shelf_filter(48_000)
    np.testing.assert_allclose(numerator, [1.53512485958697, -2.69169618940638, 1.19839281085285], atol=1e-8)
    np.testing.assert_allclose(denominator, [1.0, -1.69065929318241, 0.73248077421585], atol=1e-8)
    numerator, denominator = highpass_filter(48_000)
    np.testing.assert_allclose(numerator, [1.0, -2.0, 1.0])
    np.testing.assert_allclose(denominator, [1.0, -1.99004745483398, 0.99007225036621], atol=1e-8)


@each_row("rate", [8_000, 24_000, 48_000])
def test_the_standards_tone_measures_as_the_standard_says(rate: int) -> None:
    assert measured_lufs(tone(2.0, rate, 997, 1.0), rate) == pytest.approx(-3.01, abs=0.05)


@pytest.mark.long
@each_row(("rate", "tolerance"), [(8_000, 0.4), (24_000, 0.2), (48_000, 0.2)])
@each_row("channels", [1, 2])
def test_the_meter_agrees_with_another(rate: int, tolerance: float, channels: int) -> None:
    pcm = np.concatenate([voice(2.0, rate, channels), 0.01 * voice(1.0, rate, channels)])
    assert measured_lufs(pcm, rate) == pytest.approx(reference_lufs(pcm, rate), abs=tolerance)


@pytest.mark.long
@each_row("gain", [0.15, 0.5, 1.6])
@each_row("target", [-23.0, -16.0])
def test_speech_of_any_level_is_brought_to_the_target(gain: float, target: float) -> None:
    heard = levelled(gain * voice(4.0, RATE), target)
    assert reference_lufs(heard[int(1.6 * RATE) :], RATE) == pytest.approx(target, abs=1.0)


def gain_in_db(pcm: Pcm, heard: Pcm) -> np.ndarray:
    """The gain at each peak of a 1 kHz tone, 2000 to the second."""
    return 20 * np.log10(heard[6::12] / pcm[6::12])


def test_the_gain_comes_to_rest_after_a_second_then_creeps_then_is_locked() -> None:
    pcm = tone(12.0, RATE, 1_000, amplitude=0.1)
    pcm[2 * RATE :] *= 0.5
    gain = gain_in_db(pcm, levelled(pcm))
    per_second = gain[2_000:] - gain[:-2_000]
    assert np.ptp(gain[int(1.6 * 2_000) : 2 * 2_000]) < 0.01
    assert 0.3 < np.abs(per_second[2 * 2_000 :]).max() < 0.51
    assert np.ptp(gain[10 * 2_000 :]) < 0.01


def test_what_is_yet_to_come_changes_nothing_before_it() -> None:
    pcm = 0.5 * voice(2.0, RATE)
    softer = levelled(np.concatenate([pcm, 0.1 * voice(1.0, RATE, seed=5)]))
    louder = levelled(np.concatenate([pcm, 1.0 * voice(1.0, RATE, seed=5)]))
    np.testing.assert_allclose(softer[: int(1.99 * RATE)], louder[: int(1.99 * RATE)], atol=1e-6)


def test_the_gain_moves_without_a_jump() -> None:
    pcm = tone(3.0, RATE, 1_000, amplitude=0.05)
    gain = gain_in_db(pcm, levelled(pcm))
    assert gain[0] == pytest.approx(0, abs=0.01)
    assert gain[-1] == pytest.approx(gain[2 * RATE // 12], abs=0.01)
    assert gain[-1] > 8
    assert np.abs(np.diff(gain)).max() < 0.02


def test_silence_before_the_first_word_decides_nothing() -> None:
    hush = 0.001 * voice(1.0, RATE, seed=9)
    np.testing.assert_allclose(levelled(hush), hush, atol=1e-6)
    heard = levelled(np.concatenate([hush, 0.5 * voice(4.0, RATE)]))
    assert reference_lufs(heard[int(2.8 * RATE) :], RATE) == pytest.approx(-16, abs=1.0)


@pytest.mark.long
@each_row("channels", [1, 2])
@each_row("gain", [0.1, 2.0])
def test_the_result_does_not_depend_on_how_the_input_was_cut(channels: int, gain: float) -> None:
    pcm = gain * voice(1.6, RATE, channels)
    whole = levelled(pcm, piece=len(pcm))
    assert whole.shape == pcm.shape
    for piece in (441, 2_400, 31_337):
        np.testing.assert_allclose(levelled(pcm, piece=piece), whole, atol=1e-5)


def test_no_sample_passes_minus_1_dbfs_and_no_rubbish_spreads() -> None:
    pcm = 3 * voice(2.0, RATE)
    pcm[5_000:5_010] = np.nan
    pcm[6_000] = np.inf
    heard = levelled(pcm, target=-5.0)
    assert len(heard) == len(pcm)
    assert np.abs(heard).max() <= 10 ** (-1 / 20) + 1e-7


@each_row("target", [-41.0, 0.0, float("nan")])
def test_targets_out_of_range_are_refused_by_name(target: float) -> None:
    with pytest.raises(InvalidRequestError, match="-40 and -5 LUFS") as caught:
        StreamLoudness(target, RATE)
    assert caught.value.field == "loudness"
