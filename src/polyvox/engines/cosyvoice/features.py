"""Spectral features of recordings as CosyVoice was trained on them, and the resampler used in training."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyvox.audio.features import hann_window, slaney_filters
from polyvox.audio.resample import resampled
from polyvox.types import Pcm

Features = npt.NDArray[np.float32]

WHISPER_RATE = 16_000
WHISPER_BINS = 128
MEL_BINS = 80

_WHISPER_FFT, _WHISPER_HOP = 400, 160
_ZERO_CROSSINGS = 6
_ROLLOFF = 0.99
_LARGEST_RATIO = 1_000


def sinc_resampled(pcm: Pcm, source_rate: int, target_rate: int) -> Pcm:
    """Resample with a Hann-windowed sinc of six zero crossings.

    There is a filter for each phase of the ratio. Where that has terms beyond a thousand, as between odd rates, the
    filters would outgrow the recording, and another resampler of better quality is used.
    """
    shared = math.gcd(source_rate, target_rate)
    source, target = source_rate // shared, target_rate // shared
    if source == target:
        return pcm
    if max(source, target) > _LARGEST_RATIO:
        return resampled(pcm, source_rate, target_rate)
    filters, reach = _sinc_filters(source, target)
    padded = np.pad(pcm.astype(np.float32), (reach, reach + source))
    windows = np.lib.stride_tricks.sliding_window_view(padded, filters.shape[1])[::source]
    return np.asarray(windows @ filters.T, np.float32).ravel()[: math.ceil(target * len(pcm) / source)]


def _sinc_filters(source: int, target: int) -> tuple[Features, int]:
    """One filter for each phase [target, taps], and their left padding."""
    cutoff = min(source, target) * _ROLLOFF
    reach = math.ceil(_ZERO_CROSSINGS * source / cutoff)
    taps = np.arange(-reach, reach + source) / source
    times = (taps - np.arange(target)[:, np.newaxis] / target) * cutoff
    times = times.clip(-_ZERO_CROSSINGS, _ZERO_CROSSINGS)
    window = np.cos(times * np.pi / _ZERO_CROSSINGS / 2) ** 2
    return (np.sinc(times) * window * cutoff / source).astype(np.float32), reach


def whisper_log_mel(pcm: Pcm) -> Features:
    """Log mel energies [128, frames] of a recording at 16 kHz, no lower than 80 dB under the loudest."""
    padded = np.pad(pcm, _WHISPER_FFT // 2, mode="reflect")
    power = np.square(_magnitudes(padded, _WHISPER_FFT, _WHISPER_HOP)[:-1])
    energies = power @ slaney_filters(WHISPER_RATE, _WHISPER_FFT, WHISPER_BINS).T
    logs = np.log10(np.maximum(energies, 1e-10))
    return np.asarray((np.maximum(logs, logs.max() - 8.0) + 4.0) / 4.0, np.float32).T


@dataclass(frozen=True, slots=True)
class MelScale:
    """Analysis of recordings: at this rate, in windows of `size` samples every `hop`."""

    rate: int
    size: int
    hop: int


MEL_24K = MelScale(24_000, 1920, 480)
MEL_22K = MelScale(22_050, 1024, 256)


def mel_spectrogram(pcm: Pcm, scale: MelScale, fmax: float | None) -> Features:
    """Log mel magnitudes [80, frames] of a recording at the scale's rate, up to `fmax` or the Nyquist frequency."""
    padded = np.pad(pcm, (scale.size - scale.hop) // 2, mode="reflect")
    magnitudes = np.sqrt(np.square(_magnitudes(padded, scale.size, scale.hop)) + 1e-9)
    mel = magnitudes @ slaney_filters(scale.rate, scale.size, MEL_BINS, fmax).T
    return np.asarray(np.log(np.maximum(mel, 1e-5)), np.float32).T


def _magnitudes(pcm: Pcm, size: int, hop: int) -> npt.NDArray[np.floating]:
    frames = np.lib.stride_tricks.sliding_window_view(pcm, size)[::hop]
    return np.abs(np.fft.rfft(frames * hann_window(size)))
