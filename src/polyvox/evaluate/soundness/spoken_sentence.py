"""A sentence as a model has spoken it, and the voice that it was spoken in."""

from dataclasses import dataclass, field

import numpy as np

from polyvox.types import Pcm
from polyvox.voices.references import VoiceReference

_NOTHING = np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True)
class TrialVoice:
    """A voice of a check: one of the model's own, or that of a `prompt`, a recording with its sample rate."""

    label: str
    reference: VoiceReference
    language: str | None = None
    """The language that texts are read in; None for the voice's own."""
    transcript: str | None = None
    prompt: tuple[Pcm, int] | None = None


@dataclass(frozen=True, slots=True)
class SpokenSentence:
    """The speech of a text: mono, with the seconds until its first and its last sample; or the error."""

    voice: str
    text: str
    pcm: Pcm = field(default_factory=lambda: _NOTHING)
    rate: int = 1
    first_seconds: float = 0.0
    wall_seconds: float = 0.0
    error: str = ""

    @property
    def seconds(self) -> float:
        return len(self.pcm) / self.rate
