"""Recordings as the listening networks take them."""

import numpy as np

from polyvox.audio.resample import resampled
from polyvox.errors import AudioDecodeError
from polyvox.types import Pcm

HEARING_RATE = 16_000
SHORTEST_SPEECH_SECONDS = 0.5

_SILENT_PEAK = 1e-3


def heard(pcm: Pcm, rate: int) -> Pcm:
    """The recording in mono at 16 kHz."""
    if not np.isfinite(pcm).all():
        raise AudioDecodeError("The recording has samples that are not numbers; record it again.")
    mono = pcm.mean(axis=1, dtype=np.float32) if pcm.ndim == 2 else np.asarray(pcm, np.float32)
    return resampled(mono, rate, HEARING_RATE)


def silent(pcm: Pcm) -> bool:
    """Whether there is nothing to hear."""
    return bool(np.abs(pcm).max(initial=0.0) < _SILENT_PEAK)


def heard_speech(pcm: Pcm, rate: int) -> Pcm:
    """As `heard`, for judges of how something is said, who need a little of it."""
    recording = heard(pcm, rate)
    if len(recording) < SHORTEST_SPEECH_SECONDS * HEARING_RATE:
        raise AudioDecodeError(f"The recording is shorter than {SHORTEST_SPEECH_SECONDS:g} s; send a longer one.")
    if silent(recording):
        raise AudioDecodeError("The recording is silent; send one in which somebody speaks.")
    return recording
