"""The server as a process: a socket, an event loop, and an end that lets open streams finish."""

import asyncio
import contextlib
import ipaddress
import math
import signal
import socket
from collections.abc import Callable, Iterator, Mapping

import structlog
import uvicorn

from polyvox.api.app import create_app
from polyvox.cli.hall import build_service
from polyvox.config import Settings
from polyvox.engines.base import Engine
from polyvox.errors import UnavailableError
from polyvox.service.logs import configure_logging
from polyvox.service.speech import SpeechService

BACKLOG = 2_048

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


def run_server(settings: Settings, engines: Mapping[str, Callable[[Settings], Engine]]) -> None:
    """Serve until a signal says stop. The address is taken first, so that a second server fails at once."""
    configure_logging(settings)
    _warn_if_open_to_others(settings)
    with _listener(settings.host, settings.port) as listener:
        service = build_service(settings, engines)
        config = uvicorn.Config(
            create_app(service),
            log_config=None,
            log_level="debug" if settings.log_level == "debug" else "warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=math.ceil(settings.drain_seconds),
        )
        server = _Server(config, f"Polyvox speaks at {_url(listener)} (Ctrl-C stops it).")
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(_serve(service, server, listener))


async def _serve(service: SpeechService, server: "_Server", listener: socket.socket) -> None:
    """Load first, so that a model that is not there is a plain error and not a server that answers 503."""
    await service.start()
    try:
        service.registry.engine(None)
        await server.serve(sockets=[listener])
    finally:
        await service.close()


class _Server(uvicorn.Server):
    """A server that says when it is ready, and for which being told to stop is a good end."""

    def __init__(self, config: uvicorn.Config, greeting: str) -> None:
        super().__init__(config)
        self._greeting = greeting

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            print(self._greeting, flush=True)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the signals for a while. They are not raised again at the end: the engines have yet to be closed."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _listener(host: str, port: int) -> socket.socket:
    """A socket at the address, or one sentence on why not."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnavailableError(
            f"Cannot listen on {host} port {port}: {reason}; choose another with --host or --port."
        ) from error


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if listener.family == socket.AF_INET6 else f"http://{host}:{port}"


def _warn_if_open_to_others(settings: Settings) -> None:
    if settings.api_keys or _is_loopback(settings.host):
        return
    log.warning("open to others without a key", host=settings.host, remedy="set POLYVOX_API_KEYS, or bind to 127.0.0.1")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
