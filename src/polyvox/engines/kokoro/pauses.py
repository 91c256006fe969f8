"""Pauses inside a chunk that the network made too short: found by its durations, lengthened in its samples."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyvox.audio.edges import window_peaks, with_faded_edges
from polyvox.engines.kokoro.chunking import Break, PhonemeChunk
from polyvox.engines.kokoro.timing import FRAME_SAMPLES, AlignedWord, phoneme_edges
from polyvox.types import Pcm, Span

WINDOW_SAMPLES = 120
QUIET_DB = 36.0
"""A pause is at least so far below the chunk's peak: breath and the decay of a word are part of it."""
_STOPS = frozenset("ptkbdɡʔʧʤ")
# The longest closure of a stop, and its burst, in windows.
_CLOSURE_WINDOWS, _BURST_WINDOWS = 16, 3
_APPROACH_WINDOWS = 8
_WINDOWS_PER_FRAME = FRAME_SAMPLES // WINDOW_SAMPLES
_QUIET_FADE = 120
# A voice that runs straight on into the next sentence falls and rises more slowly.
_VOICED_FALL, _VOICED_RISE = 600, 240


@dataclass(frozen=True, slots=True)
class MissingPause:
    """Silence to insert at a sample, both in samples, and the fades on its two sides."""

    at: int
    length: int
    fall: int = _QUIET_FADE
    rise: int = _QUIET_FADE


@dataclass(frozen=True, slots=True)
class _Boundary:
    """A break between two words: positions of the last phoneme before it and the first one after it."""

    kind: Break
    last: int
    first: int
    after_stop: bool


@dataclass(frozen=True, slots=True)
class PausePlace:
    """Place of a pause: the windows between two words, the onset of the second, and the least pause in samples."""

    region: Span
    onset: int
    least: int
    after_stop: bool

    def missing(self, levels: Pcm, quiet: npt.NDArray[np.bool_]) -> MissingPause | None:
        """The missing part, given the level of each window and which of them are quiet; None where nothing lacks."""
        run = _pause_run(quiet, self.region, self.onset if self.after_stop else None)
        if run is None:
            return _at_softest(levels, self.region, self.onset, self.least)
        pause = _in_quiet(run, self.least)
        return pause if pause.length > 0 else None


def missing_pauses(
    chunk: PhonemeChunk, durations: npt.NDArray[np.int64], levels: Pcm, speed: float, sample_rate: int
) -> list[MissingPause]:
    """Missing parts of the least pause behind each sentence and clause inside a chunk, in order.

    `levels` are the `pause_levels` of its samples.
    """
    places = pause_places(chunk, durations, len(levels), speed, sample_rate)
    if not places:
        return []
    quiet = quiet_windows(levels, float(levels.max(initial=0.0)))
    return [pause for place in places if (pause := place.missing(levels, quiet)) is not None]


