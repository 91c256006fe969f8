"""Keys that the server hands out for a while, so that a web page need not know a lasting one."""

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from polyvox.service.keys.access import Access
from polyvox.service.keys.operations import Operation

PREFIX = "ek_"

_KEY_BYTES = 32
_MAX_PER_OWNER = 1_000


@dataclass(frozen=True, slots=True)
class Grant:
    """The grant of an ephemeral key: the owner of the key it was asked for with, and what it was asked for."""

    owner: str
    terms: object
    expires: float
    """By the clock of the keys."""


@dataclass(frozen=True, slots=True)
class EphemeralKey:
    """A new key, and the time at which it ends, in seconds since 1970."""

    value: str
    expires_at: int


class EphemeralKeys:
    """Ephemeral keys in memory, stored as digests; each owner has a limited number, and its oldest make room.

    A key may be used any number of times until it expires, and as long as the owner's own key may do what this one is
    for. What was opened with it lives on when it expires, and ends when the owner's key does.
    """

    def __init__(self, access: Access, clock: Callable[[], float] = time.monotonic) -> None:
        self._access = access
        self._clock = clock
        self._grants: dict[str, OrderedDict[bytes, Grant]] = {}

    def issue(self, owner: str, seconds: float, terms: object) -> EphemeralKey:
        """A key that stands for an owner's for some seconds."""
        self._access.require(Operation.ISSUE_KEYS, owner)
        self._expire()
        value = PREFIX + secrets.token_urlsafe(_KEY_BYTES)
        grants = self._grants.setdefault(owner, OrderedDict())
        while len(grants) >= _MAX_PER_OWNER:
            grants.popitem(last=False)
        grants[_digest(value.encode())] = Grant(owner, terms, self._clock() + seconds)
        return EphemeralKey(value, int(time.time() + seconds))

    def grant(self, key: bytes) -> Grant | None:
        """The grant of a key; None for one that was never handed out or has expired.

        `AuthenticationError` or `ScopeError` where the owner's own key has ended, or may not speak any more.
        """
        if not key.startswith(PREFIX.encode()):
            return None
        digest, now = _digest(key), self._clock()
        found = next((grants[digest] for grants in self._grants.values() if digest in grants), None)
        if found is None or found.expires <= now:
            return None
        self._access.require(Operation.SPEAK, found.owner)
        return found

    def _expire(self) -> None:
        now = self._clock()
        for owner, grants in list(self._grants.items()):
            for digest in [digest for digest, grant in grants.items() if grant.expires <= now]:
                del grants[digest]
            if not grants:
                del self._grants[owner]


def _digest(key: bytes) -> bytes:
    """Of 256 random bits, so that a look-up by the digest tells nothing about any other key."""
    return hashlib.sha256(key).digest()
