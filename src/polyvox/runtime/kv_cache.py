"""Keys and values of many sequences in one fixed stretch of memory, a slot for each, and prompts kept for later."""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from polyvox.errors import InvalidRequestError
from polyvox.models.cache import LayerCache
from polyvox.models.qwen.model import QwenConfig


def slot_bytes(config: QwenConfig, capacity: int, dtype: torch.dtype) -> int:
    """What one sequence of up to `capacity` positions takes."""
    return 2 * config.layers * config.key_heads * config.head_width * capacity * dtype.itemsize


def slots_within(budget: int, config: QwenConfig, capacity: int, dtype: torch.dtype) -> int:
    """How many sequences fit into `budget` bytes, beside the one slot that takes what padding writes."""
    each = slot_bytes(config, capacity, dtype)
    if budget < 2 * each:
        raise InvalidRequestError(
            f"Keys and values of one sequence take {each:,} bytes and the cache needs two such slots; allow more than "
            f"{budget:,} bytes, or shorter sequences."
        )
    return budget // each - 1


@dataclass(frozen=True, slots=True)
class Places:
    """Where the rows of a batch stand: `slots` [n]; their new positions, [n, m], and the slots these are written to.

    Padding is written to the spare slot. The new rows see the `extent` first positions at most.
    """

    slots: Tensor
    written: Tensor
    positions: Tensor
    extent: int

    @property
    def mask(self) -> Tensor:
        """Each new position sees itself and those before it, [n, 1, m, extent]."""
        keys = torch.arange(self.extent, device=self.positions.device)
        return keys <= self.positions[:, None, :, None]


class KvCache:
    """Slots of equal size; the last one is spare. Which of them are in use is the scheduler's affair."""

    def __init__(self, config: QwenConfig, slots: int, capacity: int, dtype: torch.dtype, device: torch.device) -> None:
        self.slots = slots
        self.capacity = capacity
        shape = (2 * config.layers, slots + 1, config.key_heads, capacity, config.head_width)
        # Zeros, since what lies behind a mask still meets a weight of zero, and zero times garbage may not be zero.
        self._all = torch.zeros(shape, dtype=dtype, device=device)
        self.tensors = self._all.unbind(0)
        """Each layer's keys and then its values, [slots, key heads, capacity, width]."""

    @property
    def spare(self) -> int:
        return self.slots

    @property
    def nbytes(self) -> int:
        return self._all.nbytes

    def memory(self, places: Places) -> LayerCache:
        """The layers' memory for one call."""
        return _SlotMemory(self.tensors, places)

    def saved(self, slot: int, length: int) -> Tensor:
        """A copy of a slot's first positions, [2 * layers, key heads, length, width]."""
        return self._all[:, slot, :, :length].clone()

    def restore(self, slot: int, saved: Tensor) -> None:
        """Begin a slot with what was saved."""
        self._all[:, slot, :, : saved.shape[2]] = saved


class _SlotMemory(LayerCache):
    """Hands keys and values over in the layers' order, as `LayerCache` does, but keeps them in the slots."""

    def __init__(self, tensors: Sequence[Tensor], places: Places) -> None:
        super().__init__(update=False)
        self._tensors = iter(tensors)
        self._places = places

    def append(self, new: Tensor) -> Tensor:
        """Write `new` [n, heads, m, width] to its places; all that its slots hold, [n, heads, extent, width]."""
        tensor, places = next(self._tensors), self._places
        tensor[places.written, :, places.positions] = new.transpose(1, 2)
        return tensor[:, :, : places.extent].index_select(0, places.slots)


class PrefixStore:
    """The beginnings of prompts that came before, the most recently used ones, within a number of bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[Hashable, Tensor] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        return self._bytes

    def get(self, key: Hashable) -> Tensor | None:
        """What was kept, now the most recently used."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key]

    def put(self, key: Hashable, saved: Tensor) -> None:
        """Keep it in place of those that were not used for longest; one that is larger than everything is not kept."""
        if saved.nbytes > self._max_bytes:
            return
        before = self._kept.pop(key, None)
        self._bytes += saved.nbytes - (0 if before is None else before.nbytes)
        self._kept[key] = saved
        while self._bytes > self._max_bytes:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= oldest.nbytes
