"""Keys, asked for when the settings name any, and the owner ids of what is registered with them."""

import hashlib
import hmac
from collections.abc import Iterable, Sequence

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from polyvox.api.ephemeral_keys import EphemeralKeys
from polyvox.api.key_sources import BEARER_ADVICE, KeySources
from polyvox.api.paths import PathTable
from polyvox.api.refusals import Refusals
from polyvox.errors import AuthenticationError

NOBODY = "nobody"
"""Owner id of callers who may read lists without a key; nothing is ever registered under it."""


class Keys:
    """The keys that a server accepts, stored as digests."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._owners = {_digest(key.encode()): owner_of(key) for key in keys if key}

    def owner(self, key: bytes, advice: str = BEARER_ADVICE) -> str:
        """The owner of a key; an `AuthenticationError` that says how to send one where it is none of these."""
        digest = _digest(key)
        # Every key is compared, each in constant time, so that the answer's delay tells nothing about any of them.
        matches = [owner for known, owner in self._owners.items() if hmac.compare_digest(digest, known)]
        if not matches:
            raise AuthenticationError(f"This server asks for a key: send it {advice}.")
        return matches[0]


class BearerAuth:
    """Middleware that asks requests and WebSocket handshakes for a key, and notes its owner.

    `sources` say where else than in `Authorization` a key may come; it is taken from there also where no keys are
    asked for, so that it appears nowhere else. `public` are path patterns that need no key. At `readable` ones a key
    may be left out to read what belongs to nobody, but one that is sent must be right. `lent` are those that also take
    an ephemeral key, whose grant is noted too.
    """

    def __init__(
        self,
        app: ASGIApp,
        keys: Keys | None,
        public: Iterable[str],
        refusals: Refusals,
        readable: Iterable[str] = (),
        sources: Iterable[tuple[str, KeySources]] = (),
        ephemeral: EphemeralKeys | None = None,
        lent: Iterable[str] = (),
    ) -> None:
        self._app = app
        self._keys = keys
        self._is_public = PathTable([(path, True) for path in public], default=False)
        self._is_readable = PathTable([(path, True) for path in readable], default=False)
        self._refusals = refusals
        self._sources = PathTable(_merged(sources), default=KeySources())
        self._ephemeral = EphemeralKeys() if ephemeral is None else ephemeral
        self._is_lent = PathTable([(path, True) for path in lent], default=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            sources = self._sources[scope["path"]]
            key = sources.take(scope)
            try:
                self._admit(scope, key, sources)
            except AuthenticationError as error:
                await self._refusals.send(error, scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _admit(self, scope: Scope, key: bytes | None, sources: KeySources) -> None:
        path, state = scope["path"], HTTPConnection(scope).state
        grant = self._ephemeral.grant(key) if key and self._is_lent[path] else None
        if grant is not None:
            state.owner, state.grant = grant.owner, grant
            return
        if self._keys is None or self._is_public[path]:
            return
        reads_list = scope.get("method") in ("GET", "HEAD") and self._is_readable[path]
        state.owner = NOBODY if key is None and reads_list else self._keys.owner(key or b"", sources.advice(scope))


def _merged(rows: Iterable[tuple[str, KeySources]]) -> Iterable[tuple[str, KeySources]]:
    """One row a pattern: doors that share a path may each have their own places for keys."""
    merged: dict[str, KeySources] = {}
    for pattern, sources in rows:
        merged[pattern] = merged.get(pattern, KeySources()) | sources
    return merged.items()


def owner_of(key: str) -> str:
    """The owner id of a key's voices. It is the same as long as the key is, and does not reveal the key."""
    return hashlib.blake2b(key.encode(), digest_size=16, person=b"polyvox-owner").hexdigest()


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
