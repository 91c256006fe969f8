"""A look-ahead true-peak limiter."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from polyvox.audio.pcm import check_channels, check_rate, shaped
from polyvox.types import Pcm

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

_LOOKAHEAD_SECONDS = 0.005
_RELEASE_DB_PER_SECOND = 60.0
_DB = np.log(10) / 20
"""Natural logarithm of one decibel."""
# Inter-sample peaks are found by interpolating three points between each pair, from so many samples on each side.
_REACH = 8
_POINTS = (0.25, 0.5, 0.75)
_LARGEST_EXCESS = np.float32(1e6)
_BLOCK = 2 * _REACH
"""Samples that are looked at together; peaks between them are sought only where there can be one above the ceiling."""


class StreamLimiter:
    """Limits one stream to `ceiling` dBFS, inter-sample peaks included.

    The gain falls in the 5 ms before a peak and rises slowly after it; both are computed in dB. Output
    is aligned with the input and as long; the last 5 ms or so are held back until `finish`.
    """

    def __init__(self, ceiling: float, sample_rate: int, channels: int = 1) -> None:
        self._channels = check_channels(channels)
        self._peak = np.float32(10.0 ** (ceiling / 20))
        self._slope = _RELEASE_DB_PER_SECOND / check_rate(sample_rate)
        self._ahead = round(_LOOKAHEAD_SECONDS * sample_rate)
        self._recent = np.zeros((2 * _REACH, channels), np.float32)
        self._held = np.zeros((self._ahead + _REACH, channels), np.float32)
        self._reductions = np.zeros(2 * self._ahead)
        self._early = self._ahead + _REACH

    def push(self, pcm: Pcm) -> Pcm:
        """Take samples; return the output that is ready."""
        return self._limited(shaped(pcm, self._channels))

    def finish(self) -> Pcm:
        """Return the rest of the output; the object cannot be used afterwards."""
        zeros = np.zeros_like(self._held)
        return self._limited(zeros[:, 0] if self._channels == 1 else zeros)

    def _limited(self, pcm: Pcm) -> Pcm:
        count = len(pcm)
        if count == 0:
            return pcm
        samples = pcm.reshape(count, -1)
        places, needs = self._needed(samples)
        delayed = np.concatenate([self._held, samples])
        self._held, limited = delayed[count:].copy(), delayed[:count]
        if len(places) or self._reductions.any():
            for run, gains in self._gains(count, places, needs):
                part = limited[run]
                part *= gains[:, None]
                np.clip(part, -self._peak, self._peak, out=part)
        # The first outputs belong to the zeros that stand before the first sample.
        early, self._early = min(self._early, count), max(self._early - count, 0)
        return limited[early:].reshape(count - early, *pcm.shape[1:])

    def _needed(self, samples: Pcm) -> tuple[Places, Floats]:
        """The samples whose gain must be reduced, and the reductions in dB; delayed by the interpolator's reach."""
        blocks = -(-len(samples) // _BLOCK)
        rest = np.zeros((blocks * _BLOCK - len(samples), self._channels), np.float32)
        signal = np.concatenate((self._recent, samples, rest))
        self._recent = signal[len(samples) : len(samples) + 2 * _REACH].copy()
        chosen = _doubtful_blocks(signal, self._peak)
        if not len(chosen):
            return chosen, np.zeros(0)
        peaks = _block_peaks(signal, chosen)
        rows, columns = np.nonzero(peaks > self._peak)
        places = chosen[rows] * _BLOCK + columns
        inside = places < len(samples)
        # Samples that are not finite must not become gains; they are clipped.
        excess = np.minimum(peaks[rows, columns] / self._peak, _LARGEST_EXCESS)
        return places[inside], np.log(excess[inside]) / -_DB

    def _gains(self, count: int, places: Places, needs: Floats) -> Iterator[tuple[slice, Pcm]]:
        """The runs of the next `count` outputs that are turned down, and the factors of each.

        A gain depends on the reductions of the last 10 ms. Positions are counted from 10 ms before the first sample,
        and only runs around a reduction are computed: they lie one after the other in one array.
        """
        before = len(self._reductions)
        runs = self._runs(before + count, places + before, needs)
        positions = np.concatenate([np.arange(start, end) for start, end in runs])
        reductions = np.zeros(len(positions))
        if runs[0][0] == 0:
            reductions[:before] = self._reductions
        starts, ends = np.array(runs).T
        # How far each run has moved up, since what lies between runs is left out.
        moved = starts - np.concatenate([[0], np.cumsum(ends - starts)[:-1]])
        reductions[places + before - moved[np.searchsorted(starts, places + before, "right") - 1]] = needs
        released = _released(reductions, self._slope * positions)
        kept = np.searchsorted(positions, count)
        self._reductions = np.zeros(before)
        self._reductions[positions[kept:] - count] = released[kept:]
        factors = np.exp((self._smoothed(released) * _DB).astype(np.float32))
        first = 0
        for start, end in runs:
            early = max(0, before - start)
            yield slice(start + early - before, end - before), factors[first + early : first + end - start]
            first += end - start

    def _runs(self, count: int, places: Places, needs: Floats) -> list[tuple[int, int]]:
        """Runs of samples that are reduced, with 10 ms on either side, among `count` positions."""
        before = len(self._reductions)
        if self._reductions.any():
            places = np.concatenate([[0, before - 1], places])
            needs = np.concatenate([[0.0, self._reductions[-1]], needs])
        depths = _released(needs, self._slope * places.astype(np.float64))
        ends = np.maximum.accumulate(places - np.floor(depths / self._slope).astype(np.int64) + 1) + before
        if self._reductions.any():
            ends = np.maximum(ends, 2 * before)
        gaps = np.flatnonzero(places[1:] - before > ends[:-1])
        starts = np.maximum(places[[0, *(gaps + 1)]] - before, 0)
        return list(zip(starts.tolist(), np.minimum(ends[[*gaps, -1]], count).tolist(), strict=True))

    def _smoothed(self, reductions: Floats) -> Floats:
        """The deepest reduction of 5 ms, averaged over 5 ms: in time for every need and without a step."""
        width = self._ahead + 1
        deepest = _sliding_minimum(np.concatenate([np.zeros(self._ahead), reductions]), width)
        sums = np.cumsum(np.concatenate([np.zeros(width), deepest]))
        means: Floats = (sums[width:] - sums[:-width]) / width
        return means


def is_within(pcm: Pcm, ceiling: float) -> bool:
    """True if no true peak of a whole signal, [n], is above so many dBFS: a `StreamLimiter` would not change it."""
    peak = np.float32(10.0 ** (ceiling / 20))
    loud = _loud_blocks(pcm, peak)
    if not len(loud):
        return True
    # The windows that end with a loud block, and those that begin with one.
    places = np.concatenate((loud - 1, loud))[:, None] * _BLOCK + np.arange(2 * _BLOCK)
    windows = np.where((places >= 0) & (places < len(pcm)), pcm.take(places, mode="clip"), np.float32(0))
    return bool(_true_peaks(windows[:, None]).max() <= peak)


def _loud_blocks(signal: Pcm, peak: np.float32) -> Places:
    """The blocks of [n, ...] with a sample so loud that a peak beside it can be above this."""
    loud = np.flatnonzero(np.abs(signal) > peak / _LARGEST_GAIN) // (_BLOCK * max(signal[:1].size, 1))
    first = np.ones(len(loud), np.bool_)
    np.not_equal(loud[1:], loud[:-1], out=first[1:])
    return loud[first]


def _doubtful_blocks(signal: Pcm, peak: np.float32) -> Places:
    """The blocks of [n, channels] in which there can be a true peak above this."""
    loud = _loud_blocks(signal, peak)
    # Every interpolated point of a block lies within that block and the next one.
    both = np.unique(np.concatenate((loud - 1, loud)))
    return both[(both >= 0) & (both < len(signal) // _BLOCK - 1)]


def _block_peaks(signal: Pcm, blocks: Places) -> Pcm:
    """The largest magnitudes [blocks, 16] at or beside the 16 middle samples of each block and the next."""
    windows = sliding_window_view(signal, 2 * _BLOCK, axis=0)[::_BLOCK]
    return _true_peaks(windows[blocks]).T


def _released(needs: Floats, ramp: Floats) -> Floats:
    """Each need, or the one before it less the release, whichever is deeper; `ramp` is the release so far."""
    released: Floats = np.minimum.accumulate(needs - ramp)
    released += ramp
    return released


def _interpolator(point: float) -> Floats:
    """Weights of the samples around a point that lies `point` of the way between the two middle ones."""
    offsets = np.arange(-_REACH + 1, _REACH + 1) - point
    taps = np.sinc(offsets) * np.cos(np.pi * offsets / (2 * _REACH + 1)) ** 2
    normed: Floats = taps / taps.sum()
    return normed


_QUARTER, _HALF, _ = (_interpolator(point) for point in _POINTS)
_LARGEST_GAIN = max(float(np.abs(taps).sum()) for taps in (_QUARTER, _HALF))
# The third point's taps are the first's in reverse, and the second's are symmetric: in terms of the sums and the
# differences of samples at equal distances there are half as many products. No matrix product: it would wake threads.
_EVEN, _ODD, _MIDDLE = (
    taps[:_REACH].astype(np.float32)
    for taps in ((_QUARTER + _QUARTER[::-1]) / 2, (_QUARTER - _QUARTER[::-1]) / 2, _HALF)
)


def _true_peaks(windows: Pcm) -> Pcm:
    """The largest magnitudes [16, n] at or beside the 16 middle samples of windows [n, channels, 32]."""
    rows = np.ascontiguousarray(windows.transpose(2, 0, 1))
    even, odd, middle = np.zeros((3, _BLOCK + 1, *rows.shape[1:]), np.float32)
    for index in range(_REACH):
        near = rows[index : index + _BLOCK + 1]
        far = rows[_BLOCK - 1 - index : 2 * _BLOCK - index]
        both, apart = near + far, near - far
        even += _EVEN[index] * both
        odd += _ODD[index] * apart
        middle += np.multiply(both, _MIDDLE[index], out=both)
    # The larger magnitude of a sum and a difference is the sum of the magnitudes.
    between = np.maximum(np.abs(even) + np.abs(odd), np.abs(middle))
    here = np.abs(rows[_REACH : _REACH + _BLOCK])
    peaks: Pcm = np.maximum(here, np.maximum(between[:-1], between[1:])).max(axis=2)
    return peaks


def _sliding_minimum(values: Floats, width: int) -> Floats:
    """The minimum of each run of `width` values, by doubling."""
    have = 1
    while have < width:
        step = min(have, width - have)
        values = np.minimum(values[:-step], values[step:])
        have += step
    return values
