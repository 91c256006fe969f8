"""KV cache of many sequences: one fixed tensor with a slot for each, and saved prompt prefixes."""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from polyvox.errors import InvalidRequestError
from polyvox.models.cache import LayerCache
from polyvox.runtime.shared_prefixes import SavedPrefix


class CacheSizes(Protocol):
    """Sizes of a decoder that its KV cache follows from."""

    @property
    def layers(self) -> int: ...

    @property
    def key_heads(self) -> int: ...

    @property
    def head_width(self) -> int: ...


def slot_bytes(config: CacheSizes, capacity: int, dtype: torch.dtype) -> int:
    """Bytes of one slot of `capacity` positions."""
    return 2 * config.layers * config.key_heads * config.head_width * capacity * dtype.itemsize


def slots_within(budget: int, config: CacheSizes, capacity: int, dtype: torch.dtype) -> int:
    """The number of slots that fit into `budget` bytes, besides the spare one that takes what padding rows write."""
    each = slot_bytes(config, capacity, dtype)
    if budget < 2 * each:
        raise InvalidRequestError(
            f"Keys and values of one sequence take {each:,} bytes and the cache needs two such slots; allow more than "
            f"{budget:,} bytes, or shorter sequences."
        )
    return budget // each - 1


@dataclass(frozen=True, slots=True)
class SlotMapping:
    """Slots and positions of the KV cache that the rows of a batch read and write.

    `slots` [n] are read; new positions [n, m] are written to `write_slots` [n, m], which is the spare slot for padding.
    New positions attend to the first `extent` positions of their slot at most.
    """

    slots: Tensor
    write_slots: Tensor
    positions: Tensor
    extent: int

    @property
    def mask(self) -> Tensor:
        """Causal attention mask, [n, 1, m, extent]."""
        keys = torch.arange(self.extent, device=self.positions.device)
        return keys <= self.positions[:, None, :, None]


class KvCache:
    """Slots of equal size; the last one is spare. The scheduler knows which of them are in use."""

    def __init__(self, config: CacheSizes, slots: int, capacity: int, dtype: torch.dtype, device: torch.device) -> None:
        self.slots = slots
        self.capacity = capacity
        shape = (2 * config.layers, slots + 1, config.key_heads, capacity, config.head_width)
        # Zeros, since masked positions still meet a weight of zero, and zero times garbage may not be zero.
        self._all = torch.zeros(shape, dtype=dtype, device=device)
        self.tensors = self._all.unbind(0)
        """Each layer's keys and then its values, [slots, key heads, capacity, width]."""

    @property
    def spare(self) -> int:
        return self.slots

    @property
    def nbytes(self) -> int:
        return self._all.nbytes

    def halves(self) -> "KvCache":
        """The same memory as twice as many slots of half the heads; slot n is 2n and 2n + 1 there."""
        other = copy(self)
        other.slots = 2 * self.slots + 1
        other._all = self._all.view(len(self._all), 2 * (self.slots + 1), -1, *self._all.shape[3:])
        other.tensors = other._all.unbind(0)
        return other

    def memory(self, mapping: SlotMapping) -> LayerCache:
        """The cache as the layers use it in one forward pass."""
        return _SlotMemory(self.tensors, mapping)

    def read_prefix(self, slot: int, length: int) -> Tensor:
        """A copy of a slot's first positions, [2 * layers, key heads, length, width]."""
        return self._all[:, slot, :, :length].clone()

    def clear(self, slot: int) -> None:
        """Empty a slot."""
        self._all[:, slot].zero_()

    def write_prefix(self, slot: int, prefix: Tensor) -> None:
        """Fill a slot's first positions with what `read_prefix` copied."""
        self._all[:, slot, :, : prefix.shape[2]] = prefix


class _SlotMemory(LayerCache):
    """Passes keys and values in the layers' order, as `LayerCache` does, but keeps them in the slots."""

    def __init__(self, tensors: Sequence[Tensor], mapping: SlotMapping) -> None:
        super().__init__(update=False)
        self._tensors = iter(tensors)
        self._mapping = mapping

    def append(self, new: Tensor) -> Tensor:
        """Write `new` [n, heads, m, width]; return what its slots hold, [n, heads, extent, width]."""
        tensor, mapping = next(self._tensors), self._mapping
        tensor[mapping.write_slots, :, mapping.positions] = new.transpose(1, 2)
        return tensor[:, :, : mapping.extent].index_select(0, mapping.slots)


class PrefixCache:
    """KV caches of prompt prefixes, least recently used evicted, within a number of bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[Hashable, SavedPrefix] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def nbytes(self) -> int:
        return self._bytes

    def get(self, key: Hashable) -> SavedPrefix | None:
        """The entry, now the most recently used."""
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key]

    def put(self, key: Hashable, prefix: SavedPrefix) -> None:
        """Add an entry and evict others for it; one that is larger than the whole cache is not added."""
        size = prefix.values.nbytes
        if size > self._max_bytes:
            return
        before = self._entries.pop(key, None)
        self._bytes += size - (0 if before is None else before.values.nbytes)
        self._entries[key] = prefix
        while self._bytes > self._max_bytes:
            _, oldest = self._entries.popitem(last=False)
            self._bytes -= oldest.values.nbytes
