"""From the model's raw output to a chunk that joins its neighbours without click, gap or doubled silence."""

from dataclasses import dataclass

import numpy as np

from polyvox.audio.edges import speech_span, with_faded_edges
from polyvox.audio.pcm import silence
from polyvox.engines.kokoro.call import ModelOutput
from polyvox.engines.kokoro.plan import Chunk
from polyvox.engines.kokoro.timing import HeardWord, heard_words
from polyvox.types import Pcm

SAMPLE_RATE = 24_000
# Quiet samples that stay on each side of the speech, so that soft onsets and decays are heard whole.
LEAD_IN_SAMPLES = 720
LEAD_OUT_SAMPLES = 960
FADE_SAMPLES = 120


@dataclass(frozen=True, slots=True)
class Rendered:
    """Samples of one chunk, its pause included, and its words; `trimmed` raw samples were cut off in front."""

    pcm: Pcm
    trimmed: int
    words: tuple[HeardWord, ...]


def render(chunk: Chunk, output: ModelOutput, speed: float) -> Rendered:
    """Trim the model's silence, fade the edges and set the pause that the text asks for."""
    speech = speech_span(output.pcm, SAMPLE_RATE)
    start = max(0, speech.start - LEAD_IN_SAMPLES)
    end = min(len(output.pcm), speech.end + LEAD_OUT_SAMPLES)
    kept = with_faded_edges(output.pcm[start:end], FADE_SAMPLES, FADE_SAMPLES)
    edges = (LEAD_IN_SAMPLES + LEAD_OUT_SAMPLES) / SAMPLE_RATE
    gap = silence(max(0.0, chunk.pause(speed) - edges), SAMPLE_RATE)
    words = heard_words(chunk, output.durations, output.pcm, SAMPLE_RATE)
    return Rendered(np.concatenate((kept, gap)), start, tuple(words))
