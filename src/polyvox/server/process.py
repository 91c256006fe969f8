"""The server process: its sockets, an event loop, and a shutdown that lets open streams finish."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Protocol

import structlog
from fastapi import FastAPI
from uvicorn.loops.auto import auto_loop_factory

from polyvox.api.app import create_app
from polyvox.api.dialects.wyoming.server import WyomingServer, check_wyoming_exposure
from polyvox.api.middleware.hosts import check_exposure, names_to_answer
from polyvox.config import Settings
from polyvox.engines.base import Engine
from polyvox.errors import UnavailableError
from polyvox.extras import GRANIAN, GRPC
from polyvox.runtime.device_executor import HANDOVER_SECONDS
from polyvox.server.certificate import Certificate
from polyvox.server.connection_limits import ConnectionLimits, LimitReports
from polyvox.server.descriptors import connection_capacity, raise_descriptor_limit
from polyvox.server.heap import return_large_blocks
from polyvox.server.socket_watch import SocketWatch
from polyvox.server.welcome import welcome
from polyvox.service.local_service import build_service
from polyvox.service.registry.model_loader import Absence
from polyvox.service.registry.registry import Outline
from polyvox.service.speech import SpeechService
from polyvox.service.telemetry.logs import configure_logging
from polyvox.service.voices.voices import VoiceService

if TYPE_CHECKING:
    from polyvox.api.dialects.grpc.server import GrpcServer

BACKLOG = 2_048

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class HttpServer(Protocol):
    """An HTTP server for the application."""

    async def serve(self, on_start: Callable[[], None], on_stop: Callable[[], None]) -> None:
        """Serve until SIGINT or SIGTERM; `on_stop` is called on the signal."""


class SideServer(Protocol):
    """A server beside HTTP, on the same event loop."""

    async def start(self) -> None: ...

    async def close(self) -> None:
        """Let what is under way finish, and end."""


def run_server(
    settings: Settings,
    engines: Mapping[str, Callable[[Settings], Engine]],
    absence: Absence | None = None,
    outline: Outline | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM. The address is bound first, so that a second server fails at once."""
    configure_logging(settings)
    check_exposure(settings)
    check_wyoming_exposure(settings)
    certificate = Certificate.of(settings)
    sys.setswitchinterval(HANDOVER_SECONDS)
    return_large_blocks()
    with (
        listening_socket(settings.host, settings.port) as listener,
        asyncio.Runner(loop_factory=auto_loop_factory()) as runner,
    ):
        service = build_service(settings, engines, absence, outline)
        runner.run(_serve(service, listener, certificate))


async def _serve(service: SpeechService, listener: socket.socket, certificate: Certificate | None) -> None:
    """Load the models first, so that a missing one is an error message and not a server that answers 503."""
    settings = service.settings
    voices = VoiceService.for_service(service)
    app = create_app(service, voices, allowed_hosts=names_to_answer(settings))
    descriptors = raise_descriptor_limit()
    capacity = connection_capacity(settings, descriptors)
    url = url_of(listener, "http" if certificate is None else "https")
    http = http_server(app, listener, service, capacity, descriptors, certificate)
    others = SideServers(service, voices, capacity, descriptors)
    greeting = welcome(url, others.addresses, settings, on_terminal=sys.stdout.isatty())
    await service.start()
    try:
        service.registry.engine(None)
        async with app.router.lifespan_context(app), others.running(app.state.jobs) as stop_others:
            await http.serve(lambda: print(greeting, flush=True), stop_others)
    finally:
        await service.close()


class SideServers:
    """The servers beside HTTP that the settings ask for, bound to their ports."""

    def __init__(self, service: SpeechService, voices: VoiceService, capacity: int, descriptors: int) -> None:
        self._service = service
        self._capacity = capacity
        self.addresses: dict[str, str] = {}
        """By the names of their protocols."""
        self._grpc = _grpc_server(service, voices, capacity)
        if self._grpc is not None and service.settings.grpc_port is not None:
            self.addresses["gRPC"] = self._grpc.bind(service.settings.grpc_port)
        self._wyoming = _wyoming_server(service, voices, descriptors)
        if self._wyoming is not None:
            self.addresses["Wyoming"] = self._wyoming.address

    @asynccontextmanager
    async def running(self, *others: SideServer) -> AsyncIterator[Callable[[], None]]:
        """Run them and others for the block; calling what it yields starts their shutdown."""
        async with _running(self._grpc, self._wyoming, *others) as stop:
            with _grpc_watched(self._grpc, self._service, self._capacity):
                yield stop


@asynccontextmanager
async def _running(*servers: SideServer | None) -> AsyncIterator[Callable[[], None]]:
    """Run the servers that there are for the block; calling what it yields starts their shutdown."""
    stopped = asyncio.Event()

    async def close_when_stopped(server: SideServer) -> None:
        await stopped.wait()
        await server.close()

    closing: list[asyncio.Task[None]] = []
    try:
        for server in servers:
            if server is not None:
                await server.start()
                closing.append(asyncio.create_task(close_when_stopped(server)))
        yield stopped.set
    finally:
        stopped.set()
        await asyncio.gather(*closing)


def _grpc_watched(grpc: "GrpcServer | None", service: SpeechService, capacity: int) -> AbstractContextManager[None]:
    if grpc is None:
        return nullcontext()
    return SocketWatch(grpc.port, capacity, service.settings, LimitReports(service.metrics)).watching()


def http_server(
    app: FastAPI,
    listener: socket.socket,
    service: SpeechService,
    capacity: int,
    descriptors: int,
    certificate: Certificate | None,
) -> HttpServer:
    """The server of the settings on a listening socket."""
    if service.settings.server == "granian":
        GRANIAN.check()
        from polyvox.server.granian_server import GranianServer

        return GranianServer(app, listener, service, BACKLOG, capacity, certificate)
    from polyvox.server.uvicorn_server import UvicornServer

    return UvicornServer(app, listener, service, descriptors, certificate)


def _grpc_server(service: SpeechService, voices: VoiceService, capacity: int) -> "GrpcServer | None":
    if service.settings.grpc_port is None:
        return None
    GRPC.check()
    from polyvox.api.dialects.grpc.server import GrpcServer

    return GrpcServer(service, voices, capacity)


def _wyoming_server(service: SpeechService, voices: VoiceService, descriptors: int) -> WyomingServer | None:
    settings = service.settings
    if settings.wyoming_port is None:
        return None
    reports = LimitReports(service.metrics)
    limits = ConnectionLimits(settings, reports, descriptors)
    listener = listening_socket(settings.wyoming_host, settings.wyoming_port, "--wyoming-host or --wyoming-port")
    return WyomingServer(service, voices, listener, limits, reports.closed)


def listening_socket(host: str, port: int, options: str = "--host or --port") -> socket.socket:
    """A listening socket; UnavailableError with the reason where the address cannot be bound."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnavailableError(
            f"Cannot listen on {host} port {port}: {reason}; choose another with {options}."
        ) from error


def url_of(listener: socket.socket, scheme: str) -> str:
    host, port = listener.getsockname()[:2]
    return f"{scheme}://[{host}]:{port}" if listener.family == socket.AF_INET6 else f"{scheme}://{host}:{port}"
