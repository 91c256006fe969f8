"""Access: the one place where an operation is held against the key it is asked for with."""

from typing import Protocol

from polyvox.errors import AuthenticationError, ScopeError
from polyvox.service.keys.operations import Operation
from polyvox.service.keys.record import KeyRecord, Scope
from polyvox.voices.records import SHARED_OWNER

NOBODY = "nobody"
"""Owner id of callers who may read lists without a key; nothing is ever registered under it."""

_KEYLESS = frozenset({Scope.SPEAK, Scope.LISTEN})
"""Scopes of callers whom a door without keys, Wyoming's, lets into a server that has some."""


class Keys(Protocol):
    """The part of a keyring that tells who is who."""

    @property
    def asks(self) -> bool: ...

    def by_owner(self, owner: str) -> KeyRecord | None: ...


class Access(Protocol):
    """Decides whether an owner may do something."""

    def require(self, operation: Operation, owner: str) -> None:
        """Refuse what the owner's key may not do: `ScopeError`, or `AuthenticationError` where the key has ended."""

    def allows(self, operation: Operation, owner: str) -> bool:
        """Return whether `require` would let it pass."""


class KeyAccess:
    """Access by the scopes that a key has now, so that a change or revocation holds for whatever is asked next.

    A server without keys refuses nothing.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def require(self, operation: Operation, owner: str) -> None:
        if operation is not Operation.PROBE and self._keys.asks:
            require(self._scopes(owner), operation)

    def allows(self, operation: Operation, owner: str) -> bool:
        try:
            self.require(operation, owner)
        except (AuthenticationError, ScopeError):
            return False
        return True

    def has_ended(self, owner: str) -> bool:
        """Return whether an owner had a key, and has none any more."""
        if owner in (SHARED_OWNER, NOBODY) or not self._keys.asks:
            return False
        record = self._keys.by_owner(owner)
        return record is None or record.revoked is not None

    def _scopes(self, owner: str) -> frozenset[Scope]:
        if owner == NOBODY:
            return frozenset()
        if owner == SHARED_OWNER:
            return _KEYLESS
        record = self._keys.by_owner(owner)
        if record is None or record.revoked is not None:
            raise ended_key()
        return record.scopes


class OperatorAccess:
    """Access of the user who runs the program: commands and the library refuse nothing, whoever the owner is."""

    def require(self, operation: Operation, owner: str) -> None:
        return

    def allows(self, operation: Operation, owner: str) -> bool:
        return True


def require(scopes: frozenset[Scope], operation: Operation) -> None:
    """Refuse a key without the scope of an operation; `ScopeError` names it."""
    if operation.scope is not None and operation.scope not in scopes:
        held = ", ".join(sorted(scopes)) or "none"
        raise ScopeError(
            f"This key lacks the scope '{operation.scope}'; it has: {held}. Use a key that has it.",
            scope=operation.scope,
        )


def ended_key() -> AuthenticationError:
    """The error for whatever is asked or under way with a key that was revoked or deleted."""
    return AuthenticationError("This key was revoked or is unknown by now; ask whoever runs the server for another.")
