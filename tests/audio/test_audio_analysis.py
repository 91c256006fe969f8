import numpy as np
import pytest

from helpers.audio_signals import tone, voice
from helpers.tables import each_row
from polyvox.audio.analysis import is_silent, mono_16k, speech_mono_16k
from polyvox.errors import AudioDecodeError


def test_a_recording_becomes_mono_at_16_khz():
    stereo = np.stack((tone(1.0, 48_000, 440.0, 0.5), tone(1.0, 48_000, 440.0, 0.1)), axis=1)
    recording = mono_16k(stereo, 48_000)
    assert recording.shape == (16_000,)
    assert recording.dtype == np.float32
    middle = slice(4_000, 12_000)
    np.testing.assert_allclose(recording[middle], tone(1.0, 16_000, 440.0, 0.3)[middle], atol=1e-3)


def test_a_recording_that_is_so_already_stays_as_it_is():
    np.testing.assert_array_equal(mono_16k(voice(1.0, 16_000), 16_000), voice(1.0, 16_000))


@each_row("bad", [np.nan, np.inf, -np.inf])
def test_samples_that_are_not_numbers_are_refused(bad):
    pcm = voice(1.0, 16_000).copy()
    pcm[100] = bad
    with pytest.raises(AudioDecodeError, match="NaN"):
        mono_16k(pcm, 16_000)


def test_silence_is_below_minus_60_dbfs():
    assert is_silent(np.zeros(0, np.float32))
    assert is_silent(np.full(100, 0.0009, np.float32))
    assert not is_silent(np.full(100, -0.002, np.float32))


def test_judges_of_speech_want_half_a_second_of_it():
    pcm = voice(1.0, 24_000)
    assert len(speech_mono_16k(pcm[:12_000], 24_000)) == 8_000
    with pytest.raises(AudioDecodeError, match=r"shorter than 0\.5 s"):
        speech_mono_16k(pcm[:11_900], 24_000)
    with pytest.raises(AudioDecodeError, match="silent"):
        speech_mono_16k(pcm * np.float32(1e-4), 24_000)
