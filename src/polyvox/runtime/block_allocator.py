"""Blocks of a paged cache: which of them are free, and who holds the others."""

from collections import deque


class BlockLease:
    """One block, free again when the last reference to the lease is dropped."""

    __slots__ = ("_returned", "index")

    def __init__(self, index: int, returned: "deque[int]") -> None:
        self.index = index
        self._returned = returned

    def __del__(self) -> None:
        # This may run on any thread, where only the append is certain to be safe.
        self._returned.append(self.index)


class BlockAllocator:
    """Hands out blocks `first` to `last - 1`. One thread may take leases; any may drop them."""

    def __init__(self, first: int, last: int) -> None:
        self.blocks = last - first
        self._free: deque[int] = deque(range(first, last))

    @property
    def free(self) -> int:
        return len(self._free)

    @property
    def used(self) -> int:
        return self.blocks - len(self._free)

    def take(self, count: int) -> tuple[BlockLease, ...] | None:
        """Leases of so many blocks, or None where fewer are free."""
        if count > len(self._free):
            return None
        return tuple(BlockLease(self._free.popleft(), self._free) for _ in range(count))
