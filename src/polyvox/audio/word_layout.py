"""Words laid out over speech without hearing what it says: by its pauses and by how long each word should take."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from polyvox.audio.edges import speech_span
from polyvox.types import Pcm, Span

_FRAMES_PER_SECOND: Final = 100
_QUIET_DB: Final = 30.0
_LEAST_PEAK: Final = 1e-4
_PAUSE_FRAMES: Final = 12
_QUIET_EDGE_SECONDS: Final = 0.06
# Costs of a layout. The spread of a stretch of speech about its expected length grows with the length; a pause is
# rarely where no mark stands, and often, but not always, where one does.
_VARIANCE: Final = 0.1
_VARIANCE_FLOOR: Final = 0.15
_UNMARKED_PAUSE: Final = 1.5
_MISSED_MARK: Final = 0.4
_MAX_WORDS: Final = 500
_WORDLESS: Final = 2.0
_WORDLESS_SECOND: Final = 10.0


def lay_out(pcm: Pcm, sample_rate: int, seconds: Sequence[float], breaks: Sequence[bool]) -> list[Span]:
    """The samples of each word, by the seconds that it should take; `breaks` says where a mark follows.

    Words go to the stretches of speech between pauses so that all are spoken at about the same pace and pauses fall
    on marks. Within a stretch they share its length by their seconds.
    """
    regions = speech_regions(pcm, sample_rate)
    ends = np.concatenate(([0.0], np.cumsum(np.maximum(seconds, 1e-3))))
    spans: list[Span] = []
    for region, (first, end) in zip(regions, _assigned(regions, sample_rate, ends, breaks), strict=True):
        share = (ends[first : end + 1] - ends[first]) / max(ends[end] - ends[first], 1e-9)
        edges = (region.start + share * len(region)).astype(int).tolist()
        spans += (Span(*each) for each in pairwise(edges))
    return spans


def speech_regions(pcm: Pcm, sample_rate: int) -> list[Span]:
    """Stretches of speech between pauses of 120 ms or more; all of the recording where it is silent."""
    size = max(1, sample_rate // _FRAMES_PER_SECOND)
    mono = pcm if pcm.ndim == 1 else pcm.mean(axis=1)
    count = len(mono) // size
    levels = np.sqrt(np.square(mono[: count * size].reshape(count, size)).mean(axis=1))
    loud = float(np.percentile(levels, 98)) if count else 0.0
    audible = np.flatnonzero(levels > max(loud * 10 ** (-_QUIET_DB / 20), _LEAST_PEAK))
    if not len(audible):
        return [Span(0, len(mono))]
    cuts = np.flatnonzero(np.diff(audible) > _PAUSE_FRAMES)
    firsts = audible[np.concatenate(([0], cuts + 1))]
    lasts = audible[np.concatenate((cuts, [len(audible) - 1]))]
    return [Span(int(first) * size, (int(last) + 1) * size) for first, last in zip(firsts, lasts, strict=True)]


def without_quiet_edges(span: Span, pcm: Pcm, sample_rate: int) -> Span:
    """The span without silence at an end that is longer than 60 ms; a shorter one may belong to a sound."""
    part = pcm[span.start : span.end]
    audible = speech_span(part if part.ndim == 1 else part.mean(axis=1), sample_rate)
    if not len(audible):
        return span
    least = int(_QUIET_EDGE_SECONDS * sample_rate)
    start = span.start + (audible.start if audible.start > least else 0)
    end = span.start + audible.end if len(span) - audible.end > least else span.end
    return Span(start, end)


def _assigned(
    regions: Sequence[Span], sample_rate: int, ends: npt.NDArray[np.float64], breaks: Sequence[bool]
) -> list[tuple[int, int]]:
    """The words of each region, as the first and the one behind the last; the cheapest by dynamic programming."""
    count = len(ends) - 1
    durations = [len(region) / sample_rate for region in regions]
    if count > _MAX_WORDS:
        return _shared_out(durations, ends)
    expected = sum(durations) / ends[-1] * (ends[np.newaxis, :] - ends[:, np.newaxis])
    fixed = _mark_costs(breaks)
    best = np.full(count + 1, np.inf)
    best[0] = 0.0
    choices = []
    for duration in durations:
        costs = np.square(duration - expected) / (_VARIANCE * (np.maximum(expected, 0.0) + _VARIANCE_FLOOR)) + fixed
        np.fill_diagonal(costs, _WORDLESS + _WORDLESS_SECOND * duration)
        totals = best[:, np.newaxis] + costs
        choices.append(totals.argmin(axis=0))
        best = totals.min(axis=0)
    assigned, end = [], count
    for choice in reversed(choices):
        first = int(choice[end])
        assigned.append((first, end))
        end = first
    return assigned[::-1]


def _shared_out(durations: Sequence[float], ends: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """The same for very many words: as many to each region as its length is worth."""
    reached = np.cumsum(durations) / max(sum(durations), 1e-9) * ends[-1]
    cuts = [0, *np.searchsorted(ends, reached[:-1]).tolist(), len(ends) - 1]
    return list(pairwise(cuts))


def _mark_costs(breaks: Sequence[bool]) -> npt.NDArray[np.float64]:
    """For words `first` to `end` in one region: a pause without a mark behind them, and marks without a pause."""
    count = len(breaks)
    marks = np.concatenate(([0], np.cumsum(breaks))).astype(float)
    inner = np.concatenate(([0.0], marks[:-1]))[np.newaxis, :] - marks[:, np.newaxis]
    unmarked = np.array([0.0, *(0.0 if marked else _UNMARKED_PAUSE for marked in breaks)])
    unmarked[-1] = 0.0
    costs: npt.NDArray[np.float64] = np.maximum(inner, 0.0) * _MISSED_MARK + unmarked[np.newaxis, :]
    costs[np.tril_indices(count + 1, -1)] = np.inf
    return costs
