"""Likeness of a stream to itself: spoken alone, spoken again, and among others that share its batches."""

import asyncio
import math
from dataclasses import dataclass

import numpy as np

from benchmarks.seeded_engines import VOICE, SeededEngine
from polyvox.types import Pcm, Utterance

_SEED = 1_000_000
"""Of the stream that is compared; others have those behind it."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """Signal-to-noise ratios in dB against the stream alone; None where all samples are equal."""

    among: int
    again_db: float | None
    among_db: float | None

    def __str__(self) -> str:
        again, beside = ("equal" if db is None else f"{db:.1f} dB" for db in (self.again_db, self.among_db))
        return f"alone and again: {again}; alone and among {self.among}: {beside}"


async def likeness(engine: SeededEngine, texts: tuple[str, ...], among: int) -> Likeness:
    """Speak the first text by itself twice, then together with others until there are so many."""
    alone = await _spoken(engine, texts[0], _SEED)
    again = await _spoken(engine, texts[0], _SEED)
    others = [asyncio.create_task(_spoken(engine, texts[n % len(texts)], _SEED + n)) for n in range(1, among)]
    one_of_them, *_ = await asyncio.gather(_spoken(engine, texts[0], _SEED), *others)
    return Likeness(among, signal_to_noise(alone, again), signal_to_noise(alone, one_of_them))


def signal_to_noise(expected: Pcm, found: Pcm) -> float | None:
    """In dB; None where there is no noise. `ValueError` where they are not of one length."""
    if len(expected) != len(found):
        raise ValueError(f"{len(found)} samples are not like {len(expected)}")
    noise = float(np.square(expected - found, dtype=np.float64).sum())
    return 10 * math.log10(float(np.square(expected, dtype=np.float64).sum()) / noise) if noise else None


async def _spoken(engine: SeededEngine, text: str, seed: int) -> Pcm:
    return np.concatenate([chunk.pcm async for chunk in engine.speak(Utterance(text, VOICE, seed=seed))])
