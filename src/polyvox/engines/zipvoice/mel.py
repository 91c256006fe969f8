"""ZipVoice's mel spectrogram: 93.75 frames a second of 100 bands."""

import numpy as np

from polyvox.audio.features import Features, htk_filters
from polyvox.types import Pcm

SAMPLE_RATE = 24_000
HOP = 256
BINS = 100
FFT = 1024
FRAMES_PER_SECOND = SAMPLE_RATE / HOP
FLOOR = 1e-7
"""The least magnitude of which the logarithm is taken."""


def mel_spectrogram(pcm: Pcm) -> Features:
    """Natural logarithms of mel magnitudes, [frames, bins]; one frame for each 256 samples, rounded."""
    padded = np.pad(pcm, FFT // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, FFT)[::HOP]
    window = np.hanning(FFT + 1)[:-1].astype(np.float32)
    magnitudes = np.abs(np.fft.rfft(frames * window)).astype(np.float32)
    mel = np.log(np.maximum(magnitudes @ htk_filters(SAMPLE_RATE, FFT, BINS).T, FLOOR))
    count = (2 * len(pcm) + HOP) // (2 * HOP)
    return np.concatenate((mel, np.repeat(mel[-1:], max(0, count - len(mel)), axis=0)))[:count]
