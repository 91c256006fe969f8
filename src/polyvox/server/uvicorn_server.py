"""Uvicorn in this process: the default HTTP server."""

import contextlib
import math
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from functools import partial

import uvicorn
from starlette.types import ASGIApp

from polyvox.server.certificate import Certificate
from polyvox.server.guarded_config import GuardedConfig
from polyvox.server.guarded_http import GuardedHttp
from polyvox.server.guarded_websocket import GuardedWebSocket
from polyvox.server.tls_listener import TlsListener
from polyvox.service.speech import SpeechService


class UvicornServer:
    """Serves an application on a listening socket, by https where there is a certificate."""

    def __init__(
        self,
        app: ASGIApp,
        listener: socket.socket,
        service: SpeechService,
        descriptors: int,
        certificate: Certificate | None = None,
    ) -> None:
        settings = service.settings
        self._certificate = certificate
        self._listener = listener
        self._config = GuardedConfig(
            app,
            service,
            descriptors,
            http=GuardedHttp,
            ws=GuardedWebSocket,
            lifespan="off",  # run by the caller, since the gRPC server needs it too
            log_config=None,
            log_level="debug" if settings.log_level == "debug" else "warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=math.ceil(settings.drain_seconds),
        )

    async def serve(self, on_start: Callable[[], None], on_stop: Callable[[], None]) -> None:
        """Serve until SIGINT or SIGTERM, then let open streams finish."""
        await GuardedServer(self._config, self._certificate, on_start, on_stop).serve(sockets=[self._listener])


class GuardedServer(uvicorn.Server):
    """A server with callbacks for start and stop, for which a signal is a normal end."""

    config: GuardedConfig

    def __init__(
        self,
        config: GuardedConfig,
        certificate: Certificate | None = None,
        on_start: Callable[[], None] = lambda: None,
        on_stop: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(config)
        self._certificate = certificate
        self._on_start = on_start
        self._on_stop = on_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if self._certificate is None:
            await super().startup(sockets)
        else:
            await super().startup([])
            self.servers += [self._with_tls(each, self._certificate) for each in sockets or ()]  # type: ignore[misc]
        if self.started:
            self._on_start()

    def _with_tls(self, listener: socket.socket, certificate: Certificate) -> TlsListener:
        protocol = partial(GuardedHttp, self.config, self.server_state, self.lifespan.state)
        return TlsListener(listener, certificate.context, self.config, protocol)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stop()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle the signals. They are not raised again at the end: the engines are still to be closed."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
