"""Something that the speech detector takes for speech, made of nothing but arithmetic."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from polyvox.types import Pcm

_FORMANTS = (
    (730, 1090, 2440),
    (270, 2290, 3010),
    (300, 870, 2240),
    (530, 1840, 2480),
    (570, 840, 2410),
    (660, 1720, 2410),
)
_BANDWIDTHS = (80, 100, 140)


@lru_cache(maxsize=16)
def vowels(seconds: float, rate: int, *, pitch: float = 120.0, seed: int = 0) -> Pcm:
    """Vowels of gliding pitch, hisses and short stops between them, at about -20 dBFS."""
    rng = np.random.default_rng(seed)
    parts: list[npt.NDArray[np.float64]] = []
    while sum(map(len, parts)) < seconds * rate:
        parts.append(_vowel(round(rng.uniform(0.12, 0.25) * rate), rate, pitch * rng.uniform(0.85, 1.15), rng))
        if rng.random() < 0.6:
            hiss = np.diff(rng.standard_normal(round(rng.uniform(0.04, 0.09) * rate) + 1))
            parts.append(0.08 * hiss * np.hanning(len(hiss)))
        else:
            parts.append(np.zeros(round(rng.uniform(0.03, 0.07) * rate)))
    pcm = (0.4 * np.concatenate(parts)[: round(seconds * rate)]).astype(np.float32)
    pcm.setflags(write=False)
    return pcm


def _vowel(length: int, rate: int, pitch: float, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    glide = pitch * np.linspace(1.05, 0.95, length)
    pulses = np.diff(np.floor(np.cumsum(glide) / rate), prepend=0)
    sound = np.convolve(pulses, np.hanning(round(0.003 * rate)))[:length] + 0.01 * rng.standard_normal(length)
    for hertz, width in zip(_FORMANTS[rng.integers(len(_FORMANTS))], _BANDWIDTHS, strict=True):
        sound = _resonated(sound, rate, hertz, width)
    sound -= sound.mean()
    return np.asarray(sound / np.abs(sound).max() * np.hanning(length) ** 0.4)


def _resonated(sound: npt.NDArray[np.float64], rate: int, hertz: float, width: float) -> npt.NDArray[np.float64]:
    decay, angle = np.exp(-np.pi * width / rate), 2 * np.pi * hertz / rate
    steps = np.arange(round(0.06 * rate))
    response = decay**steps * np.sin((steps + 1) * angle)
    return np.convolve(sound, response)[: len(sound)]
