"""Rows of a batch whose slots begin with the same keys and values: attention reads those once for several rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from torch import Tensor

_SHORTEST = 64
"""Positions from which on a prefix is worth a split of its own."""


@dataclass(frozen=True, slots=True)
class SavedPrefix:
    """The KV cache of a prompt prefix, [2 * layers, key heads, length, width]; its number is given to no other."""

    number: int
    values: Tensor


@dataclass(frozen=True, order=True, slots=True)
class SlotPrefix:
    """The first `length` positions of a slot. Slots of one number hold the same bits there."""

    NONE: ClassVar["SlotPrefix"]

    number: int
    length: int

    @classmethod
    def of(cls, number: int, length: int) -> "SlotPrefix":
        """A prefix, unless it is too short to be of use. That depends on the prompt alone, as its sums do."""
        return cls(number, length) if length >= _SHORTEST else cls.NONE


SlotPrefix.NONE = SlotPrefix(0, 0)


@dataclass(slots=True)
class SlotPrefixes:
    """The prefixes of all slots."""

    _slots: dict[int, SlotPrefix] = field(default_factory=dict)
    _last: int = 0

    def start(self, slot: int, length: int, saved: SavedPrefix | None) -> None:
        """A new sequence begins with a prefix of this length: the saved one, or it will compute its own."""
        self._slots[slot] = SlotPrefix.of(self._next() if saved is None else saved.number, length)

    def save(self, slot: int, values: Tensor) -> SavedPrefix:
        """A copy of the slot's own prefix, to be saved for others."""
        saved = SavedPrefix(self._next(), values)
        self.start(slot, values.shape[2], saved)
        return saved

    def of(self, slots: Sequence[int]) -> list[SlotPrefix]:
        """The prefix of each of these slots."""
        return [self._slots.get(slot, SlotPrefix.NONE) for slot in slots]

    def _next(self) -> int:
        self._last += 1
        return self._last


def prefix_table(slots: Sequence[int], prefixes: Sequence[SlotPrefix]) -> list[list[int]]:
    """Three numbers of each row, for attention; rows of the same prefix are neighbours.

    The first row with the same prefix; a slot to read it from, which was in use when the step was launched, whether its
    sequence ends within the step or not; and the prefix's length, or 0.
    """
    first: dict[SlotPrefix, int] = {}
    leaders = [first.setdefault(prefix, row) for row, prefix in enumerate(prefixes)]
    return [leaders, [slots[leader] for leader in leaders], [prefix.length for prefix in prefixes]]
