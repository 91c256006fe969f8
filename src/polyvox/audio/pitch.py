"""The fundamental frequency of speech, by normalised autocorrelation."""

import numpy as np
import numpy.typing as npt

from polyvox.audio.analysis import ANALYSIS_RATE, mono_16k
from polyvox.types import Pcm

_LOWEST, _HIGHEST = 60.0, 400.0
_FRAME, _HOP = round(0.04 * ANALYSIS_RATE), round(0.01 * ANALYSIS_RATE)
_SHORTEST_LAG, _LONGEST_LAG = int(ANALYSIS_RATE / _HIGHEST), int(ANALYSIS_RATE / _LOWEST)
# A frame is voiced if its level is this share of the peak and its autocorrelation reaches this value; of several lags
# that come nearly as high as the best, the shortest is the period, and the others are multiples of it.
_LEVEL, _VOICED, _NEARLY = 0.03, 0.6, 0.9


def voiced_f0(pcm: Pcm, rate: int) -> npt.NDArray[np.float64]:
    """F0 in hertz of every voiced frame; frames are 10 ms apart."""
    recording = mono_16k(pcm, rate).astype(np.float64)
    span = _FRAME + _LONGEST_LAG
    if len(recording) < span:
        return np.zeros(0)
    windows = np.lib.stride_tricks.sliding_window_view(recording, span)[::_HOP]
    windows = windows - windows[:, :_FRAME].mean(axis=1, keepdims=True)
    level = np.sqrt(np.square(windows[:, :_FRAME]).mean(axis=1))
    windows = windows[level >= _LEVEL * np.abs(recording).max()]
    correlation = _autocorrelation(windows)[:, _SHORTEST_LAG:]
    best = correlation.max(axis=1, initial=0.0)
    inner = correlation[:, 1:-1]
    peaks = (inner >= correlation[:, :-2]) & (inner >= correlation[:, 2:]) & (inner >= _NEARLY * best[:, np.newaxis])
    voiced = (best >= _VOICED) & peaks.any(axis=1)
    return np.asarray(ANALYSIS_RATE / (_SHORTEST_LAG + 1 + peaks[voiced].argmax(axis=1)))


def _autocorrelation(windows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Normalised autocorrelation of each row's first frame at every lag, from -1 to 1, [frames, lags]."""
    size = 1 << (windows.shape[1] + _FRAME - 1).bit_length()
    frames = windows[:, :_FRAME]
    products = np.fft.irfft(np.fft.rfft(windows, size) * np.conj(np.fft.rfft(frames, size)), size)
    sums = np.concatenate((np.zeros((len(windows), 1)), np.cumsum(np.square(windows), axis=1)), axis=1)
    energies = sums[:, _FRAME : _FRAME + _LONGEST_LAG + 1] - sums[:, : _LONGEST_LAG + 1]
    return np.asarray(products[:, : _LONGEST_LAG + 1] / np.sqrt(np.maximum(energies * energies[:, :1], 1e-12)))
