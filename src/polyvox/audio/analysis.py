"""Recordings as the analysis networks (recogniser, speaker encoder, MOS predictors) take them: mono, 16 kHz."""

import numpy as np

from polyvox.audio.resample import resampled
from polyvox.errors import AudioDecodeError
from polyvox.types import Pcm

ANALYSIS_RATE = 16_000
MIN_SPEECH_SECONDS = 0.5

_SILENT_PEAK = 1e-3


def mono_16k(pcm: Pcm, rate: int) -> Pcm:
    """The recording in mono at 16 kHz."""
    if not np.isfinite(pcm).all():
        raise AudioDecodeError("The recording holds NaN or infinite samples; record it again.")
    mono = pcm.mean(axis=1, dtype=np.float32) if pcm.ndim == 2 else np.asarray(pcm, np.float32)
    return resampled(mono, rate, ANALYSIS_RATE)


def is_silent(pcm: Pcm) -> bool:
    """Return whether the peak is below -60 dBFS."""
    return bool(np.abs(pcm).max(initial=0.0) < _SILENT_PEAK)


def speech_mono_16k(pcm: Pcm, rate: int) -> Pcm:
    """As `mono_16k`, for networks that need speech: refuses what is silent or shorter than half a second."""
    recording = mono_16k(pcm, rate)
    if len(recording) < MIN_SPEECH_SECONDS * ANALYSIS_RATE:
        raise AudioDecodeError(f"The recording is shorter than {MIN_SPEECH_SECONDS:g} s; send a longer one.")
    if is_silent(recording):
        raise AudioDecodeError("The recording is silent; send one in which somebody speaks.")
    return recording
