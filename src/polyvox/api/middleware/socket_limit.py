"""The limit on WebSockets that one client may have open at a time."""

from collections import Counter

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from polyvox.api.dependencies import call_of
from polyvox.api.refusals import Refusals
from polyvox.config import Settings
from polyvox.errors import OverloadedError
from polyvox.service.admission.open_counts import OpenCounts
from polyvox.service.keys.client_addresses import ClientAddresses
from polyvox.service.telemetry.metrics import Metrics
from polyvox.voices.records import SHARED_OWNER

_RETRY_SECONDS = 5.0


class SocketLimit:
    """Middleware that refuses a handshake with 429 where its key or address has too many WebSockets open.

    Without a key, loopback and trusted proxies are many people's address, so that only the limit on connections holds.
    """

    def __init__(
        self, app: ASGIApp, settings: Settings, metrics: Metrics, refusals: Refusals, counts: OpenCounts
    ) -> None:
        self._app = app
        self._counts = counts
        self._limit = settings.max_sockets_per_client
        self._addresses = ClientAddresses(settings.trusted_proxies)
        self._refusals = refusals
        self._open: Counter[str | None] = Counter()
        metrics.watch_sockets(lambda: self._open.total())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        client = self._counted_client(scope)
        name = f"sockets {client}"
        if client is not None and self._open[client] + self._counts.elsewhere(name) >= self._limit:
            error = OverloadedError(
                f"You have {self._limit} WebSockets open, as many as one key or address may have; close one, or use "
                "several contexts on one of them.",
                retry_after=_RETRY_SECONDS,
            )
            await self._refusals.send(error, scope, receive, send)
            return
        self._open[client] += 1
        self._counts.add(name, 1)
        try:
            await self._app(scope, receive, send)
        finally:
            self._open[client] -= 1
            self._counts.add(name, -1)
            if not self._open[client]:
                del self._open[client]

    def _counted_client(self, scope: Scope) -> str | None:
        has_key = getattr(HTTPConnection(scope).state, "owner", SHARED_OWNER) != SHARED_OWNER
        address = scope.get("client")
        if not has_key and self._addresses.group(address[0] if address else None) is None:
            return None
        return call_of(scope).client
