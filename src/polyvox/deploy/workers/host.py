"""The process of the engines: the models, the one admission, and everything that several processes share."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakSet

import structlog
from fastapi import FastAPI
from prometheus_client import Metric

from polyvox.api import admin
from polyvox.api.app import create_app
from polyvox.api.middleware.hosts import names_to_answer
from polyvox.config import Settings
from polyvox.deploy.merged_metrics import counted, exposition_of, families_in, summed
from polyvox.deploy.workers.calls import ArrivingText, AskCall, HostedEngines, StreamCall, TicketCalls
from polyvox.deploy.workers.forwarding import answer_forwarded
from polyvox.deploy.workers.parts import ServerParts
from polyvox.deploy.workers.peer import Peer, Shared
from polyvox.deploy.workers.wire import GONE, STOPPED, Channel
from polyvox.server.descriptors import connection_capacity, raise_descriptor_limit
from polyvox.server.process import SideServers
from polyvox.service.admission.controller import AdmissionController
from polyvox.service.admission.open_counts import CountTable, OpenCounts
from polyvox.service.common_parts import CommonParts
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

    def __init__(self, settings: Settings, parts: ServerParts, counts: OpenCounts) -> None:
        metrics = Metrics()
        admission = AdmissionController.of(settings, metrics.waited)
        registry = Registry(settings, parts.engines, absence=parts.absence, outline=parts.outline)
        tracer = open_tracer(settings, metrics.spans_dropped)
        common = replace(CommonParts.of(settings, metrics), admission=admission, open_counts=counts)
        self.service = SpeechService(settings, registry, metrics, tracer, common=common)
        self.voices = VoiceService.for_service(self.service)
        self.app: FastAPI = create_app(self.service, self.voices, allowed_hosts=names_to_answer(settings))
        self.app.state.exposition = self._exposition
        self._tickets = TicketCalls(registry, admission)
        self._engines = HostedEngines(self.service)
        self._admission = admission
        self._shared = Shared(self.service, admission, self.app.state.downloads)
        self._peers: set[Peer] = set()
        self._ended: dict[str, Metric] = {}
        self._channels: WeakSet[Channel] = WeakSet()
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        metrics.recent.source = lambda: self._families().values()

    @asynccontextmanager
    async def listening(self, socket: Path) -> AsyncIterator[None]:
        """Answer on a socket for as long as the block lasts; it appears once it is answered."""
        waiting = socket.with_suffix(".new")
        waiting.unlink(missing_ok=True)
        loop = asyncio.get_running_loop()
        server = await loop.create_unix_server(self._channel, str(waiting), backlog=_BACKLOG)
        waiting.chmod(0o600)
        waiting.replace(socket)
        watching = asyncio.create_task(self._watch(), name="watch models")
        try:
            yield
        finally:
            watching.cancel()
            server.close()
            self.hang_up()

    async def left_alone(self) -> None:
        """Wait until no process of doors is connected."""
        await self._idle.wait()

    def hang_up(self) -> None:
        """Close all connections."""
        for channel in list(self._channels):
            channel.close()

    def _channel(self) -> Channel:
        channel = Channel(self._take)
        self._channels.add(channel)
        return channel

    def _free(self, channel: Channel) -> None:
        channel.on_message = self._take

    def _take(self, channel: Channel, message: Any) -> None:  # noqa: ANN401 - whatever was sent
        """Begin the call that the first message of a free connection asks for."""
        if message is GONE:
            return
        kind, *rest = message
        if kind == "stream":
            self._stream(channel, *rest)
        elif kind == "enter":
            self._tickets.enter(channel, self._free, *rest)
        elif kind == "ask":
            AskCall(channel, self._free, self._engines.answer(*rest))
        elif kind == "control":
            self._join(channel, *rest)
        elif kind == "asgi":
            channel.on_message = None
            self._started(self._forwarded(channel, *rest))
        elif kind == "stop":  # of a call that had ended by itself
            channel.write(STOPPED)
        elif kind not in ("next", "text"):
            raise ValueError(f"there is no call {kind!r}")

    def _stream(
        self, channel: Channel, model: str, method: str, arguments: Sequence[Any], ticket: str, takes_text: bool
    ) -> None:
        def items(text: ArrivingText) -> AsyncGenerator[object, None]:
            return self._engines.items(model, method, (text, *arguments) if takes_text else arguments)

        StreamCall(channel, self._free, items, self._tickets.tickets.get(ticket))

    def _started(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _join(self, channel: Channel, worker: int) -> None:
        """Listen to a process of doors until it ends; what it held is free then, and its counts are kept."""
        peer = Peer(channel, self._shared)
        self._peers.add(peer)
        self._idle.clear()
        log.info("doors joined", worker=worker)

        def take(channel: Channel, message: Any) -> None:  # noqa: ANN401 - whatever was sent
            if message is not GONE:
                peer.take(*message)
                return
            self._peers.discard(peer)
            peer.close()
            self._ended = summed([self._ended, counted(peer.families)])
            log.info("doors left", worker=worker)
            if not self._peers:
                self._idle.set()

        channel.on_message = take
        self._started(self._introduce(peer))

    async def _introduce(self, peer: Peer) -> None:
        peer.write("profiles", await self._engines.profiles())

    async def _forwarded(self, channel: Channel, scope: dict[str, Any]) -> None:
        try:
            if self._shared.reads_downloads(scope):
                await self._all_told()
            await answer_forwarded(channel, self.app, scope)
        except OSError:
            log.debug("a process of doors has left in the middle of a request")
        except Exception:
            log.exception("a request has failed")
        finally:
            channel.close()

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
    settings: Settings,
    parts: ServerParts,
    socket: Path,
    counts: CountTable,
    ready: Callable[[dict[str, str]], None],
) -> None:
    """Serve the doors' processes until SIGTERM, and then until the last of them has ended.

    `ready` is told the addresses of servers beside HTTP, which this process runs.
    """
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    host = EngineHost(settings, parts, counts.row(0))
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
