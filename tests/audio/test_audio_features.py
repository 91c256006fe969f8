"""Features against those of the programs that the models were trained with.

`kaldi_fbank.npz` holds a recording at 16 kHz and what torchaudio's Kaldi-compatible code makes of it (80 bins, no
dither, mean of each bin removed); `slaney_filters.npz` holds filter banks of librosa 0.11, named by rate, transform
size and number of bins.
"""

from pathlib import Path

import numpy as np

from helpers.audio_signals import tone, voice
from helpers.tables import each_row
from polyvox.audio.features import kaldi_fbank, kaldi_filters, slaney_filters

GOLDEN = Path(__file__).parents[1] / "golden" / "frontend"


def test_fbank_is_kaldis():
    with np.load(GOLDEN / "kaldi_fbank.npz") as golden:
        features = kaldi_fbank(golden["wav16k"], 16_000)
        np.testing.assert_allclose(features - features.mean(axis=0), golden["fbank_meansub"], rtol=0, atol=1e-4)


@each_row(("rate", "fft_size", "bins"), [(16_000, 321, 120), (24_000, 1920, 80), (1_600, 64, 8)])
def test_slaney_filters_are_librosas(rate, fft_size, bins):
    with np.load(GOLDEN / "slaney_filters.npz") as golden:
        filters = slaney_filters(rate, fft_size, bins)
        np.testing.assert_allclose(filters, golden[f"mel_{rate}_{fft_size}_{bins}"], rtol=0, atol=1e-8)


@each_row(("samples", "frames"), [(0, 0), (399, 0), (400, 1), (559, 1), (560, 2), (16_000, 98)])
def test_only_whole_frames_count(samples, frames):
    features = kaldi_fbank(voice(2.0, 16_000)[:samples], 16_000)
    assert features.shape == (frames, 80)
    assert features.dtype == np.float32


def test_frames_follow_the_rate():
    assert kaldi_fbank(voice(1.0, 24_000), 24_000, bins=40).shape == (98, 40)


def test_a_tone_is_loudest_in_the_bin_whose_triangle_it_stands_under():
    filters = kaldi_filters(16_000, 512, 80)
    line = round(1_000 / 16_000 * 512)
    features = kaldi_fbank(tone(0.5, 16_000, 1_000.0), 16_000)
    assert set(features.argmax(axis=1)) == {int(filters[:, line].argmax())}


def test_loudness_moves_all_bins_alike():
    pcm = voice(1.0, 16_000)
    louder = kaldi_fbank(pcm * np.float32(2.0), 16_000) - kaldi_fbank(pcm, 16_000)
    sounding = kaldi_fbank(pcm, 16_000) > -12
    np.testing.assert_allclose(louder[sounding], np.log(4.0), atol=1e-3)


def test_silence_and_a_constant_offset_have_the_least_energy():
    for pcm in (np.zeros(1_600, np.float32), np.full(1_600, 0.5, np.float32)):
        np.testing.assert_allclose(kaldi_fbank(pcm, 16_000), np.log(np.finfo(np.float32).eps), rtol=1e-6)


def test_the_recording_is_left_as_it_was():
    pcm = voice(0.5, 16_000).copy()
    before = pcm.copy()
    kaldi_fbank(pcm, 16_000)
    np.testing.assert_array_equal(pcm, before)
