"""Slots of the batches that are spoken at once."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from polyvox.errors import ForbiddenError, OverloadedError

_RETRY_SECONDS = 30.0


class BatchSlots:
    """At most `limit` batches, of which one client has half at most."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: Counter[str] = Counter()

    @contextmanager
    def held(self, client: str) -> Iterator[None]:
        """Hold a slot for a batch of this client; OverloadedError where none is free."""
        if not self._limit:
            raise ForbiddenError("This server takes no batches; send one text in a request.")
        if self._held[client] >= (self._limit + 1) // 2:
            raise self._overloaded("Your other batches are still being spoken")
        if self._held.total() >= self._limit:
            raise self._overloaded(f"The server is speaking its {self._limit} batches already")
        self._held[client] += 1
        try:
            yield
        finally:
            self._held[client] -= 1
            self._held += Counter()  # forget clients without any

    @staticmethod
    def _overloaded(problem: str) -> OverloadedError:
        return OverloadedError(f"{problem}; try again in {_RETRY_SECONDS:.0f} s.", retry_after=_RETRY_SECONDS)
