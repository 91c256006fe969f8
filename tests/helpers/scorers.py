"""Fake scoring models: their scores follow from the first sample or the length of a recording."""

import numpy as np

from polyvox.errors import AudioDecodeError
from polyvox.evaluate.dnsmos import DnsScores
from polyvox.evaluate.scorers import Scorers
from polyvox.types import Pcm
from polyvox.voices.recognition.similarity import Embedding


def direction(turn: float) -> Embedding:
    """A unit vector, `turn` of a full turn away from the first axis."""
    embedding = np.zeros(192, np.float32)
    embedding[:2] = np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn)
    return embedding


class Recogniser:
    """Transcribes every recording the same."""

    def __init__(self, transcript: str = "") -> None:
        self.transcript = transcript

    def transcribe(self, pcm: Pcm, rate: int) -> str:
        return self.transcript


class Encoder:
    """The first sample is the direction of the embedding; silence has none."""

    def embed(self, pcm: Pcm, rate: int) -> Embedding:
        if not pcm.any():
            raise AudioDecodeError("The recording is silent; send one in which somebody speaks.")
        return direction(float(pcm[0]))


class Quality:
    """Scores the length in seconds."""

    def score(self, pcm: Pcm, rate: int) -> float:
        return len(pcm) / rate


class Qualities:
    """As `Quality`, four times."""

    def score(self, pcm: Pcm, rate: int) -> DnsScores:
        seconds = len(pcm) / rate
        return DnsScores(seconds + 0.1, seconds + 0.2, seconds + 0.3, seconds)


def fake_scorers(transcript: str = "") -> Scorers:
    """All four models."""
    return Scorers(Recogniser(transcript), Encoder(), Quality(), Qualities())
