"""From a reference recording to what ZipVoice hears of it: a mel spectrogram without silence."""

import numpy as np

from polyvox.audio.features import Features, htk_filters
from polyvox.audio.resample import resampled
from polyvox.audio.silence import with_edges_cut, with_pauses_cut
from polyvox.errors import PromptError
from polyvox.types import Pcm

SAMPLE_RATE = 24_000
HOP = 256
BINS = 100
FFT = 1024
TARGET_RMS = 0.1
TAIL_SECONDS = 0.2
"""Silence behind the prompt, so that its last sound does not run into what is spoken."""
FRAMES_PER_SECOND = SAMPLE_RATE / HOP
_FLOOR = 1e-7


def trimmed(pcm: Pcm, sample_rate: int) -> Pcm:
    """A recording at the model's rate, without long pauses and silent edges, and with its tail of silence."""
    samples = resampled(pcm, sample_rate, SAMPLE_RATE)
    samples = with_edges_cut(with_pauses_cut(samples, SAMPLE_RATE), SAMPLE_RATE)
    if not len(samples):
        raise PromptError("The reference recording holds no sound; record it again, closer.", field="audio")
    return np.concatenate((samples, np.zeros(round(TAIL_SECONDS * SAMPLE_RATE), np.float32)))


def mel_spectrogram(pcm: Pcm) -> Features:
    """Natural logarithms of mel magnitudes, [frames, bins]; one frame for each 256 samples, rounded."""
    padded = np.pad(pcm, FFT // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, FFT)[::HOP]
    window = np.hanning(FFT + 1)[:-1].astype(np.float32)
    magnitudes = np.abs(np.fft.rfft(frames * window)).astype(np.float32)
    mel = np.log(np.maximum(magnitudes @ htk_filters(SAMPLE_RATE, FFT, BINS).T, _FLOOR))
    count = (2 * len(pcm) + HOP) // (2 * HOP)
    return np.concatenate((mel, np.repeat(mel[-1:], max(0, count - len(mel)), axis=0)))[:count]
