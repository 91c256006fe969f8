"""Granian in this process: it speaks HTTP in Rust, on threads of its own, and hands requests to this event loop."""

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

# To the process's own log and nowhere else; below an error, it only tells that it starts and stops.
_LOGGING: dict[str, Any] = {"formatters": {}, "handlers": {}, "loggers": {"_granian": {"propagate": True}}}


class GranianServer:
    """Serves an application on a socket that listens already."""

    def __init__(self, app: ASGIApp, listener: socket.socket, backlog: int) -> None:
        self._app = app
        self._listener = listener
        self._backlog = backlog

    async def serve(self, on_start: Callable[[], None], on_stop: Callable[[], None]) -> None:
        """Answer until a signal says stop."""
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
            raise UnavailableError("granian ended by itself; the log has the cause.")


class EmbeddedGranian(Server):
    """Granian on a socket that is handed over to it.

    By itself it would bind a port that others may bind as well, so that a second server took half of the requests. The
    application's lifespan is not its business either: gRPC's doors live within it, too.
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
