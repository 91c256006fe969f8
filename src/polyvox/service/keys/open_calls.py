"""OpenCalls: what is under way for each key, so that it ends with the key."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import structlog

from polyvox.errors import AuthenticationError
from polyvox.service.keys.access import KeyAccess, ended_key
from polyvox.service.keys.keyring import Keyring
from polyvox.voices.records import SHARED_OWNER

GRACE_SECONDS = 1.0
"""Time for a call to end as its dialect ends failed ones, once its sessions were cancelled."""

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

End = Callable[[AuthenticationError], None]


class OpenCalls:
    """Sessions and calls by the owner of their key. `sweep` ends those of keys that were revoked or deleted.

    A session is cancelled at once, with the reason. The call around it is cut a little later, if it is still there: a
    WebSocket without a session, a reader of events, a stream whose client does not read.
    """

    def __init__(self, keyring: Keyring, access: KeyAccess) -> None:
        self._keyring = keyring
        self._access = access
        self._ends: dict[str, set[End]] = {}

    @contextmanager
    def watched(self, owner: str | None, end: End) -> Iterator[None]:
        """Call `end` when the owner's key ends, unless the block has been left before."""
        if not owner or owner == SHARED_OWNER:
            yield
            return
        self.add(owner, end)
        try:
            yield
        finally:
            self.remove(owner, end)

    @asynccontextmanager
    async def lasting(self, owner: str) -> AsyncIterator[None]:
        """Cut the block off with an `AuthenticationError` soon after the owner's key has ended."""
        limit = asyncio.timeout(None)

        def end(_: AuthenticationError) -> None:
            limit.reschedule(asyncio.get_running_loop().time() + GRACE_SECONDS)

        try:
            with self.watched(owner, end):
                async with limit:
                    yield
        except TimeoutError:
            if limit.expired():
                raise ended_key() from None
            raise

    def add(self, owner: str, end: End) -> None:
        self._ends.setdefault(owner, set()).add(end)

    def remove(self, owner: str, end: End) -> None:
        ends = self._ends.get(owner, set())
        ends.discard(end)
        if not ends:
            self._ends.pop(owner, None)

    @property
    def open(self) -> int:
        """Number of sessions and calls that have a key."""
        return sum(map(len, self._ends.values()))

    def sweep(self) -> None:
        """End what is under way with keys that are no more."""
        for owner in [owner for owner in self._ends if self._access.has_ended(owner)]:
            ends, record = self._ends.pop(owner), self._keyring.by_owner(owner)
            log.warning("key ended, and what was open with it", key=record.name if record else None, open=len(ends))
            for end in ends:
                try:
                    end(ended_key())
                except Exception:  # whoever follows the keys must go on, and the other calls end
                    log.exception("a call of a key that ended goes on")
