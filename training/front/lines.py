"""Phoneme lines in device memory, in padded batches of about one length."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

PADDING = 0
_STEP = 16


@dataclass(frozen=True, slots=True)
class LineBatch:
    """Ids [rows, time] with the padding token at both ends, each row's length, and where its ids stand among all."""

    ids: Tensor
    ends: Tensor
    places: Tensor

    @property
    def inside(self) -> Tensor:
        """[rows, time], true inside a row."""
        return torch.arange(self.ids.shape[1], device=self.ids.device) < self.ends[:, None]


class DeviceLines:
    """All lines on one device. A line's ids stand in `places` that a table of targets shares."""

    def __init__(self, file: Path, device: torch.device, held_out: int) -> None:
        """The last `held_out` lines of a fixed order are not drawn; `held_out_batches` gives them."""
        with np.load(file) as stored:
            ids, offsets = stored["ids"], stored["offsets"].astype(np.int64)
        lengths = np.diff(offsets) + 2
        starts = np.concatenate(([0], np.cumsum(lengths)))[:-1]
        flat = np.full(int(lengths.sum()), PADDING, np.uint8)
        inner = np.arange(len(ids)) + 2 * np.repeat(np.arange(len(lengths)), lengths - 2) + 1
        flat[inner] = ids
        order = np.random.default_rng(5).permutation(len(lengths))
        self._held_out = order[:held_out]
        self._drawn = order[held_out:]
        self._lengths = lengths
        self._starts = torch.from_numpy(starts).to(device)
        self._ends = torch.from_numpy(lengths).to(device)
        self._flat = torch.from_numpy(flat).to(device)
        self.device = device

    @property
    def ids(self) -> int:
        """The number of all ids, padding tokens included."""
        return len(self._flat)

    def epochs(self, ids_per_batch: int, seed: int) -> Iterator[LineBatch]:
        """Batches of lines of about one length, in random order, without an end."""
        rng = np.random.default_rng(seed)
        while True:
            yield from self._batches(self._drawn, ids_per_batch, rng)

    def held_out_batches(self, ids_per_batch: int) -> Iterator[LineBatch]:
        """The lines that are not drawn, once."""
        yield from self._batches(self._held_out, ids_per_batch, np.random.default_rng(0))

    def all_batches(self, ids_per_batch: int) -> Iterator[LineBatch]:
        """Every line once."""
        yield from self._batches(np.arange(len(self._lengths)), ids_per_batch, np.random.default_rng(0))

    def _batches(self, lines: np.ndarray, ids_per_batch: int, rng: np.random.Generator) -> Iterator[LineBatch]:
        # Sorted by length within a step, at random between lines of about one length.
        keys = (self._lengths[lines] + _STEP - 1) // _STEP + rng.random(len(lines)) * 0.99
        ordered = lines[np.argsort(keys)]
        padded = -(-self._lengths[ordered] // _STEP) * _STEP
        cuts, start = [], 0
        while start < len(ordered):
            count = max(1, ids_per_batch // int(padded[start]))
            end = min(start + count, int(np.searchsorted(padded, padded[start], side="right")))
            cuts.append((start, end, int(padded[start])))
            start = end
        for index in rng.permutation(len(cuts)):
            first, last, time = cuts[index]
            yield self._batch(torch.from_numpy(ordered[first:last]).to(self.device), time)

    def _batch(self, lines: Tensor, time: int) -> LineBatch:
        ends = self._ends[lines]
        positions = torch.arange(time, device=self.device)
        places = self._starts[lines][:, None] + torch.minimum(positions, ends[:, None] - 1)
        inside = positions < ends[:, None]
        return LineBatch(self._flat[places].long() * inside, ends, places)
