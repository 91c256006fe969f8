"""Timings of words and their phonemes from the durations that the network predicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from polyvox.audio.edges import audible_above, window_samples
from polyvox.engines.kokoro.chunking import PhonemeChunk
from polyvox.engines.kokoro.word_phonemes import AlignedPhoneme, SpokenShares, SymbolRun
from polyvox.types import Pcm, Span, WordTiming

FRAME_SAMPLES = 600
# Words are heard three frames before their predicted ones; forced alignment of three voices agrees.
LEAD_SAMPLES = 3 * FRAME_SAMPLES
# A word's last phoneme is predicted with the silence after it; a quiet end longer than this is cut off.
QUIET_END_SAMPLES = 1_440


@dataclass(frozen=True, slots=True)
class AlignedWord:
    """A span of the caller's text, and the samples of the network's untrimmed output in which it is spoken."""

    span: Span
    samples: Span
    runs: tuple[SymbolRun, ...] = ()

    @property
    def phonemes(self) -> list[AlignedPhoneme]:
        return [phoneme for run in self.runs for phoneme in run.aligned()]

    def cut(self, samples: Span, shift: int = 0) -> "AlignedWord":
        """The part of the word within these samples, moved by so many."""
        if samples == self.samples and not shift:
            return self
        runs = tuple(run.cut(samples, shift) for run in self.runs)
        return AlignedWord(self.span, Span(samples.start + shift, samples.end + shift), runs)

    def joined(self, following: "AlignedWord") -> "AlignedWord":
        """One word of two that are spoken for the same text."""
        return AlignedWord(self.span, self.samples.cover(following.samples), self.runs + following.runs)


def phoneme_edges(durations: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The sample at which each id is heard to begin, and at the end that at which the last one ends."""
    edges: npt.NDArray[np.int64] = np.concatenate(([0], np.cumsum(durations))) * FRAME_SAMPLES - LEAD_SAMPLES
    return edges


def align_words(chunk: PhonemeChunk, durations: npt.NDArray[np.int64], pcm: Pcm, sample_rate: int) -> list[AlignedWord]:
    """The words of a chunk where they are heard."""
    return heard_words(planned_words(chunk, durations), pcm, sample_rate)


def planned_words(chunk: PhonemeChunk, durations: npt.NDArray[np.int64]) -> list[list[AlignedWord]]:
    """Each word by its durations, with its own phonemes and half of each space beside it.

    Words of one span, as of "$5", stand together.
    """
    edges: list[int] = phoneme_edges(durations).tolist()
    words: list[list[AlignedWord]] = []
    position = 1
    spaced = False
    for word in chunk.words:
        first, last = position, position + len(word.phonemes)
        if not word.is_punctuation and last > first:
            start = (edges[first] + edges[first - 1]) // 2 if spaced else edges[first]
            end = (edges[last] + edges[last + 1]) // 2 if word.space and last + 2 < len(edges) else edges[last]
            samples = Span(max(0, start), max(0, end))
            found = AlignedWord(word.span, samples, (SymbolRun(word.phonemes, edges[first : last + 1], samples),))
            if words and words[-1][-1].span == word.span:
                words[-1].append(found)
            else:
                words.append([found])
        spaced = word.space
        position = last + word.space
    return words


def heard_words(planned: Sequence[Sequence[AlignedWord]], pcm: Pcm, sample_rate: int) -> list[AlignedWord]:
    """Words without the long quiet ends that they have in the samples; those of one span are one."""
    parts = [part for word in planned for part in word]
    ends = iter(heard_ends([part.samples for part in parts], pcm, sample_rate))
    return [
        reduce(AlignedWord.joined, (part.cut(Span(part.samples.start, next(ends))) for part in word))
        for word in planned
    ]


def word_timings(
    aligned: Sequence[AlignedWord], text: str, *, first_sample: int, sample_rate: int
) -> tuple[WordTiming, ...]:
    """Timings in seconds of the utterance, given where the untrimmed output's first sample would stand in it."""
    return tuple(_timed(word, text, first_sample, sample_rate) for word in aligned)


def _timed(word: AlignedWord, text: str, first_sample: int, sample_rate: int) -> WordTiming:
    start = max(0, word.samples.start + first_sample) / sample_rate
    end = (word.samples.end + first_sample) / sample_rate
    first_heard = max(0, word.samples.start + first_sample) - first_sample
    shares = SpokenShares(word.runs, first_heard, max(word.samples.end - first_heard, 0))
    return WordTiming(text[word.span.start : word.span.end], start, end, word.span, shares=shares)


def heard_ends(words: Sequence[Span], pcm: Pcm, sample_rate: int) -> list[int]:
    """The last sample of each word: its own end, or that of the last audible window where a long rest is quiet."""
    ends = [word.end for word in words]
    if not words or not len(pcm):
        return ends
    bounds = np.array([(word.start, word.end, word.end) for word in words])
    first = int(bounds[:, 0].min())
    # Behind the last sample stands a zero, for ranges that begin there.
    magnitudes = np.zeros(max(0, min(max(ends), len(pcm)) - first) + 1, np.float32)
    np.abs(pcm[first : first + len(magnitudes) - 1], out=magnitudes[:-1])
    bounds[:, 1] = np.maximum(bounds[:, 0], bounds[:, 1] - QUIET_END_SAMPLES)
    bounds = (bounds - first).clip(max=len(magnitudes) - 1)
    before, last, _ = np.maximum.reduceat(magnitudes, bounds.ravel()).reshape(-1, 3).T.astype(np.float64)
    peaks = np.maximum(before, last)
    floors = np.maximum(peaks * audible_above(1.0), audible_above(0.0))
    for index in np.flatnonzero((last <= floors) & (floors < peaks)):  # few words have a long quiet end
        start, _, end = bounds[index]
        heard = first + int(start) + _heard_samples(magnitudes[start:end], float(floors[index]), sample_rate)
        ends[index] = heard if ends[index] - heard > QUIET_END_SAMPLES else ends[index]
    return ends


def _heard_samples(word: Pcm, floor: float, sample_rate: int) -> int:
    """The samples up to the end of the last audible window, of a word that has one."""
    loud, window = np.flatnonzero(word > floor), window_samples(sample_rate)
    return min(len(word), (int(loud[-1]) // window + 1) * window)
