"""Resampling of streams and of whole recordings."""

import numpy as np
import soxr

from polyvox.audio.pcm import check_channels, check_rate, shaped
from polyvox.types import Pcm


class StreamResampler:
    """Resamples one stream; `n` samples in give `n * target / source`, rounded, out, the first aligned with the first.

    The filter works in blocks and looks ahead, so it holds 20 to 75 ms back until later samples or `finish`, and up to
    150 ms where the rate falls to a sixth.
    """

    def __init__(self, source_rate: int, target_rate: int, channels: int = 1) -> None:
        self._channels = check_channels(channels)
        same = check_rate(source_rate) == check_rate(target_rate)
        self._stream = None if same else soxr.ResampleStream(source_rate, target_rate, channels, "float32", "HQ")

    def push(self, pcm: Pcm) -> Pcm:
        """Take samples; return the output that is ready."""
        samples = shaped(pcm, self._channels)
        if self._stream is None or not len(samples):
            return samples
        return self._resampled(samples, last=False)

    def finish(self) -> Pcm:
        """Return the rest of the output; the object cannot be used afterwards."""
        nothing = shaped(np.zeros(0, np.float32), self._channels)
        if self._stream is None:
            return nothing
        rest = self._resampled(nothing, last=True)
        self._stream = None
        return rest

    def _resampled(self, samples: Pcm, *, last: bool) -> Pcm:
        assert self._stream is not None
        resampled: Pcm = self._stream.resample_chunk(samples, last=last)
        return resampled


def resampled(pcm: Pcm, source_rate: int, target_rate: int) -> Pcm:
    """A whole recording at another rate."""
    resampler = StreamResampler(source_rate, target_rate, 1 if pcm.ndim == 1 else pcm.shape[1])
    return np.concatenate((resampler.push(pcm), resampler.finish()))
