"""Classifier-free guidance: a sequence and its twin without guidance, which share a slot and all tokens."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from polyvox.models.cache import LayerCache
from polyvox.runtime.causal_lm import Backbone, FusedBackbone
from polyvox.runtime.kv_cache import CacheSizes


@dataclass(frozen=True, slots=True)
class PairSizes:
    """Sizes of the KV cache of pairs: each slot has the heads of both sequences."""

    layers: int
    key_heads: int
    head_width: int

    @classmethod
    def of(cls, single: CacheSizes) -> "PairSizes":
        return cls(single.layers, 2 * single.key_heads, single.head_width)


class GuidedBackbone:
    """A decoder of pairs: its rows, and hidden states, are those of the guided sequence and then of the other."""

    def __init__(self, single: Backbone) -> None:
        self.single = single
        self.config = PairSizes.of(single.config)

    @property
    def norm(self) -> nn.RMSNorm | nn.LayerNorm:
        return self.single.norm

    def decode(self, rows: Tensor, memory: LayerCache, positions: Tensor, mask: Tensor | None) -> Tensor:
        """Hidden states [n, m, 2 * hidden] of rows [n, m, 2 * hidden] at `positions` [n, m]."""
        mask = None if mask is None else mask.repeat_interleave(2, dim=0)
        hidden = self.single.decode(_apart(rows), _PairMemory(memory), positions.repeat_interleave(2, dim=0), mask)
        return _together(hidden)


class FusedGuidedBackbone:
    """The same in few kernels: each sequence of a pair has a slot of its own in `KvCache.halves`."""

    def __init__(self, single: FusedBackbone) -> None:
        self._single = single

    def decode(self, rows: Tensor, slots: Tensor, positions: Tensor, extent: int) -> Tensor:
        """Hidden states for one new position a slot: `rows` [n, 2 * hidden] at `positions` [n], all before `extent`."""
        both = rows.reshape(2 * len(rows), -1)
        hidden = self._single.decode(both, _half_slots(slots), positions.repeat_interleave(2), extent)
        return hidden.reshape(len(rows), -1)

    def prefill(
        self, rows: Tensor, slots: Tensor, write_slots: Tensor, positions: Tensor, extent: int, mask: Tensor
    ) -> Tensor:
        """Hidden states for chunks, `rows` [n, m, 2 * hidden], mapped as `SlotMapping` says."""
        hidden = self._single.prefill(
            _apart(rows),
            _half_slots(slots),
            _half_slots(write_slots),
            positions.repeat_interleave(2, dim=0),
            extent,
            mask.repeat_interleave(2, dim=0),
        )
        return _together(hidden)


class _PairMemory(LayerCache):
    """Keeps the heads of both sequences of a pair in one slot."""

    def __init__(self, memory: LayerCache) -> None:
        super().__init__(update=False)
        self._memory = memory

    def append(self, new: Tensor) -> Tensor:
        both = self._memory.append(new.reshape(len(new) // 2, -1, *new.shape[2:]))
        return both.reshape(len(new), -1, *both.shape[2:])


def _half_slots(slots: Tensor) -> Tensor:
    """Slots [n, ...] of pairs as those of their sequences, [2n, ...]."""
    return torch.stack((2 * slots, 2 * slots + 1), dim=1).flatten(0, 1)


def _apart(rows: Tensor) -> Tensor:
    """Rows [n, m, 2 * hidden] of pairs as rows [2n, m, hidden] of sequences."""
    return rows.view(*rows.shape[:2], 2, -1).transpose(1, 2).flatten(0, 1)


def _together(rows: Tensor) -> Tensor:
    """Undo `_apart`."""
    return rows.view(-1, 2, *rows.shape[1:]).transpose(1, 2).flatten(2)
