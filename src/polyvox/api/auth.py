"""Bearer keys, asked for when the settings name any, and the owner ids of what is registered with them."""

import hashlib
import hmac
from collections.abc import Iterable, Sequence

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from polyvox.api.paths import PathTable
from polyvox.api.refusals import Refusals
from polyvox.errors import AuthenticationError

NOBODY = "nobody"
"""Owner id of callers who may read lists without a key; nothing is ever registered under it."""


class Keys:
    """The keys that a server accepts, stored as digests."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._owners = {_digest(key.encode()): owner_of(key) for key in keys if key}

    def owner(self, authorization: str) -> str:
        """The owner of the key in a value of `Authorization`; `AuthenticationError` where it holds no known key."""
        scheme, _, key = authorization.partition(" ")
        digest = _digest(key.strip().encode("latin-1"))  # the bytes as they came: a header is read as Latin-1
        # Every key is compared, each in constant time, so that the answer's delay tells nothing about any of them.
        matches = [owner for known, owner in self._owners.items() if hmac.compare_digest(digest, known)]
        if not matches or scheme.lower() != "bearer":
            raise AuthenticationError("This server asks for a key: send it as 'Authorization: Bearer KEY'.")
        return matches[0]


class BearerAuth:
    """Middleware that asks requests and WebSocket handshakes for a key, and notes its owner.

    `public` are path patterns that need none. At `readable` ones a key may be left out to read what belongs to nobody,
    but one that is sent must be right.
    """

    def __init__(
        self,
        app: ASGIApp,
        keys: Sequence[str],
        public: Iterable[str],
        refusals: Refusals,
        readable: Iterable[str] = (),
    ) -> None:
        self._app = app
        self._keys = Keys(keys)
        self._is_public = PathTable([(path, True) for path in public], default=False)
        self._is_readable = PathTable([(path, True) for path in readable], default=False)
        self._refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or self._is_public[scope["path"]]:
            await self._app(scope, receive, send)
            return
        authorization = Headers(scope=scope).get("authorization", "")
        if not authorization and scope.get("method") in ("GET", "HEAD") and self._is_readable[scope["path"]]:
            HTTPConnection(scope).state.owner = NOBODY
            await self._app(scope, receive, send)
            return
        try:
            owner = self._keys.owner(authorization)
        except AuthenticationError as error:
            await self._refusals.send(error, scope, receive, send)
            return
        HTTPConnection(scope).state.owner = owner
        await self._app(scope, receive, send)


def owner_of(key: str) -> str:
    """The owner id of a key's voices. It is the same as long as the key is, and does not reveal the key."""
    return hashlib.blake2b(key.encode(), digest_size=16, person=b"polyvox-owner").hexdigest()


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
