"""The check of the Host header, which keeps web pages from using a local server through DNS rebinding."""

import ipaddress
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from polyvox.api.refusals import Refusals
from polyvox.errors import ForbiddenError

ANY = "*"


class HostCheck:
    """Middleware that answers calls to an IP address, to `localhost` or to one of the given names, and no others.

    In DNS rebinding, the owner of a name lets it lead to a visitor's own machine once the visitor's browser has loaded
    a page from it. To the browser that page and this server are then one origin, and no rule about other origins holds.
    The page cannot change the name that the browser calls, though.
    """

    def __init__(self, app: ASGIApp, names: Sequence[str], refusals: Refusals) -> None:
        self._app = app
        self._names = frozenset(name.lower() for name in names)
        self._refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and not self._is_allowed(Headers(scope=scope).get("host", "")):
            error = ForbiddenError(
                "This server may not be called by this host name; call 127.0.0.1, or add the name to the setting "
                "'allowed_hosts'."
            )
            await self._refusals.send(error, scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_allowed(self, host: str) -> bool:
        name = name_of(host).lower()
        own = not name or name == "localhost" or name.endswith(".localhost") or is_address(name)
        return own or ANY in self._names or name in self._names


def name_of(host: str) -> str:
    """The name or address in a Host header, without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def is_address(name: str) -> bool:
    """Whether it is an IP address, which cannot be rebound."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
