"""A stream with Perth's mark: the same samples as of a whole recording, however they arrive."""

from collections.abc import Callable

import numpy as np

from polyvox.audio.pcm import check_channels, shaped
from polyvox.audio.resample import StreamResampler
from polyvox.provenance.perth.spectrum import (
    BINS,
    SIDE_RATE,
    Levels,
    Samples,
    Spectra,
    SpectrumFrames,
    divides,
    has_sound,
    levels_of,
    mirrored,
)
from polyvox.types import Pcm

Gains = Callable[[Levels], Samples]
"""The network: levels [channels, 128, frames] to the factors, less 1, that mark them."""

CONTEXT = 15
"""Frames on either side that the mark of a frame depends on."""
_LEAST_BLOCK = 10
"""Frames for which the network runs before the stream ends, since each run computes the context anew."""
_LEAST_WEIGHT = np.float32(1e-6)


class PerthStream:
    """Adds the mark to one stream. Output is aligned with the input and as long.

    A sample waits for the 0.22 s behind it, on which its mark depends, and up to 0.1 s for a block of the network.
    Where the rate has to be changed for the mark, it waits up to 0.15 s longer.
    """

    def __init__(self, gains: Gains, sample_rate: int, channels: int) -> None:
        self._channels = check_channels(channels)
        rate = sample_rate if divides(sample_rate) else SIDE_RATE
        self._down = StreamResampler(sample_rate, rate, channels)
        self._mark = _MarkStream(gains, SpectrumFrames(rate), channels)
        self._up = StreamResampler(rate, sample_rate, channels)
        self._held = shaped(np.zeros(0, np.float32), channels)

    def push(self, pcm: Pcm) -> Pcm:
        """Take samples; return the marked ones that are ready."""
        samples = shaped(pcm, self._channels)
        self._held = np.concatenate((self._held, samples))
        return self._marked(self._up.push(self._shaped(self._mark.push(_rows(self._down.push(samples))))))

    def finish(self) -> Pcm:
        """Return the rest of the output; the object cannot be used afterwards."""
        last = np.concatenate((self._mark.push(_rows(self._down.finish())), self._mark.finish()), axis=1)
        rest = np.concatenate((self._up.push(self._shaped(last)), self._up.finish()))
        # Two changes of rate may round the length.
        missing = max(0, len(self._held) - len(rest))
        return self._marked(np.pad(rest, ((0, missing), *([(0, 0)] * (rest.ndim - 1))))[: len(self._held)])

    def _marked(self, mark: Pcm) -> Pcm:
        ready, self._held = self._held[: len(mark)], self._held[len(mark) :]
        return ready + mark[: len(ready)]

    def _shaped(self, rows: Samples) -> Pcm:
        return shaped(rows[0] if self._channels == 1 else rows.T, self._channels)


def _rows(pcm: Pcm) -> Samples:
    """Samples as [channels, time]."""
    return pcm[np.newaxis] if pcm.ndim == 1 else np.ascontiguousarray(pcm.T)


class _MarkStream:
    """The mark alone of one stream, samples [channels, time] in and out."""

    def __init__(self, gains: Gains, frames: SpectrumFrames, channels: int) -> None:
        self._gains, self._frames = gains, frames
        self._buffer = np.zeros((channels, 0), np.float32)
        """Samples from the start of the next frame on; before the first, those that arrived."""
        self._begun = False
        self._arrived = self._sent = 0
        self._early = frames.half
        self._spectra: Spectra = np.zeros((channels, BINS, 0), np.complex64)
        self._levels: Levels = np.zeros((channels, BINS, 0), np.float32)
        self._sounding = np.zeros((channels, 0), np.bool_)
        self._before = 0
        """Frames among these whose mark is made, kept as context."""
        self._sum = np.zeros((channels, 0), np.float32)
        """Overlapping frames of the mark, from the start of the next frame on."""
        self._weight = np.zeros(0, np.float32)

    def push(self, samples: Samples) -> Samples:
        """Take samples; return the mark of those that are complete."""
        self._arrived += samples.shape[1]
        self._buffer = np.concatenate((self._buffer, samples), axis=1)
        if not self._begun:
            if self._arrived <= self._frames.half:
                return samples[:, :0]
            self._begin()
        self._read()
        if self._spectra.shape[2] - self._before < CONTEXT + _LEAST_BLOCK:
            return samples[:, :0]
        return self._made(self._spectra.shape[2] - CONTEXT, last=False)

    def finish(self) -> Samples:
        """Return the mark of the rest."""
        if not self._arrived:
            return self._buffer
        if not self._begun:
            self._begin()
        self._buffer = mirrored(self._buffer, 0, self._frames.half)
        self._read()
        return self._made(self._spectra.shape[2], last=True)

    def _begin(self) -> None:
        self._buffer = mirrored(self._buffer, self._frames.half, 0)
        self._begun = True

    def _read(self) -> None:
        """Transform all whole frames of the buffer."""
        size, hop = self._frames.size, self._frames.hop
        count = max(0, (self._buffer.shape[1] - size) // hop + 1)
        if not count:
            return
        spectra = self._frames.spectra(self._buffer[:, : (count - 1) * hop + size])
        self._buffer = self._buffer[:, count * hop :]
        levels = levels_of(spectra)
        self._spectra = np.concatenate((self._spectra, spectra[:, :BINS]), axis=2)
        self._levels = np.concatenate((self._levels, levels[:, :BINS]), axis=2)
        self._sounding = np.concatenate((self._sounding, has_sound(levels)), axis=1)

    def _made(self, end: int, *, last: bool) -> Samples:
        """The mark of the frames up to `end`, and of the samples that no later frame covers."""
        new = slice(self._before, end)
        gains = self._gains(self._levels)[:, :, new] * self._sounding[:, np.newaxis, new]
        self._add(self._frames.signals(self._spectra[:, :, new] * gains))
        kept = max(0, end - CONTEXT)
        self._before = end - kept
        self._spectra, self._levels = self._spectra[:, :, kept:], self._levels[:, :, kept:]
        self._sounding = self._sounding[:, kept:]
        return self._taken((end - new.start) * self._frames.hop, last=last)

    def _add(self, signals: Samples) -> None:
        """Add frames [channels, frames, size], the first at the beginning of the sum."""
        hop, size, weights = self._frames.hop, self._frames.size, self._frames.weights
        length = (signals.shape[1] - 1) * hop + size
        more = max(0, length - self._sum.shape[1])
        self._sum, self._weight = np.pad(self._sum, ((0, 0), (0, more))), np.pad(self._weight, (0, more))
        for index in range(signals.shape[1]):
            place = slice(index * hop, index * hop + size)
            self._sum[:, place] += signals[:, index]
            self._weight[place] += weights

    def _taken(self, count: int, *, last: bool) -> Samples:
        """Remove the first `count` samples from the sum, or all; those before the stream's first are dropped."""
        count = self._sum.shape[1] if last else count
        mark = self._sum[:, :count] / np.maximum(self._weight[:count], _LEAST_WEIGHT)
        self._sum, self._weight = self._sum[:, count:], self._weight[count:]
        early = min(self._early, count)
        self._early -= early
        ready: Samples = mark[:, early:][:, : self._arrived - self._sent].astype(np.float32)
        self._sent += ready.shape[1]
        return ready