def pause_places(
    chunk: PhonemeChunk, durations: npt.NDArray[np.int64], windows: int, speed: float, sample_rate: int
) -> list[PausePlace]:
    """The sentence and clause ends inside a chunk of so many windows, in order."""
    places: list[PausePlace] = []
    if not (boundaries := list(_boundaries(chunk))):
        return places
    edges = np.clip(phoneme_edges(durations) // WINDOW_SAMPLES, 0, windows)
    for boundary in boundaries:
        least = round(chunk.pauses.within_chunk(boundary.kind) / speed * sample_rate)
        start, onset = int(edges[boundary.last]), int(edges[boundary.first])
        region = Span(start, min(onset + _WINDOWS_PER_FRAME, windows))
        if least and len(region) > 0:
            places.append(PausePlace(region, onset, least, boundary.after_stop))
    return places


def quiet_windows(levels: Pcm, peak: float) -> npt.NDArray[np.bool_]:
    """The windows that are a pause beside speech of such a peak."""
    quiet: npt.NDArray[np.bool_] = levels < peak * 10 ** (-QUIET_DB / 20)
    return quiet


def with_pauses(
    pcm: Pcm, words: Sequence[AlignedWord], pauses: Sequence[MissingPause]
) -> tuple[Pcm, tuple[AlignedWord, ...]]:
    """The samples with the silence inserted, and the words where they are then heard."""
    if not pauses:
        return pcm, tuple(words)
    parts: list[Pcm] = []
    cuts = [0, *(pause.at for pause in pauses), len(pcm)]
    for number, pause in enumerate([*pauses, None]):
        rise = pauses[number - 1].rise if number else 0
        parts.append(with_faded_edges(pcm[cuts[number] : cuts[number + 1]], rise, pause.fall if pause else 0))
        parts.append(np.zeros(pause.length if pause else 0, np.float32))
    return np.concatenate(parts), tuple(moved(word, pauses) for word in words)


def moved(word: AlignedWord, pauses: Sequence[MissingPause]) -> AlignedWord:
    """A word lies wholly before or behind a pause, by its middle."""
    middle = (word.samples.start + word.samples.end) // 2
    shift = sum(pause.length for pause in pauses if pause.at < middle)
    start = max([word.samples.start, *(pause.at for pause in pauses if pause.at < middle)])
    end = min([word.samples.end, *(pause.at for pause in pauses if pause.at >= middle)])
    return word.cut(Span(start, max(start, end)), shift)


def _boundaries(chunk: PhonemeChunk) -> Iterator[_Boundary]:
    """The clause and sentence ends between spoken words; the marks between two make one, the strongest of theirs."""
    position = 1
    before: tuple[int, Span, str] | None = None
    kind = Break.WORD
    for word, after in zip(chunk.words, chunk.breaks, strict=False):
        spoken = bool(word.phonemes) and not word.is_punctuation
        if spoken and before is not None and kind >= Break.CLAUSE and before[1] != word.span:
            yield _Boundary(kind, before[0], position, before[2].rstrip("ː")[-1:] in _STOPS)
        if spoken:
            before, kind = (position + len(word.phonemes) - 1, word.span, word.phonemes), after
        else:
            kind = max(kind, after)
        position += len(word.phonemes) + word.space


def _pause_run(quiet: npt.NDArray[np.bool_], region: Span, onset_after_stop: int | None) -> Span | None:
    """The longest quiet run that touches a region of windows, whole.

    After a stop, a short run well before the next word's onset is the stop's own closure: its burst is still to come.
    """
    runs = _runs(quiet, region)
    if onset_after_stop is not None and runs and _is_closure(runs[0], onset_after_stop):
        del runs[0]
    if not runs:
        return None
    longest = max(runs, key=len)
    return next(run for run in _runs(quiet, Span(0, len(quiet))) if run.start <= longest.start < run.end)


def _in_quiet(run: Span, least: int) -> MissingPause:
    return MissingPause((run.start + run.end) // 2 * WINDOW_SAMPLES, least - len(run) * WINDOW_SAMPLES)


def _at_softest(levels: Pcm, region: Span, onset: int, least: int) -> MissingPause:
    """The voice runs on: the cut is made where it is softest just before the next word."""
    start = min(max(region.start, onset - _APPROACH_WINDOWS), region.end - 1)
    at = start + int(np.argmin(_smoothed(levels)[start : region.end]))
    return MissingPause(at * WINDOW_SAMPLES + WINDOW_SAMPLES // 2, least, _VOICED_FALL, _VOICED_RISE)


def _is_closure(run: Span, onset: int) -> bool:
    return len(run) <= _CLOSURE_WINDOWS and run.end <= onset - _BURST_WINDOWS


def _runs(flags: npt.NDArray[np.bool_], region: Span) -> list[Span]:
    """The runs of set flags within a region."""
    padded = np.concatenate(([False], flags[region.start : region.end], [False]))
    edges = np.flatnonzero(np.diff(padded)) + region.start
    return [Span(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def pause_levels(pcm: Pcm) -> Pcm:
    """The largest magnitude in each whole window."""
    return window_peaks(pcm[: len(pcm) // WINDOW_SAMPLES * WINDOW_SAMPLES], WINDOW_SAMPLES)


def _smoothed(levels: Pcm) -> Pcm:
    """The mean of each window and its two neighbours; outside, the signal goes on as it ends."""
    padded: Pcm = np.pad(levels, 1, mode="edge")
    mean: Pcm = (padded[:-2] + padded[1:-1] + padded[2:]) / np.float32(3)
    return mean
