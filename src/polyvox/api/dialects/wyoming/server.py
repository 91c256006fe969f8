"""The Wyoming server: its connections, their limits, and a shutdown that lets speech finish."""

import asyncio
import socket
from collections.abc import Callable
from typing import Protocol

import structlog

from polyvox.api.dialects.wyoming.connection import WyomingConnection
from polyvox.api.dialects.wyoming.discovery import Announcement
from polyvox.api.dialects.wyoming.event import LINE_BYTES, Event, EventError, EventReader, EventWriter
from polyvox.api.middleware.hosts import is_loopback
from polyvox.config import Settings
from polyvox.errors import ForbiddenError, PolyvoxError, StalledError, status_of
from polyvox.service.keys.accounts import asks_for_keys
from polyvox.service.keys.client_addresses import ClientAddresses
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class Abortable(Protocol):
    """The part of a connection that limits use."""

    def abort(self) -> None: ...


class Admission(Protocol):
    """The limits on connections: how many there may be, and which one makes room for another."""

    def admit(self, connection: Abortable, host: str | None, descriptor: int) -> bool: ...

    def serve(self, connection: Abortable) -> None: ...

    def wait(self, connection: Abortable) -> None: ...

    def remove(self, connection: Abortable) -> None: ...


def check_wyoming_exposure(settings: Settings) -> None:
    """Refuse to let other machines in, since the protocol knows no keys, unless the settings say so."""
    if settings.wyoming_port is None or is_loopback(settings.wyoming_host) or settings.wyoming_allow_without_key:
        return
    if settings.insecure and not asks_for_keys(settings):
        return
    raise ForbiddenError(
        f"Wyoming has no keys, so that every machine could use a server on {settings.wyoming_host}. Allow that with "
        "--wyoming-allow-without-key (POLYVOX_WYOMING_ALLOW_WITHOUT_KEY=true), or leave out --wyoming-host.",
        field="wyoming_host",
    )


class WyomingServer:
    """Answers Wyoming on a listening socket, on the running event loop. The caller closes the services.

    `report` is told the limit because of which a connection is closed.
    """

    def __init__(
        self,
        service: SpeechService,
        voices: VoiceService,
        listener: socket.socket,
        admission: Admission,
        report: Callable[[str], None],
    ) -> None:
        self._service = service
        self._voices = voices
        self._listener = listener
        self._admission = admission
        self._report = report
        self._clients = ClientAddresses(service.settings.trusted_proxies)
        self._connections: dict[asyncio.Task[None], WyomingConnection] = {}
        self._server: asyncio.Server | None = None
        self._closing = False
        self._announcement = Announcement(listener) if service.settings.wyoming_mdns else None

    @property
    def address(self) -> str:
        """The address at which it listens, as Wyoming's clients write it."""
        host, port = self._listener.getsockname()[:2]
        return f"tcp://[{host}]:{port}" if ":" in host else f"tcp://{host}:{port}"

    async def start(self) -> None:
        """Answer from now on."""
        self._server = await asyncio.start_server(self._serve, sock=self._listener, limit=LINE_BYTES)
        if self._announcement is not None:
            await self._announcement.start()

    async def close(self) -> None:
        """Take no more connections, let speech finish for `drain_seconds`, then end the rest."""
        self._closing = True
        if self._announcement is not None:
            await self._announcement.close()
        if self._server is not None:
            self._server.close()
        if busy := [asyncio.create_task(each.finish()) for each in self._connections.values() if not each.is_idle]:
            _, late = await asyncio.wait(busy, timeout=self._service.settings.drain_seconds)
            for task in late:
                task.cancel()
        for connection in self._connections.values():
            connection.stop()
        if self._connections:
            await asyncio.wait(list(self._connections))

    async def _serve(self, stream: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        transport = answers.transport
        host = str((transport.get_extra_info("peername") or ("",))[0])
        if self._closing or not self._admission.admit(transport, host, transport.get_extra_info("socket").fileno()):
            transport.abort()
            return
        task = asyncio.current_task()
        assert task is not None
        body, recording = (self._service.bodies.open(self._clients.group(host)) for _ in range(2))
        writer = EventWriter(answers, self._service.settings.stall_seconds)
        reader = EventReader(stream, body, self._service.settings)
        turns = _Turns(self._admission, transport)
        connection = WyomingConnection(self._service, self._voices, reader, writer, turns, host, recording)
        self._connections[task] = connection
        try:
            await self._answer(connection, writer)
        finally:
            self._connections.pop(task)
            self._admission.remove(transport)
            body.close()
            recording.close()
            answers.close()

    async def _answer(self, connection: WyomingConnection, writer: EventWriter) -> None:
        """Run a connection and report its end. Home Assistant reads no errors, only that the connection is closed."""
        try:
            await connection.run()
        except ConnectionError as error:
            log.debug("client left", door="wyoming", reason=str(error))
        except (EventError, StalledError) as error:
            self._report("invalid" if isinstance(error, EventError) else "idle")
            await _tell(writer, error)
        except PolyvoxError as error:
            log.warning("connection closed", door="wyoming", reason=error.message, code=status_of(error).code)
            await _tell(writer, error)
        except Exception:
            log.exception("connection failed", door="wyoming")
            await _tell(writer, PolyvoxError("The server failed; its log has the cause."))


class _Turns:
    """Tells the limits whether a connection waits for its client."""

    def __init__(self, admission: Admission, transport: Abortable) -> None:
        self._admission = admission
        self._transport = transport

    def busy(self) -> None:
        self._admission.serve(self._transport)

    def idle(self) -> None:
        self._admission.wait(self._transport)


async def _tell(writer: EventWriter, error: PolyvoxError) -> None:
    try:
        await writer.send(Event("error", {"text": error.message, "code": status_of(error).code}))
    except ConnectionError:
        log.debug("client left before it could be told of an error", door="wyoming")
