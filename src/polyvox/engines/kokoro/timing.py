"""Word timings from the durations that the network predicts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyvox.audio.edges import audible_above, window_samples
from polyvox.engines.kokoro.chunking import PhonemeChunk
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


def phoneme_edges(durations: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The sample at which each id is heard to begin, and at the end that at which the last one ends."""
    edges: npt.NDArray[np.int64] = np.concatenate(([0], np.cumsum(durations))) * FRAME_SAMPLES - LEAD_SAMPLES
    return edges


def align_words(chunk: PhonemeChunk, durations: npt.NDArray[np.int64], pcm: Pcm, sample_rate: int) -> list[AlignedWord]:
    """Each word has its own phonemes and half of each space beside it; words of one span, as of "$5", are one."""
    edges, magnitudes = phoneme_edges(durations), np.abs(pcm)
    words: list[AlignedWord] = []
    position = 1
    spaced = False
    for word in chunk.words:
        first, last = position, position + len(word.phonemes)
        if not word.is_punctuation and last > first:
            start = (edges[first] + edges[first - 1]) // 2 if spaced else edges[first]
            end = (edges[last] + edges[last + 1]) // 2 if word.space and last + 2 < len(edges) else edges[last]
            samples = _without_quiet_end(Span(max(0, int(start)), max(0, int(end))), magnitudes, sample_rate)
            if words and words[-1].span == word.span:
                samples = words.pop().samples.cover(samples)
            words.append(AlignedWord(word.span, samples))
        spaced = word.space
        position = last + word.space
    return words


def word_timings(
    aligned: Sequence[AlignedWord], text: str, *, first_sample: int, sample_rate: int
) -> tuple[WordTiming, ...]:
    """Timings in seconds of the utterance, given where the untrimmed output's first sample would stand in it."""
    return tuple(
        WordTiming(
            text[word.span.start : word.span.end],
            max(0, word.samples.start + first_sample) / sample_rate,
            (word.samples.end + first_sample) / sample_rate,
            word.span,
        )
        for word in aligned
    )


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
