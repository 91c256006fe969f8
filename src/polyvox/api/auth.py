"""Bearer keys: asked for when the settings name any, and the owners' marks of what is registered with them."""

import hashlib
import hmac
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from polyvox.api.errors import error_response
from polyvox.errors import AuthenticationError

OPEN_PATHS = frozenset({"/", "/health", "/ready", "/docs", "/openapi.json", "/v1/model/cosyvoice/healthcheck"})
"""What needs no key: probes, and pages that say only what the source code says."""


class Keys:
    """The keys that a server takes, without the keys."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._owners = {_digest(key.encode()): owner_of(key) for key in keys if key}

    def owner(self, authorization: str) -> str:
        """Whose key a value of `Authorization` holds; `AuthenticationError` where it holds none of them."""
        scheme, _, key = authorization.partition(" ")
        digest = _digest(key.strip().encode("latin-1"))  # the bytes as they came: a header is read as Latin-1
        # Every key is compared, each in constant time, so that the answer's delay tells nothing about any of them.
        matches = [owner for known, owner in self._owners.items() if hmac.compare_digest(digest, known)]
        if not matches or scheme.lower() != "bearer":
            raise AuthenticationError("This server asks for a key: send it as 'Authorization: Bearer KEY'.")
        return matches[0]


class BearerAuth:
    """Middleware that lets a request pass with one of the keys in `Authorization: Bearer KEY` and notes whose it is."""

    def __init__(self, app: ASGIApp, keys: Sequence[str]) -> None:
        self._app = app
        self._keys = Keys(keys)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        try:
            Request(scope).state.owner = self._keys.owner(Headers(scope=scope).get("authorization", ""))
        except AuthenticationError as error:
            await error_response(error, scope)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def owner_of(key: str) -> str:
    """The mark that a key's voices carry. It stays the same as long as the key does, and does not give the key away."""
    return hashlib.blake2b(key.encode(), digest_size=16, person=b"polyvox-owner").hexdigest()


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
