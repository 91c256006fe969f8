"""Granian in this process: HTTP in Rust on its own threads, requests on this event loop."""

import asyncio
import signal
import socket
from collections.abc import Callable
from typing import Any, cast

from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces, SSLProtocols
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.embed import Server
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from polyvox.config import Settings
from polyvox.errors import UnavailableError
from polyvox.server.certificate import Certificate
from polyvox.server.connection_limits import LimitReports
from polyvox.server.socket_watch import SocketWatch
from polyvox.server.unread import end_unread
from polyvox.service.speech import SpeechService

# To the process's own log only; below errors it reports nothing but start and stop.
_LOGGING: dict[str, Any] = {"formatters": {}, "handlers": {}, "loggers": {"_granian": {"propagate": True}}}


class GranianServer:
    """Serves an application on a listening socket.

    Granian stops accepting at its capacity. A `SocketWatch` sees to it that silent connections do not take it up.
    """

    def __init__(
        self,
        app: ASGIApp,
        listener: socket.socket,
        service: SpeechService,
        backlog: int,
        capacity: int,
        certificate: Certificate | None = None,
    ) -> None:
        settings = service.settings
        self._app = _behind_proxies(app, settings)
        self._listener = listener
        self._settings = settings
        self._backlog = backlog
        self._capacity = capacity
        self._certificate = certificate
        end_unread(listener, settings.stall_seconds)
        port = listener.getsockname()[1]
        self._watch = SocketWatch(port, capacity, settings, LimitReports(service.metrics))
        service.metrics.watch_connections(lambda: self._watch.count)

    async def serve(self, on_start: Callable[[], None], on_stop: Callable[[], None]) -> None:
        """Serve until SIGINT or SIGTERM."""
        with self._watch.watching():
            await self._serve(on_start, on_stop)

    async def _serve(self, on_start: Callable[[], None], on_stop: Callable[[], None]) -> None:
        server = EmbeddedGranian(
            self._app,
            self._listener,
            self._backlog,
            http1_options(self._settings),
            self._capacity,
            self._certificate,
        )
        server.on_startup(on_start)

        def stop() -> None:
            on_stop()
            server.stop()  # type: ignore[no-untyped-call]

        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
        try:
            await server.serve()
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
        if not server.interrupt_signal:
            raise UnavailableError("granian stopped unexpectedly; see the log, or serve with --server uvicorn.")


def _behind_proxies(app: ASGIApp, settings: Settings) -> ASGIApp:
    """The application, told by trusted proxies who calls, as uvicorn does it by itself."""
    trusted = [str(network) for network in settings.trusted_proxies]
    wrapped: Any = ProxyHeadersMiddleware(cast(Any, app), ["127.0.0.1", "::1", *trusted])
    return cast(ASGIApp, wrapped) if trusted else app


def http1_options(settings: Settings) -> HTTP1Settings:
    """Limits on headers. The time for headers is also that for the next request."""
    return HTTP1Settings(
        header_read_timeout=round(1000 * settings.header_timeout_seconds), max_buffer_size=settings.max_header_bytes
    )


def _tls_options(certificate: Certificate | None) -> dict[str, Any]:
    if certificate is None:
        return {}
    return {"ssl_cert": certificate.chain, "ssl_key": certificate.key, "ssl_protocol_min": SSLProtocols.tls12}


class EmbeddedGranian(Server):
    """Granian on a given socket.

    It would otherwise bind a port that others may bind as well, and a second server would take half of the requests.
    The caller runs the application's lifespan, since the gRPC server needs it too.
    """

    def __init__(
        self,
        app: ASGIApp,
        listener: socket.socket,
        backlog: int,
        http1: HTTP1Settings | None = None,
        capacity: int | None = None,
        certificate: Certificate | None = None,
    ) -> None:
        super().__init__(
            app,
            interface=Interfaces.ASGINL,
            http=HTTPModes.http1,  # with both versions allowed, a silent connection has no deadline
            http1_settings=http1,
            backlog=backlog,
            backpressure=capacity,
            log_level=LogLevels.error,
            log_dictconfig=_LOGGING,
            **_tls_options(certificate),
        )
        self._holder = SocketHolder(listener.detach(), False, backlog)  # type: ignore[call-arg]

    def _init_shared_socket(self) -> None:
        self._ssp, self._shd = None, self._holder  # type: ignore[assignment]
