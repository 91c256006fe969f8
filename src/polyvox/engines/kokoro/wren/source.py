"""Wren's source-filter signal in NumPy: a pulse train and modulated noise through filters that come in pieces.

The same arithmetic as `models/kokoro/wren_source.py`, for a server without PyTorch.
"""

import numpy as np
import numpy.typing as npt

from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.engines.kokoro.wren.overlap import OverlapAdd, Spectra, hann, inverse_spectra, windows
from polyvox.types import Pcm

Array = npt.NDArray[np.float32]

HOP, WINDOW, FFT = 300, 600, 1_024
NOISE_FRAMES, NOISE_WINDOW, NOISE_FFT, NOISE_BANDS = 4, 150, 256, 65
HARMONICS = 2
"""Harmonics of the pitch by which the noise is amplitude-modulated."""
BINS = FFT // 2 + 1
OUTPUTS = (BINS, BINS, NOISE_FRAMES * NOISE_BANDS, 2 * HARMONICS)
"""Filter parameters of a frame: log-magnitude and phase for pulses, log-magnitudes for noise, modulation."""
VOICED_ABOVE_HZ = 10.0
_HIGHEST_HARMONIC_HZ, _LOWEST_PITCH, _NEAR_ZERO = 11_500.0, 40.0, 1e-4
_HALF = HOP // 2
_NOISE_HOP = NOISE_WINDOW // 2
_NOISE_BEFORE = (NOISE_WINDOW - _NOISE_HOP) // 2
_TAPS, _NOISE_TAPS = (FFT - WINDOW) // 2, (NOISE_FFT - NOISE_WINDOW) // 2


def phase_cycles(pitch: Array) -> Array:
    """Phase of the pitch at the centre of each frame, in cycles within [0, 1): a sum over the whole utterance."""
    phase: Array = np.remainder(np.cumsum(pitch.astype(np.float64) * (HOP / SAMPLE_RATE)), 1.0).astype(np.float32)
    return phase


class SourceFilter:
    """The signal of one utterance; `samples` may be read up to `final`."""

    def __init__(self, pitch: Array, phase: Array, noise: Pcm) -> None:
        self._frames = frames = len(pitch)
        cycles = _sample_phases(pitch, phase)
        voiced = (pitch > VOICED_ABOVE_HZ).astype(np.float32)[:, None]
        self._pulses = _between(_pulse_train(cycles, pitch) * voiced).reshape(-1)
        # Half a frame of padding: modulation is linear between the centres of two frames.
        shape = (frames + 1, HOP)
        angle = np.float32(2 * np.pi) * cycles
        self._noise = _between(noise)
        self._cosine, self._sine = _between(np.cos(angle) * voiced), _between(np.sin(angle) * voiced)
        self._modulated = np.zeros(shape, np.float32)
        self._modulation = np.zeros((frames + 2, 2 * HARMONICS), np.float32)
        length = frames * HOP
        self._pulse_signal = OverlapAdd(frames, HOP, FFT, _HALF + _TAPS, length)
        noise_offset = _NOISE_BEFORE + _NOISE_TAPS
        self._noise_signal = OverlapAdd(NOISE_FRAMES * frames, _NOISE_HOP, NOISE_FFT, noise_offset, length)
        self._log_noise = np.zeros((NOISE_FRAMES * frames, NOISE_BANDS), np.float32)
        self._segments = 0

    @property
    def final(self) -> int:
        return min(self._pulse_signal.final, self._noise_signal.final)

    def samples(self, start: int, end: int) -> Pcm:
        return self._pulse_signal.samples(start, end) + self._noise_signal.samples(start, end)

    def add(self, filters: Array) -> None:
        """Take the filter parameters of the next frames, [n, sum(OUTPUTS)]."""
        first, end = self._pulse_signal.added, self._pulse_signal.added + len(filters)
        magnitude, angle, noise, modulation = np.split(filters, np.cumsum(OUTPUTS)[:-1], axis=1)
        self._log_noise[NOISE_FRAMES * first : NOISE_FRAMES * end] = noise.reshape(-1, NOISE_BANDS)
        self._modulation[first + 1 : end + 1] = modulation
        if first == 0:
            self._modulation[0] = modulation[0]
        if end == self._frames:
            self._modulation[-1] = modulation[-1]
        self._add_pulses(first, end, magnitude, angle)
        self._add_noise(end)

    def _add_pulses(self, first: int, end: int, log_magnitude: Array, angle: Array) -> None:
        magnitude = _exponential(log_magnitude, -12.0, 6.0)
        response = np.empty(magnitude.shape, np.complex64)
        np.multiply(magnitude, np.cos(angle), out=response.real)
        np.multiply(magnitude, np.sin(angle), out=response.imag)
        spectra = _spectra(windows(self._pulses, 0, WINDOW, HOP, first, end), FFT)
        self._pulse_signal.add(inverse_spectra(np.multiply(spectra, response, out=spectra), FFT))

    def _add_noise(self, end: int) -> None:
        """Filter the noise whose modulation is known by the filters of so many frames."""
        last = end == self._frames
        segments = slice(self._segments, end + 1 if last else end)
        self._segments = segments.stop
        self._modulated[segments] = self._noise[segments] * (1 + self._smooth(segments))
        first, end = self._noise_signal.added, NOISE_FRAMES * (end if last else end - 1)
        response = _exponential(_interpolated(self._log_noise[first:end]), -14.0, 4.0)
        cut = windows(self._modulated.reshape(-1), _HALF - _NOISE_BEFORE, NOISE_WINDOW, _NOISE_HOP, first, end)
        spectra = _spectra(cut, NOISE_FFT)
        self._noise_signal.add(inverse_spectra(np.multiply(spectra, response, out=spectra), NOISE_FFT))

    def _smooth(self, segments: slice) -> Array:
        """Relative amplitude modulation of the noise between the centres of frames."""
        before = self._modulation[segments]
        change = self._modulation[segments.start + 1 : segments.stop + 1] - before
        share = (np.arange(HOP, dtype=np.float32) + np.float32(0.5)) / np.float32(HOP)
        cosine, sine = self._cosine[segments], self._sine[segments]
        total: Array = np.zeros_like(cosine)
        # Where there is no voice, cosine and sine are 0.
        for index, wave in enumerate((cosine, cosine * cosine - sine * sine, sine, 2 * cosine * sine)):
            smooth = change[:, index, None] * share
            smooth += before[:, index, None]
            smooth *= wave
            total += smooth
        return total


