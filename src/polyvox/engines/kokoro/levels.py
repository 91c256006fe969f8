"""Even levels: a gain for each voice from its measured loudness, and a true-peak limiter behind it."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import numpy as np

from polyvox.audio.limiter import StreamLimiter, is_within
from polyvox.types import Pcm
from polyvox.voices.mixing import MixTerm

TARGET_LUFS = -21.0
"""About the middle of the built-in voices, so that few of them change much."""
CEILING_DBFS = -1.0


@cache
def measured_levels() -> Mapping[str, float]:
    """Loudness of each built-in voice in LUFS; written by scripts/measure_voice_levels.py."""
    table = files("polyvox.engines.kokoro").joinpath("voice_levels.json").read_text(encoding="utf-8")
    return MappingProxyType(json.loads(table))


def mix_level(mix: Sequence[MixTerm]) -> float:
    """Loudness of a mix in LUFS: the weighted mean of its voices, no further out than they are.

    A voice that was not measured counts as one at the target: it keeps its own level.
    """
    levels = [measured_levels().get(term.voice, TARGET_LUFS) for term in mix]
    mean = sum(term.share * level for term, level in zip(mix, levels, strict=True))
    return min(max(mean, min(levels)), max(levels))


def gain_for(level: float) -> float:
    """The factor that brings a voice of this loudness to the common one."""
    return float(10 ** ((TARGET_LUFS - level) / 20))


def with_gain(pcm: Pcm, gain: float, sample_rate: int) -> Pcm:
    """A chunk at its gain, limited to -1 dB true peak; it begins and ends in silence, so each is limited by itself."""
    louder: Pcm = pcm * np.float32(gain)
    if is_within(louder, CEILING_DBFS):
        return louder
    limiter = StreamLimiter(CEILING_DBFS, sample_rate)
    return np.concatenate((limiter.push(louder), limiter.finish()))
