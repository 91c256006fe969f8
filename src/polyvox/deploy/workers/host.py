"""The process of the engines: the models, the one admission, and everything that several processes share."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import structlog
from fastapi import FastAPI
from prometheus_client import Metric

from polyvox.api import admin
from polyvox.api.app import create_app
from polyvox.api.middleware.hosts import names_to_answer
from polyvox.config import Settings
from polyvox.deploy.merged_metrics import counted, exposition_of, families_in, summed
from polyvox.deploy.workers.calls import GONE, EngineCalls, Inbox, TicketCalls
from polyvox.deploy.workers.forwarding import answer_forwarded
from polyvox.deploy.workers.parts import ServerParts
from polyvox.deploy.workers.peer import Peer, Shared
from polyvox.deploy.workers.wire import STOPPED, Connection
from polyvox.server.descriptors import connection_capacity, raise_descriptor_limit
from polyvox.server.process import SideServers
from polyvox.service.admission.controller import AdmissionController
from polyvox.service.registry.registry import Registry
from polyvox.service.speech import SpeechService
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.telemetry.tracer_choice import open_tracer
from polyvox.service.voices.voices import VoiceService

_POLL_SECONDS = 1.0
_METRICS_SECONDS = 5.0
_BACKLOG = 1_024
_LAST_SECONDS = 15.0
"""Time beyond the drain of the doors in which this process ends at the latest."""

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class EngineHost:
    """Answers the calls of the processes of doors."""

    def __init__(self, settings: Settings, parts: ServerParts) -> None:
        metrics = Metrics()
        admission = AdmissionController.of(settings, metrics.waited)
        registry = Registry(settings, parts.engines, absence=parts.absence, outline=parts.outline)
        tracer = open_tracer(settings, metrics.spans_dropped)
        self.service = SpeechService(settings, registry, metrics, tracer, admission=admission)
        self.voices = VoiceService.for_service(self.service)
        self.app: FastAPI = create_app(self.service, self.voices, allowed_hosts=names_to_answer(settings))
        self.app.state.exposition = self._exposition
        self._tickets = TicketCalls(self.service, admission)
        self._engines = EngineCalls(self.service, self._tickets)
        self._admission = admission
        self._shared = Shared(self.service, admission, self.app.state.downloads)
        self._peers: set[Peer] = set()
        self._ended: dict[str, Metric] = {}
        self._connections: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        metrics.recent.source = lambda: self._families().values()

    @asynccontextmanager
    async def listening(self, socket: Path) -> AsyncIterator[None]:
        """Answer on a socket for as long as the block lasts; it appears once it is answered."""
        waiting = socket.with_suffix(".new")
        waiting.unlink(missing_ok=True)
        server = await asyncio.start_unix_server(self._take, str(waiting), backlog=_BACKLOG)
        waiting.chmod(0o600)
        waiting.replace(socket)
        watching = asyncio.create_task(self._watch(), name="watch models")
        try:
            yield
        finally:
            watching.cancel()
            server.close()
            for connection in list(self._connections):
                connection.cancel()
            if self._connections:
                await asyncio.wait(self._connections)

    async def left_alone(self) -> None:
        """Wait until no process of doors is connected."""
        await self._idle.wait()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        connection = Connection(reader, writer)
        inbox = Inbox(connection)
        try:
            while (call := await inbox.get()) is not GONE and await self._answer(connection, inbox, *call):
                continue
        except OSError:
            log.debug("a process of doors has left in the middle of a call")
        except asyncio.CancelledError:
            log.debug("a call ends with the process of the engines")
        except Exception:
            log.exception("a call has failed")
        finally:
            self._connections.discard(task)
            await inbox.close()

    async def _answer(self, connection: Connection, inbox: Inbox, kind: str, *rest: object) -> bool:
        """Answer one call; whether the connection is free for another."""
        calls: dict[str, Callable[..., object]] = {
            "ask": self._engines.ask,
            "stream": self._engines.stream,
            "enter": self._tickets.hold,
        }
        if kind in calls:
            return bool(await calls[kind](connection, inbox, *rest))  # type: ignore[misc]
        if kind == "control":
            await self._keep(connection, inbox, *rest)
        elif kind == "asgi":
            await self._forwarded(connection, inbox, *rest)
        elif kind == "stop":  # of a call that had ended by itself
            await connection.send(STOPPED)
            return True
        elif kind in ("next", "text"):
            return True
        return False

    async def _keep(self, connection: Connection, inbox: Inbox, worker: object) -> None:
        """Listen to a process of doors until it ends; what it held is free then, and its counts are kept."""
        peer = Peer(connection, self._shared)
        self._peers.add(peer)
        self._idle.clear()
        log.info("doors joined", worker=worker)
        try:
            connection.write(("profiles", await self._engines.profiles()))
            await peer.listen(inbox)
        finally:
            self._peers.discard(peer)
            peer.close()
            self._ended = summed([self._ended, counted(peer.families)])
            log.info("doors left", worker=worker)
            if not self._peers:
                self._idle.set()

    async def _forwarded(self, connection: Connection, inbox: Inbox, scope: object) -> None:
        assert isinstance(scope, dict)
        if self._shared.reads_downloads(scope):
            await self._all_told()
        await answer_forwarded(connection, inbox, self.app, scope)

    async def _all_told(self) -> None:
        """Wait until everything has arrived that was told before now."""
        await asyncio.gather(*(peer.ask("sync") for peer in self._peers), return_exceptions=True)

    async def _watch(self) -> None:
        """Tell the doors what they know of models, when it changes."""
        known: object = None
        paces: object = None
        due = 0.0
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            profiles = await self._engines.profiles()
            pace = {model: self._admission.least_seconds(model, 1.0) for model in profiles}
            for peer in self._peers:
                if profiles != known:
                    peer.write("profiles", profiles)
                if pace != paces:
                    peer.write("pace", pace)
            known, paces = profiles, pace
            if asyncio.get_running_loop().time() >= due:
                due = asyncio.get_running_loop().time() + _METRICS_SECONDS
                await self._read_metrics()

    async def _read_metrics(self) -> None:
        await asyncio.gather(*(peer.read_metrics() for peer in self._peers))

    async def _exposition(self) -> bytes:
        """The metrics of all processes as those of one server."""
        await self.service.metrics.gpus.sample()
        await self._read_metrics()
        return exposition_of(self._families())

    def _families(self) -> dict[str, Metric]:
        own = families_in(admin.rendered(self.service))
        return summed([own, self._ended, *(peer.families for peer in self._peers)])


async def run_host(
    settings: Settings, parts: ServerParts, socket: Path, ready: Callable[[dict[str, str]], None]
) -> None:
    """Serve the doors' processes until SIGTERM, and then until the last of them has ended.

    `ready` is told the addresses of servers beside HTTP, which this process runs.
    """
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    host = EngineHost(settings, parts)
    descriptors = raise_descriptor_limit()
    servers = SideServers(host.service, host.voices, connection_capacity(settings, descriptors), descriptors)
    await host.service.start()
    try:
        host.service.registry.engine(None)
        async with (
            host.app.router.lifespan_context(host.app),
            servers.running(host.app.state.jobs) as stop_servers,
            host.listening(socket),
        ):
            log.info("models are ready", pid=os.getpid())
            ready(servers.addresses)
            await stopping.wait()
            stop_servers()
            try:
                async with asyncio.timeout(settings.drain_seconds + _LAST_SECONDS):
                    await host.left_alone()
            except TimeoutError:
                log.warning("doors do not end; the models end without them")
    finally:
        await host.service.close()
