"""Kokoro's voices as style tables, and random styles for training: voices, mixes and perturbed voices."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

_STYLE_DIM = 256
_NATIVE_PROBABILITY = 0.85
_MIX_PROBABILITY, _PERTURB_PROBABILITY = 0.35, 0.25
_LARGEST_PERTURBATION = 0.45
"""In standard deviations over all voices; fitted voices lie about this far from published ones."""


class StyleTables:
    """Style tables [rows, 256] of all voices; the row of an utterance is its number of phonemes less one."""

    def __init__(self, names: list[str], tables: Tensor, weights: Mapping[str, int] | None = None) -> None:
        """`weights` says how often `sample` draws a voice, relative to those it does not name."""
        self.names = names
        self.tables = tables
        self._deviation = tables.std(dim=0)
        repeated = weights or {}
        if unknown := sorted(set(repeated) - set(names)):
            raise ValueError(f"There is no voice {unknown[0]}.")
        self._drawn: Sequence[str] = [name for name in names for _ in range(repeated.get(name, 1))]
        self._by_language: Mapping[str, Sequence[str]] = {
            letter: [name for name in self._drawn if name.startswith(letter)] for letter in "abefhijpz"
        }

    @classmethod
    def read(cls, folder: Path, device: torch.device, weights: Mapping[str, int] | None = None) -> "StyleTables":
        """Read `*.bin` of a Kokoro bundle's folder of voices."""
        files = sorted(folder.glob("*.bin"))
        tables = [torch.from_numpy(np.fromfile(file, "<f4").reshape(-1, _STYLE_DIM)) for file in files]
        return cls([file.stem for file in files], torch.stack(tables).to(device), weights)

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
        if rng.random() < _PERTURB_PROBABILITY:
            scale = rng.uniform(0.0, _LARGEST_PERTURBATION)
            style = style + scale * self._deviation[self._row(phonemes)] * torch.randn_like(style)
        return style

    def _row(self, phonemes: int) -> int:
        return min(max(phonemes, 1), self.tables.shape[1]) - 1
