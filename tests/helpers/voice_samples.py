"""Voices for the tests of the store: short, quiet, each different from the others."""

from typing import Any

import numpy as np

from polyvox.types import Pcm
from polyvox.voices.records import Registration, Transcription

RATE = 16_000


def noise(seed: int, seconds: float = 0.01) -> Pcm:
    """A recording that no other seed has."""
    samples = np.random.default_rng(seed).uniform(-0.1, 0.1, round(seconds * RATE))
    return samples.astype(np.float32)


def registration(name: str, seed: int = 0, **fields: Any) -> Registration:
    """A voice about to be registered."""
    values: dict[str, Any] = {
        "owner": "",
        "pcm": noise(seed),
        "sample_rate": RATE,
        "transcript": "The tide is out.",
        "transcription": Transcription.GIVEN,
        **fields,
    }
    return Registration(name=name, **values)
