"""Uvicorn in this process: the default HTTP server."""

import contextlib
import math
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp

from polyvox.cli.guarded_http import GuardedConfig
from polyvox.service.speech import SpeechService


class UvicornServer:
    """Serves an application on a listening socket."""

    def __init__(self, app: ASGIApp, listener: socket.socket, service: SpeechService, descriptors: int) -> None:
        settings = service.settings
        self._listener = listener
        self._config = GuardedConfig(
            app,
            service,
            descriptors,
            lifespan="off",  # run by the caller, since the gRPC server needs it too
            log_config=None,
            log_level="debug" if settings.log_level == "debug" else "warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=math.ceil(settings.drain_seconds),
        )

    async def serve(self, on_start: Callable[[], None], on_stop: Callable[[], None]) -> None:
        """Serve until SIGINT or SIGTERM, then let open streams finish."""
        await _Server(self._config, on_start, on_stop).serve(sockets=[self._listener])


class _Server(uvicorn.Server):
    """A server with callbacks for start and stop, for which a signal is a normal end."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None], on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start
        self._on_stop = on_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stop()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle the signals. They are not raised again at the end: the engines are still to be closed."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
