"""Filterbank features and mel filters, as the speech networks were trained on them."""

import numpy as np
import numpy.typing as npt

from polyvox.types import Pcm

Features = npt.NDArray[np.float32]

FRAME_SECONDS = 0.025
HOP_SECONDS = 0.010
PRE_EMPHASIS = 0.97
_POVEY_EXPONENT = 0.85
_LOWEST_HERTZ = 20.0
_W2V_RATE = 16_000
LEAST_ENERGY = np.finfo(np.float32).eps


def kaldi_fbank(pcm: Pcm, sample_rate: int, bins: int = 80) -> Features:
    """Log mel energies [frames, bins] with Kaldi's defaults and no dither; an incomplete last frame is dropped.

    Samples are taken as they are, in [-1, 1]: the 16-bit scale that Kaldi works in would add a constant to each value.
    All is done in single precision, as in the original, so that both round alike where there is little energy.
    """
    length, hop = round(FRAME_SECONDS * sample_rate), round(HOP_SECONDS * sample_rate)
    if len(pcm) < length:
        return np.zeros((0, bins), np.float32)
    fft_size = 1 << (length - 1).bit_length()
    power = _power_spectra(pcm.astype(np.float32), hop, povey_window(length), fft_size)
    energies: Features = np.log(np.maximum(power @ kaldi_filters(sample_rate, fft_size, bins).T, LEAST_ENERGY))
    return energies


def w2v_bert_features(pcm: Pcm) -> Features:
    """Features [frames, 160] of samples at 16 kHz for w2v-bert 2.0: pairs of log mel frames, 20 ms apart.

    They are Kaldi's at its 16-bit scale, in double precision as in the original; each of the 80 bins is normalised
    over the whole recording, so that all features depend on all samples.
    """
    bins, size = 80, 512
    window = np.hanning(round(FRAME_SECONDS * _W2V_RATE)) ** _POVEY_EXPONENT
    if len(pcm) < len(window) + round(HOP_SECONDS * _W2V_RATE):
        return np.zeros((0, 2 * bins), np.float32)
    power = _power_spectra(pcm.astype(np.float64) * 32_768, round(HOP_SECONDS * _W2V_RATE), window, size)
    low, high = _mels(np.array([_LOWEST_HERTZ, _W2V_RATE / 2]))
    filters = _triangles(np.linspace(low, high, bins + 2), _mels(np.fft.rfftfreq(size, 1 / _W2V_RATE)))
    energies = np.log(np.maximum(power @ filters.T, LEAST_ENERGY))
    normed = (energies - energies.mean(axis=0)) / np.sqrt(energies.var(axis=0, ddof=1) + 1e-7)
    pairs: Features = normed[: len(normed) // 2 * 2].reshape(-1, 2 * bins).astype(np.float32)
    return pairs


def _power_spectra(
    pcm: npt.NDArray[np.floating], hop: int, window: npt.NDArray[np.floating], fft_size: int
) -> npt.NDArray[np.floating]:
    """Power [frames, fft_size / 2 + 1] of all whole frames, each without its mean and with pre-emphasis."""
    frames = np.lib.stride_tricks.sliding_window_view(pcm, len(window))[::hop]
    frames = frames - frames.mean(axis=1, keepdims=True)
    before = np.concatenate((frames[:, :1], frames[:, :-1]), axis=1)
    power: npt.NDArray[np.floating] = np.square(
        np.abs(np.fft.rfft((frames - PRE_EMPHASIS * before) * window, fft_size))
    )
    return power


def _mels(hertz: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Frequencies on Kaldi's mel scale."""
    mels: npt.NDArray[np.floating] = 1127.0 * np.log(1.0 + hertz / 700.0)
    return mels


def kaldi_filters(sample_rate: int, fft_size: int, bins: int) -> Features:
    """Weights [bins, fft_size / 2 + 1] of triangles that are straight on the mel scale, from 20 Hz to the top."""
    low, high = _mels(np.array([_LOWEST_HERTZ, sample_rate / 2]))
    # Rounded early, as in the original: where the foot of a narrow triangle touches one bin of the spectrum, this
    # changes the energy by more than all later arithmetic.
    step = np.float32((high - low) / (bins + 1))
    edges = np.float32(low) + np.arange(bins + 2, dtype=np.float32) * step
    hertz = np.fft.rfftfreq(fft_size, 1 / sample_rate).astype(np.float32)
    return _triangles(edges, _mels(hertz))


def slaney_filters(sample_rate: int, fft_size: int, bins: int, highest_hertz: float | None = None) -> Features:
    """Weights [bins, fft_size // 2 + 1] of triangles that are straight in hertz and of equal area, from 0 to the top.

    The scale is that of Slaney's Auditory Toolbox: linear up to 1 kHz, logarithmic above.
    """
    corner_mel, growth = 15.0, np.log(6.4) / 27.0
    top = highest_hertz or sample_rate / 2
    top_mel = top * 3 / 200 if top < 1000.0 else corner_mel + np.log(top / 1000.0) / growth
    mels = np.linspace(0.0, top_mel, bins + 2)
    edges = np.where(mels < corner_mel, mels * 200 / 3, 1000.0 * np.exp(growth * (mels - corner_mel)))
    area = (edges[2:] - edges[:-2]) / 2
    weights = _triangles(edges, np.fft.rfftfreq(fft_size, 1 / sample_rate)) / area[:, np.newaxis]
    return weights.astype(np.float32)


def hann_window(length: int) -> npt.NDArray[np.float32]:
    """A periodic Hann window."""
    return np.hanning(length + 1)[:-1].astype(np.float32)


def htk_filters(sample_rate: int, fft_size: int, bins: int) -> Features:
    """Weights [bins, fft_size // 2 + 1] of triangles that are straight in hertz and 1 at their tips, from 0 to the top.

    The scale is HTK's, logarithmic throughout.
    """
    mels = np.linspace(0.0, 2595.0 * np.log10(1.0 + sample_rate / 2 / 700.0), bins + 2)
    edges = 700.0 * (10.0 ** (mels / 2595.0) - 1.0)
    return _triangles(edges, np.fft.rfftfreq(fft_size, 1 / sample_rate)).astype(np.float32)


def _triangles(edges: npt.NDArray[np.floating], positions: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """One triangle over each three neighbouring edges, 1 at its tip, sampled at the positions."""
    left, tip, right = (part[:, np.newaxis] for part in (edges[:-2], edges[1:-1], edges[2:]))
    rising, falling = (positions - left) / (tip - left), (right - positions) / (right - tip)
    return np.maximum(0.0, np.minimum(rising, falling))


def povey_window(length: int) -> npt.NDArray[np.float32]:
    """Kaldi's Povey window: a Hann window to the power of 0.85."""
    return (np.hanning(length) ** _POVEY_EXPONENT).astype(np.float32)
