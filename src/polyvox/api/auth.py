"""Bearer keys: asked for when the settings name any."""

import hashlib
import hmac
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from polyvox.api.errors import error_response
from polyvox.errors import AuthenticationError

OPEN_PATHS = frozenset({"/", "/health", "/ready", "/docs", "/openapi.json"})
"""What needs no key: probes, and pages that say only what the source code says."""


class BearerAuth:
    """Middleware that lets a request pass with one of the keys in `Authorization: Bearer KEY`."""

    def __init__(self, app: ASGIApp, keys: Sequence[str]) -> None:
        self._app = app
        self._digests = [_digest(key.encode()) for key in keys if key]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS or self._knows(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        error = AuthenticationError("This server asks for a key: send it as 'Authorization: Bearer KEY'.")
        await error_response(error)(scope, receive, send)

    def _knows(self, headers: Headers) -> bool:
        scheme, _, key = headers.get("authorization", "").partition(" ")
        digest = _digest(key.strip().encode("latin-1"))  # the bytes as they came: a header is read as Latin-1
        # Every key is compared, each in constant time, so that the answer's delay tells nothing about any of them.
        matches = [hmac.compare_digest(digest, known) for known in self._digests]
        return scheme.lower() == "bearer" and any(matches)


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
