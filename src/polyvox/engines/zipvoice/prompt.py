"""From a reference recording to what ZipVoice hears of it: a mel spectrogram at an even loudness."""

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class PromptAudio:
    """The recording as the model hears it, and how much louder it was made: speech is made softer by as much."""

    pcm: Pcm
    gain: float


def prompt_audio(pcm: Pcm, sample_rate: int) -> PromptAudio:
    """The recording at the model's rate, without long pauses and silent edges; a soft one is made louder."""
    samples = resampled(pcm, sample_rate, SAMPLE_RATE)
    samples = with_edges_cut(with_pauses_cut(samples, SAMPLE_RATE), SAMPLE_RATE)
    if not len(samples):
        raise PromptError("The reference recording holds no sound; record it again, closer.", field="audio")
    samples = np.concatenate((samples, np.zeros(round(TAIL_SECONDS * SAMPLE_RATE), np.float32)))
    gain = loudness_gain(samples)
    return PromptAudio(samples * np.float32(gain), gain)


def loudness_gain(pcm: Pcm, target: float = TARGET_RMS) -> float:
    """The factor that brings a recording to the loudness of the training speech; a louder one stays as it is."""
    rms = float(np.sqrt(np.mean(np.square(pcm, dtype=np.float64))))
    return max(1.0, target / rms)


def mel_spectrogram(pcm: Pcm) -> Features:
    """Natural logarithms of mel magnitudes, [frames, bins]; one frame for each 256 samples, rounded."""
    padded = np.pad(pcm, FFT // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, FFT)[::HOP]
    window = np.hanning(FFT + 1)[:-1].astype(np.float32)
    magnitudes = np.abs(np.fft.rfft(frames * window)).astype(np.float32)
    mel = np.log(np.maximum(magnitudes @ htk_filters(SAMPLE_RATE, FFT, BINS).T, _FLOOR))
    count = (2 * len(pcm) + HOP) // (2 * HOP)
    return np.concatenate((mel, np.repeat(mel[-1:], max(0, count - len(mel)), axis=0)))[:count]
