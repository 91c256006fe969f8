"""The check of the Origin header: web pages of other origins may use the server only where the settings say so.

A browser asks by CORS before it sends JSON to another origin, but sends forms and opens WebSockets without asking.
"""

from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from polyvox.api.dependencies import Service
from polyvox.api.refusals import Refusals
from polyvox.errors import ForbiddenError

_ANY = "*"


class OriginCheck:
    """Middleware that refuses WebSockets to pages of other origins than the server's own and those allowed."""

    def __init__(self, app: ASGIApp, allowed: Sequence[str], refusals: Refusals) -> None:
        self._app = app
        self._allowed = allowed
        self._refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if scope["type"] == "websocket":
                check_origin(Headers(scope=scope), self._allowed)
        except ForbiddenError as error:
            await self._refusals.send(error, scope, receive, send)
            return
        await self._app(scope, receive, send)


async def refuse_foreign_pages(connection: HTTPConnection, service: Service) -> None:
    """Dependency of routes that take forms: keep pages of other origins from changing anything."""
    if connection.scope["type"] == "http" and connection.scope["method"] not in ("GET", "HEAD"):
        check_origin(connection.headers, service.settings.cors_origins)


def check_origin(headers: Headers, allowed: Sequence[str]) -> None:
    """Refuse a request from a page of another origin than the server's own and those allowed."""
    origin = headers.get("origin")
    if origin is None or origin in allowed or _ANY in allowed or _host_of(origin) == headers.get("host"):
        return
    raise ForbiddenError("Pages of this origin may not do that; the setting cors_origins names those that may.")


def _host_of(origin: str) -> str:
    """Host and port of an origin; empty where it is none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""
