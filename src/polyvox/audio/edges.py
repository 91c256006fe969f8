"""Edges of speech in a chunk: where it begins and ends, and fades against clicks."""

from functools import lru_cache

import numpy as np

from polyvox.types import Pcm, Span

WINDOW_SECONDS = 0.005
SILENCE_DB = 42.0


def speech_span(pcm: Pcm, sample_rate: int, *, below_peak_db: float = SILENCE_DB) -> Span:
    """The samples from the first to the last audible window; empty at 0 when there is none."""
    window = window_samples(sample_rate)
    found = audible_windows(window_peaks(pcm, window), below_peak_db)
    return Span(found.start * window, min(len(pcm), found.end * window))


def window_peaks(pcm: Pcm, window: int) -> Pcm:
    """The largest magnitude in each window of so many samples; the last one may be shorter."""
    if not len(pcm):
        return np.zeros(0, np.float32)
    # Takes less than half of the time of a maximum over an axis.
    peaks: Pcm = np.maximum.reduceat(np.abs(pcm), np.arange(0, len(pcm), window))
    return peaks


def audible_windows(peaks: Pcm, below_peak_db: float = SILENCE_DB) -> Span:
    """From the first to behind the last audible window; empty at 0 when there is none."""
    audible = np.flatnonzero(peaks > audible_above(float(peaks.max(initial=0.0)), below_peak_db))
    return Span(int(audible[0]), int(audible[-1]) + 1) if len(audible) else Span(0, 0)


def window_samples(sample_rate: int) -> int:
    """Samples of a window that is audible or not."""
    return max(1, int(WINDOW_SECONDS * sample_rate))


def audible_above(peak: float, below_peak_db: float = SILENCE_DB) -> float:
    """The magnitude above which a sample is heard beside such a peak."""
    return max(peak * 10 ** (-below_peak_db / 20), 1e-4)


def with_faded_edges(pcm: Pcm, fade_in: int, fade_out: int) -> Pcm:
    """A copy whose first and last samples rise from and fall to zero along a raised cosine."""
    faded = pcm.copy()
    rise = min(fade_in, len(faded))
    fall = min(fade_out, len(faded))
    faded[:rise] *= _raised_cosine(rise)
    faded[len(faded) - fall :] *= _raised_cosine(fall)[::-1]
    return faded


@lru_cache(maxsize=64)
def _raised_cosine(length: int) -> Pcm:
    phase = (np.arange(length, dtype=np.float32) + 0.5) / max(length, 1)
    curve: Pcm = (0.5 - 0.5 * np.cos(np.pi * phase)).astype(np.float32)
    curve.setflags(write=False)
    return curve
