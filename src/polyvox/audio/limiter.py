"""A look-ahead true-peak limiter."""

import numpy as np
import numpy.typing as npt

from polyvox.audio.pcm import check_channels, check_rate, shaped
from polyvox.types import Pcm

Floats = npt.NDArray[np.float64]

_LOOKAHEAD_SECONDS = 0.005
_RELEASE_DB_PER_SECOND = 60.0
# Inter-sample peaks are found by interpolating three points between each pair, from so many samples on each side.
_REACH = 8
_POINTS = (0.25, 0.5, 0.75)
_BLOCK = 512
"""Samples that are looked at together; peaks between them are sought only where there can be one above the ceiling."""


class StreamLimiter:
    """Limits one stream to `ceiling` dBFS, inter-sample peaks included.

    The gain falls in the 5 ms before a peak and rises slowly after it; both are computed in dB. Output
    is aligned with the input and as long; the last 5 ms or so are held back until `finish`.
    """

    def __init__(self, ceiling: float, sample_rate: int, channels: int = 1) -> None:
        self._channels = check_channels(channels)
        self._ceiling = ceiling
        self._slope = _RELEASE_DB_PER_SECOND / check_rate(sample_rate)
        self._ahead = round(_LOOKAHEAD_SECONDS * sample_rate)
        self._kernels = [_interpolator(point) for point in _POINTS]
        self._harmless = 10.0 ** (ceiling / 20) / max(np.abs(kernel).sum() for kernel in self._kernels)
        self._recent = np.zeros((2 * _REACH, channels))
        self._held = np.zeros((self._ahead + _REACH, channels))
        self._needs = np.zeros(self._ahead)
        self._floors = np.zeros(self._ahead)
        self._last_need = 0.0
        self._early = self._ahead + _REACH

    def push(self, pcm: Pcm) -> Pcm:
        """Take samples; return the output that is ready."""
        return self._limited(shaped(pcm, self._channels))

    def finish(self) -> Pcm:
        """Return the rest of the output; the object cannot be used afterwards."""
        zeros = np.zeros_like(self._held, np.float32)
        return self._limited(zeros[:, 0] if self._channels == 1 else zeros)

    def _limited(self, pcm: Pcm) -> Pcm:
        count = len(pcm)
        if count == 0:
            return pcm
        samples = pcm.reshape(count, -1).astype(np.float64)
        needs = self._needed(samples)
        delayed = np.concatenate([self._held, samples])
        self._held, limited = delayed[count:], delayed[:count]
        if needs.any() or self._last_need or self._needs.any() or self._floors.any():
            gains, ceiling = self._smoothed(self._released(needs)), 10.0 ** (self._ceiling / 20)
            limited = np.clip(limited * 10.0 ** (gains[:, None] / 20), -ceiling, ceiling)
        # The first outputs belong to the zeros that stand before the first sample.
        early, self._early = min(self._early, count), max(self._early - count, 0)
        return limited[early:].astype(np.float32).reshape(count - early, *pcm.shape[1:])

    def _needed(self, samples: Floats) -> Floats:
        """The gain reduction in dB, at most 0, that each sample needs, delayed by the interpolator's half length."""
        signal = np.concatenate([self._recent, samples])
        self._recent = signal[len(samples) :]
        needs = np.zeros(len(samples))
        for start in range(0, len(samples), _BLOCK):
            block = signal[start : start + _BLOCK + 2 * _REACH]
            if np.abs(block).max() > self._harmless:
                needs[start : start + _BLOCK] = self._needed_of_block(block)
        return needs

    def _needed_of_block(self, signal: Floats) -> Floats:
        between = np.max(
            [np.abs(np.convolve(track, kernel, "valid")) for track in signal.T for kernel in self._kernels], axis=0
        )
        here = np.abs(signal[_REACH:-_REACH]).max(axis=1)
        peaks = np.maximum(here, np.maximum(between[:-1], between[1:]))
        needs: Floats = np.minimum(0.0, self._ceiling - 20 * np.log10(np.maximum(peaks, 1e-9)))
        return needs

    def _released(self, needs: Floats) -> Floats:
        """Each need, or the one before it less the release, whichever is deeper."""
        needs[0] = min(needs[0], self._last_need + self._slope)
        ramp = self._slope * np.arange(len(needs))
        held: Floats = np.minimum.accumulate(needs - ramp) + ramp
        self._last_need = float(held[-1])
        return held

    def _smoothed(self, needs: Floats) -> Floats:
        """The deepest need of the next 5 ms, averaged over the last 5 ms: in time for every need and without a step."""
        window = np.concatenate([self._needs, needs])
        self._needs = window[len(needs) :]
        floors = np.concatenate([self._floors, _sliding_minimum(window, self._ahead + 1)])
        self._floors = floors[len(needs) :]
        sums = np.concatenate([[0.0], np.cumsum(floors)])
        means: Floats = (sums[self._ahead + 1 :] - sums[: -self._ahead - 1]) / (self._ahead + 1)
        return means


def _interpolator(point: float) -> Floats:
    """Taps that read a signal at `point` of the way between its two middle samples."""
    offsets = np.arange(-_REACH + 1, _REACH + 1) - point
    taps = np.sinc(offsets) * np.cos(np.pi * offsets / (2 * _REACH + 1)) ** 2
    reversed_taps: Floats = taps[::-1] / taps.sum()
    return reversed_taps


def _sliding_minimum(values: Floats, width: int) -> Floats:
    """The minimum of each run of `width` values, by doubling."""
    have = 1
    while have < width:
        step = min(have, width - have)
        values = np.minimum(values[:-step], values[step:])
        have += step
    return values
