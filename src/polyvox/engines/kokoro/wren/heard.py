"""The frames of a plan that are heard; the silence around them, a fifth of all, is not decoded."""

import numpy as np

from polyvox.engines.kokoro.timing import LEAD_SAMPLES, phoneme_edges
from polyvox.engines.kokoro.wren.plan import UtterancePlan
from polyvox.engines.kokoro.wren.source import HOP
from polyvox.types import Span

MARGIN, END_MARGIN = 12, 8
"""Silent frames that are decoded before and after what is heard: with fewer, it changes by more than 8 bits do."""
AUDIBLE_ENERGY = -3.0
"""Planned energy of a frame that may be heard: of all 54 voices, none is within 42 dB of its peak below it."""
LEAD_FRAMES = LEAD_SAMPLES // HOP


def heard_frames(plan: UtterancePlan) -> Span:
    """The frames that are heard, with a margin."""
    audible = np.flatnonzero(plan.energy > AUDIBLE_ENERGY)
    first = int(phoneme_edges(plan.durations)[1]) // HOP
    start, end = (min(first, int(audible[0])), int(audible[-1]) + 1) if len(audible) else (first, len(plan.energy))
    return Span(max(0, start - MARGIN), min(end + END_MARGIN, len(plan.energy)))
