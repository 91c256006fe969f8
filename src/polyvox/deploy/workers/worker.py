"""A process of doors: HTTP, text and encoding before engines in another process."""

import asyncio
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import structlog

from polyvox.api import admin
from polyvox.api.app import create_app
from polyvox.api.doors import DOORS
from polyvox.api.middleware.hosts import names_to_answer
from polyvox.config import Settings
from polyvox.deploy.messages import EngineProfile
from polyvox.deploy.remote_engine import RemoteEngine, ReplicaLostError, remote_engine
from polyvox.deploy.workers.control import Control
from polyvox.deploy.workers.forwarding import Forwarding
from polyvox.deploy.workers.link import NEARBY, Link, LinkTransport, engines_restart, raised
from polyvox.deploy.workers.parts import ServerParts
from polyvox.deploy.workers.remote_accounts import RemoteCounters, RemoteLedger
from polyvox.deploy.workers.remote_admission import RemoteAdmission
from polyvox.engines.base import Engine
from polyvox.errors import PolyvoxError
from polyvox.server.certificate import Certificate
from polyvox.server.descriptors import connection_capacity, raise_descriptor_limit
from polyvox.server.process import http_server
from polyvox.service.admission.open_counts import CountTable
from polyvox.service.cache.model_fingerprint import ModelFingerprints
from polyvox.service.common_parts import CommonParts
from polyvox.service.jobs.downloads import Downloads
from polyvox.service.keys.accounts import Accounts
from polyvox.service.registry.registry import Registry
from polyvox.service.speech import SpeechService
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.telemetry.tracer_choice import open_tracer

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class DoorEngines:
    """The engines of the other process, made here by what that process says of them."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._loop = asyncio.get_running_loop()
        self._profiles: dict[str, EngineProfile] = {}
        self._made: dict[str, RemoteEngine] = {}
        self._faults: dict[str, PolyvoxError] = {}

    async def learn(self, models: Iterable[str]) -> None:
        """Ask for models that have to be known before the first request, also for why they are not there."""
        for model in models:
            if model not in self._profiles:
                try:
                    self._profiles[model] = await self._describe(model)
                except PolyvoxError as error:
                    self._faults[model] = error

    def know(self, profiles: Mapping[str, EngineProfile]) -> None:
        """Take over what has become of the models."""
        self._profiles.update(profiles)
        for model, profile in profiles.items():
            if model in self._made:
                self._made[model].update(profile)

    def make(self, model: str, settings: Settings) -> Engine:
        """The engine of a model; one that is not loaded there is loaded, for which a thread waits."""
        if model in self._faults:
            raise self._faults.pop(model)
        profile = self._profiles.get(model)
        if profile is None:
            asked = asyncio.run_coroutine_threadsafe(self._describe(model), self._loop)
            profile = asked.result(settings.model_load_seconds)
        engine = self._made[model] = remote_engine(profile, LinkTransport(model, self._link), NEARBY)
        return engine

    async def _describe(self, model: str) -> EngineProfile:
        try:
            profile = raised(await LinkTransport(model, self._link).ask("describe"))
        except ReplicaLostError:
            raise engines_restart() from None
        assert isinstance(profile, EngineProfile)
        return profile


class RemoteFingerprints(ModelFingerprints):
    """Fingerprints of models as the process that has loaded them finds them."""

    async def of(self, model: str, engine: Engine) -> str:
        assert isinstance(engine, RemoteEngine)
        return engine.profile.fingerprint


class SharedDownloads(Downloads):
    """Files that are made here and fetched from the process of the engines."""

    def __init__(self, settings: Settings, control: Control) -> None:
        super().__init__(settings)
        self._control = control

    def add(self, name: str, owner: str, media_type: str, data: bytes) -> None:
        self.release(len(data))
        self._control.tell("download", name, owner, media_type, data)


def door_settings(settings: Settings, models: int) -> Settings:
    """The settings of one of several processes: its part of the memory, and models that the other process unloads."""
    parts = settings.workers
    return settings.model_copy(
        update={
            "max_pending_body_bytes": max(settings.max_pending_body_bytes // parts, settings.max_body_bytes),
            "max_buffered_bytes": settings.max_buffered_bytes // parts,
            "recording_cache_bytes": settings.recording_cache_bytes // parts,
            "prepared_cache_bytes": settings.prepared_cache_bytes // parts,
            "max_loaded_models": models if settings.max_loaded_models else 0,
            "model_idle_seconds": 0.0,
        }
    )


async def run_worker(
    settings: Settings,
    parts: ServerParts,
    number: int,
    listener: socket.socket,
    host: Path,
    counts: CountTable,
    ready: Callable[[], None],
) -> None:
    """Serve HTTP on a listening socket until SIGTERM, with the engines behind another."""
    own = door_settings(settings, len(parts.engines))
    metrics = Metrics()
    link = Link(host)
    control = Control(host, number, lambda: admin.exposition(service))
    engines = DoorEngines(link)
    control.on_profiles = engines.know
    registry = Registry(
        own,
        {model: partial(engines.make, model) for model in parts.engines},
        absence=parts.absence,
        outline=parts.outline,
    )
    counters = None if settings.limits_url is not None else RemoteCounters(control)
    accounts = Accounts(own, metrics, counters, partial(RemoteLedger, control))
    tracer = open_tracer(own, metrics.spans_dropped)
    service = SpeechService(
        own,
        registry,
        metrics,
        tracer,
        common=CommonParts(RemoteAdmission(link, control), accounts, RemoteFingerprints(own), counts.row(number)),
    )
    doors = [replace(door, lifespan=None) for door in DOORS]  # those of one process run in the other
    app = create_app(service, doors=doors, allowed_hosts=names_to_answer(own))
    app.state.downloads = SharedDownloads(own, control)
    app.add_middleware(
        Forwarding, link=link, doors=[door for door in doors if door.is_open(own)], refusals=app.state.refusals
    )
    descriptors = raise_descriptor_limit()
    capacity = connection_capacity(own, descriptors)
    http = http_server(app, listener, service, capacity, descriptors, Certificate.of(own))
    control.start()
    await control.connected.wait()
    await engines.learn(own.models)
    await service.start()
    try:
        async with app.router.lifespan_context(app):
            await http.serve(ready, lambda: None)
    finally:
        await service.close()
        await control.close()
        link.close()
