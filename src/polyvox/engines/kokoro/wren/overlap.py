"""Overlap-add of frames that come in pieces."""

from functools import cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from polyvox.types import Pcm

Frames = npt.NDArray[np.float32]
Spectra = npt.NDArray[np.complexfloating[Any, Any]]
"""In single precision, as NumPy transforms it; its types do not say so."""


class OverlapAdd:
    """Frames of `size` samples, `hop` apart; the first `offset` samples of the first frame are cut off.

    `count` frames make `length` samples. A sample is final once no frame to come reaches it.
    """

    def __init__(self, count: int, hop: int, size: int, offset: int, length: int) -> None:
        self._hop, self._parts, self._offset, self._length = hop, -(-size // hop), offset, length
        self._rows = np.zeros((count + self._parts - 1, hop), np.float32)
        self._count = count
        self.added = 0

    def add(self, frames: Frames) -> None:
        """Add the next frames [n, size]."""
        count, size = frames.shape
        for index in range(self._parts):
            part = frames[:, index * self._hop : min(size, (index + 1) * self._hop)]
            self._rows[self.added + index : self.added + index + count, : part.shape[1]] += part
        self.added += count

    @property
    def final(self) -> int:
        """Number of samples from the start that are final."""
        if self.added == self._count:
            return self._length
        return min(self._length, max(0, self.added * self._hop - self._offset))

    def samples(self, start: int, end: int) -> Pcm:
        flat: Pcm = self._rows.reshape(-1)[self._offset + start : self._offset + end]
        return flat


def windows(signal: Pcm, first: int, size: int, hop: int, start: int, end: int) -> Frames:
    """Windows number `start` to `end` of a signal, the first window beginning at index `first`; a view."""
    step = signal.itemsize
    return np.ndarray((end - start, size), signal.dtype, signal, (first + start * hop) * step, (hop * step, step))


@cache
def hann(size: int) -> Pcm:
    """The periodic Hann window; read-only."""
    window: Pcm = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)).astype(np.float32)
    window.flags.writeable = False
    return window


def inverse_spectra(spectra: Spectra, size: int) -> Frames:
    """The frames of `size` samples that have these spectra."""
    return cast(Frames, np.fft.irfft(spectra, size))
