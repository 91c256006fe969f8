"""Keys, asked for when the settings name any, and the owner ids of what is registered with them."""

from collections.abc import Iterable

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from polyvox.api.middleware.ephemeral_keys import EphemeralKeys
from polyvox.api.middleware.key_sources import KeySources
from polyvox.api.middleware.route_operations import RouteOperations
from polyvox.api.paths import PathTable
from polyvox.api.refusals import Refusals
from polyvox.errors import AuthenticationError, ScopeError
from polyvox.service.keys.access import NOBODY, require
from polyvox.service.keys.keyring import Keyring
from polyvox.service.keys.record import owner_of
from polyvox.voices.records import SHARED_OWNER

__all__ = ["NOBODY", "BearerAuth", "owner_of"]


class BearerAuth:
    """Middleware that asks requests and WebSocket handshakes for a key, and notes its owner.

    `sources` say where else than in `Authorization` a key may come; it is taken from there also where no keys are
    asked for, so that it appears nowhere else. `public` are path patterns that need no key. At `readable` ones a key
    may be left out to read what belongs to nobody, but one that is sent must be right. `lent` are those that also take
    an ephemeral key, whose grant is noted too; one from a time without keys ends with that time. A key without the
    scope of the route's operation is refused here, before the body is read; the services hold it against what is done.
    """

    def __init__(
        self,
        app: ASGIApp,
        keys: Keyring,
        public: Iterable[str],
        refusals: Refusals,
        operations: RouteOperations,
        ephemeral: EphemeralKeys,
        readable: Iterable[str] = (),
        sources: Iterable[tuple[str, KeySources]] = (),
        lent: Iterable[str] = (),
    ) -> None:
        self._app = app
        self._keys = keys
        self._is_public = PathTable([(path, True) for path in public], default=False)
        self._is_readable = PathTable([(path, True) for path in readable], default=False)
        self._refusals = refusals
        self._sources = PathTable(_merged(sources), default=KeySources())
        self._ephemeral = ephemeral
        self._is_lent = PathTable([(path, True) for path in lent], default=False)
        self._operations = operations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            sources = self._sources[scope["path"]]
            key = sources.take(scope)
            try:
                self._admit(scope, key, sources)
            except (AuthenticationError, ScopeError) as error:
                await self._refusals.send(error, scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _admit(self, scope: Scope, key: bytes | None, sources: KeySources) -> None:
        path, state = scope["path"], HTTPConnection(scope).state
        grant = self._ephemeral.grant(key) if key and self._is_lent[path] else None
        if grant is not None and (grant.owner != SHARED_OWNER or not self._keys.asks):
            state.owner, state.grant = grant.owner, grant
            return
        if not self._keys.asks or self._is_public[path]:
            return
        if key is None and scope.get("method") in ("GET", "HEAD") and self._is_readable[path]:
            state.owner = NOBODY
            return
        record = self._keys.find(key or b"", sources.advice(scope))
        operation = self._operations.of(scope)
        if operation is not None:
            require(record.scopes, operation)
        state.owner, state.key = record.owner, record


def _merged(rows: Iterable[tuple[str, KeySources]]) -> Iterable[tuple[str, KeySources]]:
    """One row a pattern: doors that share a path may each have their own places for keys."""
    merged: dict[str, KeySources] = {}
    for pattern, sources in rows:
        merged[pattern] = merged.get(pattern, KeySources()) | sources
    return merged.items()
