"""A memory budget that all streams of a model share."""

from collections import deque


class Lease:
    """A share of a budget, returned when the last reference to it is dropped."""

    def __init__(self, nbytes: int, returned: "deque[int]") -> None:
        self.nbytes = nbytes
        self._returned = returned

    def __del__(self) -> None:
        # This may run on any thread, where only the append is certain to be safe.
        self._returned.append(self.nbytes)


class ByteBudget:
    """A bounded number of bytes. One thread may take leases; any may drop them."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._used = 0
        self._returned: deque[int] = deque()

    @property
    def used(self) -> int:
        while self._returned:
            self._used -= self._returned.popleft()
        return self._used

    def take(self, nbytes: int) -> Lease | None:
        """A lease of so many bytes, or None where fewer are left."""
        if self.used + nbytes > self.most:
            return None
        self._used += nbytes
        return Lease(nbytes, self._returned)
