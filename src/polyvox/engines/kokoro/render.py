"""Trim, fade and pad the network's output so that chunks join without click, gap or doubled silence."""

from dataclasses import dataclass

import numpy as np

from polyvox.audio.edges import audible_windows, window_peaks, with_faded_edges
from polyvox.audio.pcm import silence
from polyvox.engines.kokoro.chunking import PhonemeChunk
from polyvox.engines.kokoro.levels import with_gain
from polyvox.engines.kokoro.pauses import WINDOW_SAMPLES, missing_pauses, with_pauses
from polyvox.engines.kokoro.request import ModelOutput
from polyvox.engines.kokoro.timing import AlignedWord, align_words
from polyvox.types import Pcm

SAMPLE_RATE = 24_000
# Quiet samples that stay on each side of the speech, so that soft onsets and decays are heard whole.
LEAD_IN_SAMPLES = 720
LEAD_OUT_SAMPLES = 960
FADE_SAMPLES = 120


@dataclass(frozen=True, slots=True)
class RenderedChunk:
    """Samples of one chunk with its pause, or of a piece of it, and the words that end in it.

    Words are counted from a sample `trimmed` before its first one.
    """

    pcm: Pcm
    trimmed: int
    words: tuple[AlignedWord, ...]
    last: bool = True
    """True if the chunk ends with it."""


def render(chunk: PhonemeChunk, output: ModelOutput, speed: float, gain: float | None = None) -> RenderedChunk:
    """Trim the network's silence, lengthen pauses that it made too short, fade the edges and add the last pause."""
    words = align_words(chunk, output.durations, output.pcm, SAMPLE_RATE)
    levels = window_peaks(output.pcm, WINDOW_SAMPLES)
    whole = levels[: len(output.pcm) // WINDOW_SAMPLES]
    pauses = missing_pauses(chunk, output.durations, whole, speed, SAMPLE_RATE)
    pcm, aligned = with_pauses(output.pcm, words, pauses)
    audible = audible_windows(window_peaks(pcm, WINDOW_SAMPLES) if pauses else levels)
    start = max(0, audible.start * WINDOW_SAMPLES - LEAD_IN_SAMPLES)
    end = min(len(pcm), audible.end * WINDOW_SAMPLES + LEAD_OUT_SAMPLES)
    kept = with_faded_edges(pcm[start:end], FADE_SAMPLES, FADE_SAMPLES)
    kept = kept if gain is None else with_gain(kept, gain, SAMPLE_RATE)
    edges = (LEAD_IN_SAMPLES + LEAD_OUT_SAMPLES) / SAMPLE_RATE
    gap = silence(max(0.0, chunk.pause(speed) - edges), SAMPLE_RATE)
    return RenderedChunk(np.concatenate((kept, gap)), start, aligned)
