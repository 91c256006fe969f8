"""Listeners for tests: they hear what the first sample tells them to hear."""

import numpy as np

from polyvox.errors import AudioDecodeError
from polyvox.evaluate.dnsmos import DnsScores
from polyvox.evaluate.panel import Panel
from polyvox.types import Pcm
from polyvox.voices.similarity import Embedding


def direction(turn: float) -> Embedding:
    """A unit vector, `turn` of a full turn away from the first axis."""
    embedding = np.zeros(192, np.float32)
    embedding[:2] = np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn)
    return embedding


class Recogniser:
    """Hears the same in everything."""

    def __init__(self, transcript: str = "") -> None:
        self.transcript = transcript

    def transcribe(self, pcm: Pcm, rate: int) -> str:
        return self.transcript


class Encoder:
    """The first sample is the direction; silence is no voice."""

    def embed(self, pcm: Pcm, rate: int) -> Embedding:
        if not pcm.any():
            raise AudioDecodeError("The recording is silent; send one in which somebody speaks.")
        return direction(float(pcm[0]))


class Quality:
    """Likes the length in seconds."""

    def score(self, pcm: Pcm, rate: int) -> float:
        return len(pcm) / rate


class Qualities:
    """As `Quality`, four times."""

    def score(self, pcm: Pcm, rate: int) -> DnsScores:
        seconds = len(pcm) / rate
        return DnsScores(seconds + 0.1, seconds + 0.2, seconds + 0.3, seconds)


def panel(transcript: str = "") -> Panel:
    """All four."""
    return Panel(Recogniser(transcript), Encoder(), Quality(), Qualities())
