"""Timings of words and their phonemes from the durations that the network predicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from polyvox.audio.edges import audible_above, window_samples
from polyvox.engines.kokoro.chunking import PhonemeChunk
from polyvox.text.phonemes.units import phoneme_units
from polyvox.types import Pcm, PhonemeShare, Span, WordTiming

FRAME_SAMPLES = 600
# Words are heard three frames before their predicted ones; forced alignment of three voices agrees.
LEAD_SAMPLES = 3 * FRAME_SAMPLES
# A word's last phoneme is predicted with the silence after it; a quiet end longer than this is cut off.
QUIET_END_SAMPLES = 1_440


class AlignedPhoneme(NamedTuple):
    """A phoneme in IPA, and its first and last sample in the network's untrimmed output."""

    phoneme: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AlignedWord:
    """A span of the caller's text, and the samples of the network's untrimmed output in which it is spoken."""

    span: Span
    samples: Span
    phonemes: tuple[AlignedPhoneme, ...] = ()

    def cut(self, samples: Span, shift: int = 0) -> "AlignedWord":
        """The part of the word within these samples, moved by so many."""
        if samples == self.samples and not shift:
            return self
        first, last = samples.start, samples.end
        phonemes = (
            AlignedPhoneme(name, min(max(start, first), last) + shift, min(max(end, first), last) + shift)
            for name, start, end in self.phonemes
        )
        return AlignedWord(self.span, Span(first + shift, last + shift), tuple(phonemes))

    def joined(self, following: "AlignedWord") -> "AlignedWord":
        """One word of two that are spoken for the same text."""
        return AlignedWord(self.span, self.samples.cover(following.samples), self.phonemes + following.phonemes)


def phoneme_edges(durations: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The sample at which each id is heard to begin, and at the end that at which the last one ends."""
    edges: npt.NDArray[np.int64] = np.concatenate(([0], np.cumsum(durations))) * FRAME_SAMPLES - LEAD_SAMPLES
    return edges


def align_words(chunk: PhonemeChunk, durations: npt.NDArray[np.int64], pcm: Pcm, sample_rate: int) -> list[AlignedWord]:
    """Each word has its own phonemes and half of each space beside it; words of one span, as of "$5", are one."""
    edges: list[int] = phoneme_edges(durations).tolist()
    magnitudes = np.abs(pcm)
    words: list[AlignedWord] = []
    position = 1
    spaced = False
    for word in chunk.words:
        first, last = position, position + len(word.phonemes)
        if not word.is_punctuation and last > first:
            start = (edges[first] + edges[first - 1]) // 2 if spaced else edges[first]
            end = (edges[last] + edges[last + 1]) // 2 if word.space and last + 2 < len(edges) else edges[last]
            samples = Span(max(0, start), max(0, end))
            found = AlignedWord(word.span, samples, _align_phonemes(word.phonemes, edges[first : last + 1], samples))
            found = found.cut(_without_quiet_end(samples, magnitudes, sample_rate))
            words.append(words.pop().joined(found) if words and words[-1].span == word.span else found)
        spaced = word.space
        position = last + word.space
    return words


def _align_phonemes(phonemes: str, edges: Sequence[int], samples: Span) -> tuple[AlignedPhoneme, ...]:
    """The phonemes of a word between the edges of its symbols; the first and the last one reach to the word's own."""
    units = phoneme_units(phonemes)
    if not units:
        return ()
    starts = [samples.start, *(edges[unit.start] for unit in units[1:])]
    ends = [*(edges[unit.end] for unit in units[:-1]), samples.end]
    return tuple(AlignedPhoneme(unit.ipa, *times) for unit, *times in zip(units, starts, ends, strict=True))


def word_timings(
    aligned: Sequence[AlignedWord], text: str, *, first_sample: int, sample_rate: int
) -> tuple[WordTiming, ...]:
    """Timings in seconds of the utterance, given where the untrimmed output's first sample would stand in it."""
    return tuple(_timed(word, text, first_sample, sample_rate) for word in aligned)


def _timed(word: AlignedWord, text: str, first_sample: int, sample_rate: int) -> WordTiming:
    start = max(0, word.samples.start + first_sample) / sample_rate
    end = (word.samples.end + first_sample) / sample_rate
    first_heard = max(0, word.samples.start + first_sample) - first_sample
    length = max(word.samples.end - first_heard, 0)
    shares = tuple(
        PhonemeShare(name, _share(first - first_heard, length), _share(last - first_heard, length))
        for name, first, last in word.phonemes
    )
    return WordTiming(text[word.span.start : word.span.end], start, end, word.span, shares=shares)


def _share(samples: int, length: int) -> float:
    return min(max(samples / length, 0.0), 1.0) if length else 0.0


def _without_quiet_end(samples: Span, magnitudes: Pcm, sample_rate: int) -> Span:
    """Cut behind the last audible window of a word, as `speech_span` finds it, where the rest is long."""
    word = magnitudes[samples.start : samples.end]
    floor = audible_above(float(word.max(initial=0.0)))
    # Few words have a long quiet end, and a look at the end is cheap.
    if not len(word) or (word[max(0, len(samples) - QUIET_END_SAMPLES) :] > floor).any():
        return samples
    loud = np.flatnonzero(word > floor)
    window = window_samples(sample_rate)
    end = samples.start + min(len(word), (int(loud[-1]) // window + 1) * window) if len(loud) else samples.end
    return Span(samples.start, end) if samples.end - end > QUIET_END_SAMPLES else samples