def _between(curve: Array) -> Array:
    """Samples of frames as rows between the centres of frames, [frames + 1, HOP]; outside is silence."""
    padded = np.zeros(curve.size + HOP, np.float32)
    padded[_HALF:-_HALF] = curve.reshape(-1)
    return padded.reshape(-1, HOP)


def _exponential(values: Array, lowest: float, highest: float) -> Array:
    limited = np.maximum(values, np.float32(lowest))
    np.minimum(limited, np.float32(highest), out=limited)
    return np.exp(limited, out=limited)


def _spectra(frames: Array, size: int) -> Spectra:
    """Spectra of windowed frames in the middle of `size` samples: there a filter reaches as far to either side."""
    count, width = frames.shape
    before = (size - width) // 2
    padded = np.zeros((count, size), np.float32)
    np.multiply(frames, hann(width), out=padded[:, before : before + width])
    spectra: Spectra = np.fft.rfft(padded)
    return spectra


def _sample_phases(pitch: Array, phase: Array) -> Array:
    """Phase in cycles at every sample, [frames, HOP], less its whole cycles; linear between the centres of frames."""
    advance = pitch * np.float32(HOP / SAMPLE_RATE)
    following = np.append(advance[1:], np.float32(0))
    position: Array = ((np.arange(HOP) + 0.5) / HOP - 0.5).astype(np.float32)
    slopes = np.where(position < 0, advance[:, None], following[:, None])
    cycles: Array = phase[:, None] + position * slopes
    cycles -= np.round(cycles)
    return cycles


def _pulse_train(cycles: Array, pitch: Array) -> Array:
    """All harmonics of the pitch below 11.5 kHz at equal amplitude and zero phase, normalised to unit power."""
    count = np.floor(_HIGHEST_HARMONIC_HZ / np.maximum(pitch, _LOWEST_PITCH)).astype(np.float32)[:, None]
    half = np.float32(np.pi) * cycles
    sine = np.sin(half)
    near_zero = np.abs(sine) < _NEAR_ZERO
    kernel = np.where(near_zero, 2 * count + 1, np.sin((2 * count + 1) * half) / np.where(near_zero, 1.0, sine))
    train: Array = (0.5 * (kernel - 1) * np.sqrt(2 / count)).astype(np.float32)
    return train


def _interpolated(bands: Array) -> Array:
    """Linearly from equally spaced bands to bins of the noise's FFT: there are two to a band.

    A matrix product would wake NumPy's threads, which then spin beside the ones of ONNX Runtime.
    """
    bins = np.empty((len(bands), NOISE_FFT // 2 + 1), np.float32)
    bins[:, ::2] = bands
    bins[:, 1::2] = np.float32(0.5) * (bands[:, :-1] + bands[:, 1:])
    return bins
