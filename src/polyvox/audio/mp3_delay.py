"""Compensation of the MP3 encoder delay in streams.

A file states its encoder delay in a header, and players skip it. A stream cannot, so there the delay replaces the
silence that speech begins with: as much is trimmed from that.
"""

from dataclasses import dataclass

import numpy as np

from polyvox.types import Pcm

DELAY = 576 + 529
"""Encoder and decoder delay, in samples."""

_QUIET = 10 ** (-50 / 20)
# The first frame overlaps the second by less than this, so where all of it is quiet it can be dropped.
_OVERLAP = 200
_LOW_RATE = 24_000


@dataclass(frozen=True, slots=True)
class Mp3Trim:
    """Leading samples to drop before encoding, and leading frames to drop after it."""

    samples: int
    frames: int


def mp3_trim(pcm: Pcm, rate: int) -> Mp3Trim:
    """The trim of a stream that begins with these samples; nothing audible is dropped."""
    frame = 576 if rate <= _LOW_RATE else 1_152
    quiet = _quiet_samples(pcm)
    if quiet < _OVERLAP:
        return Mp3Trim(0, 0)
    frames = DELAY // frame
    return Mp3Trim(min(quiet - _OVERLAP, DELAY - frames * frame), frames)


def _quiet_samples(pcm: Pcm) -> int:
    """The number of samples before the first loud one."""
    start = pcm[: DELAY + _OVERLAP]
    loud = np.abs(start.reshape(len(start), -1)).max(axis=1) > _QUIET
    return int(loud.argmax()) if loud.any() else len(start)
