"""The silence that an MP3 encoder puts before the sound, and how a stream comes to do without it.

A file says how long that silence is, and players skip it. A stream cannot, so there it takes the place of the silence
that speech begins with: as much is left out of that.
"""

from dataclasses import dataclass

import numpy as np

from polyvox.types import Pcm

DELAY = 576 + 529
"""Samples by which the sound comes late: the encoder's share, and the decoder's."""

_QUIET = 10 ** (-50 / 20)
# The first frame lasts on into the second by less than this, so that where all of it is quiet it leaves no trace.
_OVERLAP = 200
_LOW_RATE = 24_000


@dataclass(frozen=True, slots=True)
class Lead:
    """What a stream leaves out: samples before they are encoded, and frames after that."""

    samples: int
    frames: int


def mp3_lead(pcm: Pcm, rate: int) -> Lead:
    """What is to be left out of a stream that begins with these samples; nothing that can be heard."""
    frame = 576 if rate <= _LOW_RATE else 1_152
    quiet = _quiet_samples(pcm)
    if quiet < _OVERLAP:
        return Lead(0, 0)
    frames = DELAY // frame
    return Lead(min(quiet - _OVERLAP, DELAY - frames * frame), frames)


def _quiet_samples(pcm: Pcm) -> int:
    """How many samples there are before the first loud one."""
    start = pcm[: DELAY + _OVERLAP]
    loud = np.abs(start.reshape(len(start), -1)).max(axis=1) > _QUIET
    return int(loud.argmax()) if loud.any() else len(start)
