"""Callers of a server without keys: the check of the address it is bound to, and of the Host header.

The latter keeps web pages from using a server in their visitor's network through DNS rebinding.
"""

import ipaddress
from collections.abc import Sequence

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from polyvox.api.refusals import Refusals
from polyvox.config import Settings
from polyvox.errors import ForbiddenError
from polyvox.service.keys.accounts import asks_for_keys

ANY = "*"

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


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
                "This server may not be called by this host name; call it by its IP address, or add the name to the "
                "setting 'allowed_hosts'."
            )
            await self._refusals.send(error, scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_allowed(self, host: str) -> bool:
        name = name_of(host).lower()
        own = not name or name == "localhost" or name.endswith(".localhost") or is_address(name)
        return own or ANY in self._names or name in self._names


def check_exposure(settings: Settings) -> None:
    """Refuse to let other machines use the server without keys, unless the settings say by which names, or say so."""
    if asks_for_keys(settings) or is_loopback(settings.host):
        return
    if not settings.allowed_hosts and not settings.insecure:
        raise ForbiddenError(
            f"Other machines could use a server on {settings.host} without a key. Make one with 'polyvox keys create', "
            "or set POLYVOX_API_KEYS to the keys that they must send; or set POLYVOX_ALLOWED_HOSTS to the names by "
            "which they call it; or allow it with --insecure (POLYVOX_INSECURE=true); or bind to 127.0.0.1.",
            field="host",
        )
    log.warning(
        "reachable from other machines without a key",
        host=settings.host,
        allowed_hosts=settings.allowed_hosts,
        remedy="set POLYVOX_API_KEYS, or bind to 127.0.0.1",
    )


def names_to_answer(settings: Settings) -> Sequence[str] | None:
    """The host names by which a server may be called; None where all are allowed."""
    if asks_for_keys(settings):
        return None  # a page does not know the key
    if settings.insecure and not settings.allowed_hosts and not is_loopback(settings.host):
        return None
    return settings.allowed_hosts


def is_loopback(host: str) -> bool:
    """Return whether only this machine can call a server that is bound to this address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def name_of(host: str) -> str:
    """The name or address in a Host header, without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def is_address(name: str) -> bool:
    """Return whether it is an IP address, which cannot be rebound."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
