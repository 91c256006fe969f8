"""Silence trimming: at the edges of a recording, and in pauses that are too long."""

import numpy as np
import numpy.typing as npt

from polyvox.types import Pcm

SILENT_DBFS = -50.0
WINDOW_SECONDS = 0.010
_WINDOWS_AT_ONCE = 25


def with_edges_cut(pcm: Pcm, sample_rate: int, *, start: bool = True, end: bool = True, kept: float = 0.1) -> Pcm:
    """The recording with at most `kept` seconds of silence at its start, its end or both; silence alone is all cut."""
    if not (start or end):
        return pcm
    leading = _silent_start(pcm, sample_rate)
    if leading == len(pcm):
        return pcm[:0]
    keep = round(kept * sample_rate)
    first = max(0, leading - keep) if start else 0
    last = max(0, _silent_start(pcm[::-1], sample_rate) - keep) if end else 0
    return pcm[first : len(pcm) - last]


def with_pauses_cut(pcm: Pcm, sample_rate: int, *, longest: float = 1.0, kept: float = 1.0) -> Pcm:
    """The recording with pauses of more than `longest` seconds cut in their middle: `kept` is left at either side."""
    window, keep = _window(sample_rate), round(kept * sample_rate)
    parts: list[Pcm] = []
    done = 0
    for start, end in _runs(~_audible(pcm, sample_rate)):
        first, last = start * window, min(end * window, len(pcm))
        if last - first >= longest * sample_rate and last - first > 2 * keep:
            parts.append(pcm[done : first + keep])
            done = last - keep
    return np.concatenate((*parts, pcm[done:]))


def _silent_start(pcm: Pcm, sample_rate: int) -> int:
    """The number of samples before the first audible window. What comes long after it is not looked at."""
    window = _window(sample_rate)
    for start in range(0, len(pcm), _WINDOWS_AT_ONCE * window):
        audible = np.flatnonzero(_audible(pcm[start : start + _WINDOWS_AT_ONCE * window], sample_rate))
        if len(audible):
            return start + int(audible[0]) * window
    return len(pcm)


def _window(sample_rate: int) -> int:
    return round(WINDOW_SECONDS * sample_rate)


def _audible(pcm: Pcm, sample_rate: int) -> npt.NDArray[np.bool_]:
    """For each window, the last and shorter one included, whether it is louder than silence."""
    mono = pcm if pcm.ndim == 1 else np.sqrt(np.mean(np.square(pcm), axis=1))
    window = _window(sample_rate)
    starts = np.arange(0, len(mono), window)
    if not len(starts):
        return np.zeros(0, np.bool_)
    energy = np.add.reduceat(np.square(mono, dtype=np.float64), starts)
    lengths = np.minimum(window, len(mono) - starts)
    return np.asarray(energy / lengths >= 10 ** (SILENT_DBFS / 10))


def _runs(flags: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Runs of set flags: the first index of each and the one behind its last."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False]))))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]
