"""How high somebody speaks."""

import numpy as np
import numpy.typing as npt

from polyvox.audio.hearing import HEARING_RATE, heard
from polyvox.types import Pcm

_LOWEST, _HIGHEST = 60.0, 400.0
_FRAME, _HOP = round(0.04 * HEARING_RATE), round(0.01 * HEARING_RATE)
_SHORTEST_LAG, _LONGEST_LAG = int(HEARING_RATE / _HIGHEST), int(HEARING_RATE / _LOWEST)
# A frame counts if it is this loud against the loudest sample and repeats itself this well; of several periods that fit
# nearly as well as the best, the shortest is the pitch, and the others are multiples of it.
_LOUD, _REPEATS, _NEARLY = 0.03, 0.6, 0.9


def voiced_pitches(pcm: Pcm, rate: int) -> npt.NDArray[np.float64]:
    """The pitch in hertz of every frame, 10 ms apart, in which one can be told."""
    recording = heard(pcm, rate).astype(np.float64)
    span = _FRAME + _LONGEST_LAG
    if len(recording) < span:
        return np.zeros(0)
    stretches = np.lib.stride_tricks.sliding_window_view(recording, span)[::_HOP]
    stretches = stretches - stretches[:, :_FRAME].mean(axis=1, keepdims=True)
    level = np.sqrt(np.square(stretches[:, :_FRAME]).mean(axis=1))
    stretches = stretches[level >= _LOUD * np.abs(recording).max()]
    likeness = _likeness_to_later(stretches)[:, _SHORTEST_LAG:]
    best = likeness.max(axis=1, initial=0.0)
    inner = likeness[:, 1:-1]
    peaks = (inner >= likeness[:, :-2]) & (inner >= likeness[:, 2:]) & (inner >= _NEARLY * best[:, np.newaxis])
    voiced = (best >= _REPEATS) & peaks.any(axis=1)
    return np.asarray(HEARING_RATE / (_SHORTEST_LAG + 1 + peaks[voiced].argmax(axis=1)))


def _likeness_to_later(stretches: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How alike each stretch's first frame and the frame each lag later are, from -1 to 1, [frames, lags]."""
    size = 1 << (stretches.shape[1] + _FRAME - 1).bit_length()
    frames = stretches[:, :_FRAME]
    products = np.fft.irfft(np.fft.rfft(stretches, size) * np.conj(np.fft.rfft(frames, size)), size)
    sums = np.concatenate((np.zeros((len(stretches), 1)), np.cumsum(np.square(stretches), axis=1)), axis=1)
    energies = sums[:, _FRAME : _FRAME + _LONGEST_LAG + 1] - sums[:, : _LONGEST_LAG + 1]
    return np.asarray(products[:, : _LONGEST_LAG + 1] / np.sqrt(np.maximum(energies * energies[:, :1], 1e-12)))
