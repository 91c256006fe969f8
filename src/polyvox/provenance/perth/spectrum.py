"""The spectrum that Perth's networks read: frames of 64 ms every 10 ms, bins of 15.6 Hz, at rates that divide so."""

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from polyvox.audio.features import hann_window

BINS = 128
"""Bins that carry the mark: up to 2 kHz."""
SIDE_RATE = 16_000
"""Rate at which the mark is computed for speech whose own does not divide."""

FRAMES_PER_SECOND = 100

_RATE_STEP = 500
_FRAME_MS = 64
_TRAINED_RATE = 32_000
_LEAST_MAGNITUDE = 1e-9
_LEAST_DB, _RANGE_DB = -180.0, 195.0
_NEPERS = np.float32(_RANGE_DB * np.log(10) / 20)
_SILENT_LEVEL = 0.03
"""Mean level of a frame that is not marked: digital silence has 0, speech about 0.6."""

Samples = npt.NDArray[np.float32]
Spectra = npt.NDArray[np.complex64]
Levels = npt.NDArray[np.float32]


def divides(sample_rate: int) -> bool:
    """Return whether frames and hops are whole numbers of samples at this rate, and the marked bins exist."""
    return sample_rate % _RATE_STEP == 0 and sample_rate >= 2 * BINS * 1000 // _FRAME_MS


class SpectrumFrames:
    """Frames of one sample rate: cut, transformed, and put together again. Frame `i` is centred on sample `i * hop`."""

    def __init__(self, sample_rate: int) -> None:
        self.size, self.hop = sample_rate * _FRAME_MS // 1000, sample_rate // FRAMES_PER_SECOND
        self.half = self.size // 2
        self._window = hann_window(self.size)
        self._scale = np.float32(_TRAINED_RATE / sample_rate)

    def spectra(self, padded: Samples) -> Spectra:
        """All bins [channels, bins, frames] of the whole frames in samples [channels, time]."""
        frames = sliding_window_view(padded, self.size, axis=1)[:, :: self.hop]
        found: Spectra = (np.fft.rfft(frames * self._window) * self._scale).astype(np.complex64)
        return found.transpose(0, 2, 1)

    def signals(self, spectra: Spectra) -> Samples:
        """Windowed frames [channels, frames, size] of the lowest bins [channels, 128, frames]."""
        frames = np.fft.irfft(spectra.transpose(0, 2, 1), n=self.size)
        return (frames * (self._window / self._scale)).astype(np.float32)

    @property
    def weights(self) -> Samples:
        """The share of a frame in the sum of overlapping ones."""
        return np.square(self._window)


def levels_of(spectra: Spectra) -> Levels:
    """Levels of bins: 0 at -180 dB and 1 at 15 dB."""
    magnitudes = np.maximum(np.abs(spectra), np.float32(_LEAST_MAGNITUDE))
    levels: Levels = (np.float32(20) * np.log10(magnitudes) - np.float32(_LEAST_DB)) / np.float32(_RANGE_DB)
    return levels


def has_sound(levels: Levels) -> npt.NDArray[np.bool_]:
    """Return of which frames the levels [channels, bins, frames] are more than digital silence."""
    sounding: npt.NDArray[np.bool_] = levels.mean(axis=1) > _SILENT_LEVEL
    return sounding


def gains_of(change: Levels) -> npt.NDArray[np.float32]:
    """The factors, less 1, that change levels by as much."""
    gains: npt.NDArray[np.float32] = np.expm1(change * _NEPERS)
    return gains


def mirrored(samples: Samples, before: int, after: int) -> Samples:
    """Samples [channels, time] with their mirror image at the ends; too few of them, with silence."""
    around = ((0, 0), (before, after))
    enough = samples.shape[1] > max(before, after)
    return np.pad(samples, around, mode="reflect") if enough else np.pad(samples, around)
