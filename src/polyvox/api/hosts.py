"""The names by which a server without keys may be called, so that no web page passes for one of its own."""

import ipaddress
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from polyvox.api.errors import error_response
from polyvox.errors import ForbiddenError

ANY = "*"


class KnownNames:
    """Middleware that answers a request to an address, to `localhost`, or to one of the given names, and no other.

    Whoever owns a name can let it lead to a visitor's own machine once the visitor's browser has loaded a page from it.
    To the browser that page and this server are then one origin, and no rule of other origins holds. The page cannot
    change the name that the browser calls, though.
    """

    def __init__(self, app: ASGIApp, names: Sequence[str]) -> None:
        self._app = app
        self._names = frozenset(name.lower() for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._knows(Headers(scope=scope).get("host", "")):
            error = ForbiddenError(
                "The server does not know the name it is called by; call 127.0.0.1, or add the name to 'allowed_hosts'."
            )
            await error_response(error, scope)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _knows(self, host: str) -> bool:
        name = name_of(host).lower()
        own = not name or name == "localhost" or name.endswith(".localhost") or is_address(name)
        return own or ANY in self._names or name in self._names


def name_of(host: str) -> str:
    """What a Host header calls, without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def is_address(name: str) -> bool:
    """Whether it is an address, which nobody can let lead elsewhere."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
