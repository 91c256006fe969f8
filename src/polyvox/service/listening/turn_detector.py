"""Turns of a speaker: where speech begins and ends in sound that goes on for hours."""

from dataclasses import dataclass
from enum import Enum
from math import ceil
from typing import Final

from polyvox.voices.recording.vad import SAMPLE_RATE, WINDOW

_CONFIRMING_WINDOWS: Final = 3
"""Windows of speech on end that begin a turn: a click on the line is shorter, and would interrupt whoever speaks."""
_HYSTERESIS: Final = 0.15
_LOWEST_THRESHOLD: Final = 0.01


@dataclass(frozen=True, slots=True)
class TurnDetection:
    """The wishes for turns: probability of speech that begins one, sound kept before it, silence that ends it."""

    threshold: float = 0.5
    prefix_seconds: float = 0.3
    silence_seconds: float = 0.5

    @property
    def kept_samples(self) -> int:
        """Samples at 16 kHz that have to be kept while nobody speaks, so that a turn has its prefix when it begins."""
        return round(self.prefix_seconds * SAMPLE_RATE) + _CONFIRMING_WINDOWS * WINDOW


class TurnChange(Enum):
    """A change at one window."""

    STARTED = "started"
    STOPPED = "stopped"


class TurnDetector:
    """Finds changes in the probabilities of speech, window by window, by two thresholds."""

    def __init__(self, wishes: TurnDetection) -> None:
        self._starts = wishes.threshold
        self._ends = max(_LOWEST_THRESHOLD, wishes.threshold - _HYSTERESIS)
        self._silent_windows = max(1, ceil(wishes.silence_seconds * SAMPLE_RATE / WINDOW))
        self.speaking = False
        self._run = 0

    def step(self, probability: float) -> TurnChange | None:
        """The change that the next window brings."""
        towards = probability < self._ends if self.speaking else probability >= self._starts
        self._run = self._run + 1 if towards else 0
        if self._run < (self._silent_windows if self.speaking else _CONFIRMING_WINDOWS):
            return None
        self.speaking, self._run = not self.speaking, 0
        return TurnChange.STARTED if self.speaking else TurnChange.STOPPED

    def reset(self) -> None:
        """Begin anew, with nobody speaking."""
        self.speaking, self._run = False, 0
