"""Phoneme lines written by `training.wren.corpus`, drawn in batches of similar length."""

import random
from itertools import pairwise
from pathlib import Path

import numpy as np

_LARGEST_BATCH = 192


class PhonemeLines:
    """Phoneme ids and language letters of all lines, sorted by length so that a batch needs little padding."""

    def __init__(self, file: Path, ids_per_batch: int) -> None:
        self._ids_per_batch = ids_per_batch
        with np.load(file) as stored:
            ids, offsets, languages = stored["ids"], stored["offsets"], stored["languages"]
        rows = [ids[start:end].tolist() for start, end in pairwise(offsets)]
        self.rows = sorted(zip(rows, map(chr, languages.tolist()), strict=True), key=lambda row: len(row[0]))

    def sample(self, rng: random.Random) -> list[tuple[list[int], str]]:
        """Lines around a random one, about `ids_per_batch` ids in all."""
        centre = rng.randrange(len(self.rows))
        count = min(max(self._ids_per_batch // len(self.rows[centre][0]), 1), _LARGEST_BATCH, len(self.rows))
        start = min(max(0, centre - count // 2), len(self.rows) - count)
        return self.rows[start : start + count]
