"""How much memory all streams of a model may keep together."""

from collections import deque


class Lease:
    """A share of a budget. It is given back when nobody holds it any more."""

    def __init__(self, nbytes: int, returned: "deque[int]") -> None:
        self.nbytes = nbytes
        self._returned = returned

    def __del__(self) -> None:
        # Whatever thread lets go last: only the appending is certain to be safe there.
        self._returned.append(self.nbytes)


class ByteBudget:
    """Bytes that may be taken as long as there are some left. One thread may take them; any may let them go."""

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
        """So many bytes, or none of them where they are more than what is left."""
        if self.used + nbytes > self.most:
            return None
        self._used += nbytes
        return Lease(nbytes, self._returned)
