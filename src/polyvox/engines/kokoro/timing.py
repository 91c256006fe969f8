"""When each word is heard, from the durations that the model itself predicts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyvox.audio.edges import speech_span
from polyvox.engines.kokoro.plan import Chunk
from polyvox.types import Pcm, Span, WordTiming

FRAME_SAMPLES = 600
# Words are heard three frames before those that the model counts for them; forced alignment of three voices agrees.
LEAD_SAMPLES = 3 * FRAME_SAMPLES
# The model counts the silence after a word as part of the word's last phoneme; a longer quiet end than this is cut off.
QUIET_END_SAMPLES = 1_440


@dataclass(frozen=True, slots=True)
class HeardWord:
    """A stretch of the caller's text and the samples of the model's untrimmed output in which it is heard."""

    span: Span
    samples: Span


def heard_words(chunk: Chunk, durations: npt.NDArray[np.int64], pcm: Pcm, sample_rate: int) -> list[HeardWord]:
    """Each word's own phonemes and half of each space beside it; words of one source, as in "$5", are one."""
    edges = np.concatenate(([0], np.cumsum(durations))) * FRAME_SAMPLES - LEAD_SAMPLES
    words: list[HeardWord] = []
    position = 1
    spaced = False
    for word in chunk.words:
        first, last = position, position + len(word.phonemes)
        if not word.is_punctuation and last > first:
            start = (edges[first] + edges[first - 1]) // 2 if spaced else edges[first]
            end = (edges[last] + edges[last + 1]) // 2 if word.space and last + 2 < len(edges) else edges[last]
            samples = _without_quiet_end(Span(max(0, int(start)), max(0, int(end))), pcm, sample_rate)
            if words and words[-1].span == word.span:
                samples = words.pop().samples.cover(samples)
            words.append(HeardWord(word.span, samples))
        spaced = word.space
        position = last + word.space
    return words


def word_timings(
    heard: Sequence[HeardWord], text: str, *, first_sample: int, sample_rate: int
) -> tuple[WordTiming, ...]:
    """Timings in seconds of the utterance, given where the untrimmed output's first sample would stand in it."""
    return tuple(
        WordTiming(
            text[word.span.start : word.span.end],
            max(0, word.samples.start + first_sample) / sample_rate,
            (word.samples.end + first_sample) / sample_rate,
            word.span,
        )
        for word in heard
    )


def _without_quiet_end(samples: Span, pcm: Pcm, sample_rate: int) -> Span:
    audible = speech_span(pcm[samples.start : samples.end], sample_rate)
    end = samples.start + audible.end
    return Span(samples.start, end) if samples.end - end > QUIET_END_SAMPLES and len(audible) else samples
