"""Granian in this process: HTTP in Rust on its own threads, requests on this event loop."""

import asyncio
import signal
import socket
from collections.abc import Callable
from typing import Any

from granian._granian import SocketHolder
from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server.embed import Server
from starlette.types import ASGIApp

from polyvox.errors import UnavailableError

# To the process's own log only; below errors it reports nothing but start and stop.
_LOGGING: dict[str, Any] = {"formatters": {}, "handlers": {}, "loggers": {"_granian": {"propagate": True}}}


class GranianServer:
    """Serves an application on a listening socket."""

    def __init__(self, app: ASGIApp, listener: socket.socket, backlog: int) -> None:
        self._app = app
        self._listener = listener
        self._backlog = backlog

    async def serve(self, on_start: Callable[[], None], on_stop: Callable[[], None]) -> None:
        """Serve until SIGINT or SIGTERM."""
        server = EmbeddedGranian(self._app, self._listener, self._backlog)
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


class EmbeddedGranian(Server):
    """Granian on a given socket.

    It would otherwise bind a port that others may bind as well, and a second server would take half of the requests.
    The caller runs the application's lifespan, since the gRPC server needs it too.
    """

    def __init__(self, app: ASGIApp, listener: socket.socket, backlog: int) -> None:
        super().__init__(
            app,
            interface=Interfaces.ASGINL,
            backlog=backlog,
            log_level=LogLevels.error,
            log_dictconfig=_LOGGING,
        )
        self._holder = SocketHolder(listener.detach(), False, backlog)  # type: ignore[call-arg]

    def _init_shared_socket(self) -> None:
        self._ssp, self._shd = None, self._holder  # type: ignore[assignment]
