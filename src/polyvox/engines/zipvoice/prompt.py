"""A reference recording, made ready to be heard."""

import numpy as np

from polyvox.audio.resample import resampled
from polyvox.audio.silence import with_edges_cut, with_pauses_cut
from polyvox.engines.zipvoice.mel import SAMPLE_RATE
from polyvox.errors import PromptError
from polyvox.types import Pcm

TAIL_SECONDS = 0.2
"""Silence behind the prompt, so that its last sound does not run into what is spoken."""


def trimmed(pcm: Pcm, sample_rate: int) -> Pcm:
    """A recording at the model's rate, without long pauses and silent edges, and with its tail of silence."""
    samples = resampled(pcm, sample_rate, SAMPLE_RATE)
    samples = with_edges_cut(with_pauses_cut(samples, SAMPLE_RATE), SAMPLE_RATE)
    if not len(samples):
        raise PromptError("The reference recording holds no sound; record it again, closer.", field="audio")
    return np.concatenate((samples, np.zeros(round(TAIL_SECONDS * SAMPLE_RATE), np.float32)))
