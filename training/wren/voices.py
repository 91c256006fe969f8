"""Kokoro's voices as style tables, and random styles for training: voices, mixes and perturbed voices."""

import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from polyvox.engines.kokoro.fitting.style_fit import StyleBasis

_STYLE_DIM = 256
_NATIVE_PROBABILITY = 0.85
_MIX_PROBABILITY, _PERTURB_PROBABILITY = 0.35, 0.25
_LARGEST_PERTURBATION = 0.45
"""In standard deviations over all voices, of each dimension."""
_FARTHEST_TIMBRE, _FARTHEST_PROSODY = 2.0, 0.8
"""In standard deviations along the principal components in which voices are fitted: timbres of fits lie 1.7 away."""


class StyleTables:
    """Style tables [rows, 256] of all voices; the row of an utterance is its number of phonemes less one."""

    def __init__(
        self, names: list[str], tables: Tensor, weights: Mapping[str, int] | None = None, far: float = 0.0
    ) -> None:
        """`weights` says how often `sample` draws a voice, relative to those it does not name.

        `far` is the probability of a style as far from all voices as fitted ones are.
        """
        self.names = names
        self.tables = tables
        self._far = far
        self._basis = StyleBasis.of(tables.cpu().numpy()).matrix.to(tables.device) if far else None
        self._deviation = tables.std(dim=0)
        repeated = weights or {}
        if unknown := sorted(set(repeated) - set(names)):
            raise ValueError(f"There is no voice {unknown[0]}.")
        self._drawn: Sequence[str] = [name for name in names for _ in range(repeated.get(name, 1))]
        self._by_language: Mapping[str, Sequence[str]] = {
            letter: [name for name in self._drawn if name.startswith(letter)] for letter in "abefhijpz"
        }

    @classmethod
    def read(
        cls, folder: Path, device: torch.device, weights: Mapping[str, int] | None = None, far: float = 0.0
    ) -> "StyleTables":
        """Read `*.bin` of a Kokoro bundle's folder of voices."""
        files = sorted(folder.glob("*.bin"))
        tables = [torch.from_numpy(np.fromfile(file, "<f4").reshape(-1, _STYLE_DIM)) for file in files]
        return cls([file.stem for file in files], torch.stack(tables).to(device), weights, far)

    def style(self, weights: Mapping[str, float], phonemes: int) -> Tensor:
        """Style [256] of a voice or a weighted mix for an utterance of so many phonemes."""
        row = self._row(phonemes)
        parts = [weight * self.tables[self.names.index(name), row] for name, weight in weights.items()]
        return torch.stack(parts).sum(dim=0) / sum(weights.values())

    def sample(self, language: str, phonemes: int, rng: random.Random) -> Tensor:
        """A random style, mostly of voices of this language."""
        native = self._by_language[language] if rng.random() < _NATIVE_PROBABILITY else []
        names = native or self._drawn
        count = rng.randint(2, 3) if rng.random() < _MIX_PROBABILITY else 1
        if count > len(names):
            names = self._drawn
        style = self.style({name: rng.gammavariate(1.0, 1.0) + 1e-3 for name in rng.sample(names, count)}, phonemes)
        if self._basis is not None and rng.random() < self._far:
            return style + self._basis @ _far_coordinates(style, rng)
        if rng.random() < _PERTURB_PROBABILITY:
            scale = rng.uniform(0.0, _LARGEST_PERTURBATION)
            style = style + scale * self._deviation[self._row(phonemes)] * torch.randn_like(style)
        return style

    def _row(self, phonemes: int) -> int:
        return min(max(phonemes, 1), self.tables.shape[1]) - 1


def _far_coordinates(style: Tensor, rng: random.Random) -> Tensor:
    """Laplace-distributed, as those of fits are: few large ones and many small.

    Timbre, which is the first half of a style, goes far; pitch and pace stay within what can be understood.
    """
    drawn = torch.empty_like(style).exponential_() - torch.empty_like(style).exponential_()
    timbre, prosody = (drawn / math.sqrt(2)).chunk(2)
    return torch.cat((rng.uniform(0.0, _FARTHEST_TIMBRE) * timbre, rng.uniform(0.0, _FARTHEST_PROSODY) * prosody))
