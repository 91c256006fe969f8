"""The HTTP application: the doors, and the middleware that every request and WebSocket passes."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from polyvox import __version__
from polyvox.api import admin
from polyvox.api.docs_page import install_docs
from polyvox.api.door import Door
from polyvox.api.doors import DOORS
from polyvox.api.errors import UnexpectedErrors, install_handlers
from polyvox.api.middleware.auth import BearerAuth
from polyvox.api.middleware.body_intake import BodyIntake
from polyvox.api.middleware.call_contexts import CallContexts
from polyvox.api.middleware.ephemeral_keys import EphemeralKeys
from polyvox.api.middleware.hosts import HostCheck
from polyvox.api.middleware.key_lifetime import KeyLifetime
from polyvox.api.middleware.origins import OriginCheck
from polyvox.api.middleware.request_ids import RequestIds
from polyvox.api.middleware.request_traces import RequestTraces
from polyvox.api.middleware.route_operations import RouteOperations
from polyvox.api.middleware.size_limit import SizeLimit, largest_message
from polyvox.api.middleware.socket_limit import SocketLimit
from polyvox.api.openapi import describe_access
from polyvox.api.paths import PathSharing, PathTable
from polyvox.api.refusals import Refusals
from polyvox.api.responses.streaming import PUBLIC_HEADERS
from polyvox.api.speech_refusals import SpeechRefusals
from polyvox.service.jobs.downloads import Downloads
from polyvox.service.jobs.service import JobService
from polyvox.service.keys.operations import Operation
from polyvox.service.provenance_checks import ProvenanceChecks
from polyvox.service.registry.browser_export import BrowserExport
from polyvox.service.registry.model_pulls import ModelPulls
from polyvox.service.speech import SpeechService
from polyvox.service.voices.fitting import FittingService
from polyvox.service.voices.voices import VoiceService
from polyvox.text.detect import load_detector
from polyvox.text.normalize import load_normalizers

_DESCRIPTION = """
One speech server for many text-to-speech models, behind the APIs that people already call.

An error is `{"error": {"message", "type", "param", "code"}}`, and `param` names the field at fault. The paths of other
servers answer with the errors that their clients know.
"""
_DOCS, _OPENAPI = "/docs", "/openapi.json"


def create_app(
    service: SpeechService,
    voices: VoiceService | None = None,
    fitting: FittingService | None = None,
    *,
    doors: Sequence[Door] = DOORS,
    allowed_hosts: Sequence[str] | None = None,
) -> FastAPI:
    """The application for one service, which it starts and closes unless it has been started already.

    It starts and closes the voices and their fits itself; those of the settings unless others are given. With
    `allowed_hosts`, only calls to an address, to localhost or to these host names are answered.
    """
    doors = [door for door in doors if door.is_open(service.settings)]
    refusals = Refusals(row for door in doors for row in door.wordings.items())
    public = _public(doors)
    app = _Application(
        refusals,
        public,
        title="Polyvox",
        version=__version__,
        description=_DESCRIPTION,
        openapi_tags=_tags(doors),
        lifespan=_lifespan,
        docs_url=None,
        openapi_url=_OPENAPI,
        redoc_url=None,
    )
    app.state.service = service
    app.state.voices = VoiceService.for_service(service) if voices is None else voices
    app.state.fitting = FittingService(service.settings, app.state.voices) if fitting is None else fitting
    app.state.jobs = JobService.for_service(service, app.state.voices)
    app.state.pulls = ModelPulls(service.settings)
    app.state.browser_export = BrowserExport(service.settings.models_dir)
    app.state.downloads = Downloads(service.settings)
    app.state.provenance_checks = ProvenanceChecks(service)
    app.state.ephemeral_keys = EphemeralKeys(service.accounts.access)
    operations = RouteOperations(route_operations(doors).items())
    app.state.lifespans = [door.lifespan for door in doors if door.lifespan is not None]
    app.state.adapters = [door.adapter for door in doors if door.adapter is not None]
    app.state.refusals = refusals
    app.state.exposition = partial(admin.exposition, service)
    app.state.field_names = PathTable([row for door in doors for row in door.field_names.items()], default={})
    install_handlers(app, refusals, SpeechRefusals(((door.name, door.operations) for door in doors), service.metrics))
    _install_middleware(app, service, doors, refusals, public, operations)
    service.metrics.expect([door.name for door in doors if _speaks(door)], service.settings.models)
    if allowed_hosts is not None:
        app.add_middleware(HostCheck, names=allowed_hosts, refusals=refusals)
    if service.tracer is not None:
        app.add_middleware(RequestTraces, tracer=service.tracer, untraced=[*public, *admin.UNTRACED])
    app.add_middleware(RequestIds)
    known = [row.partition(" ")[2] for row in route_operations(doors)]
    app.add_middleware(PathSharing, shared=[door.shared for door in doors if door.shared is not None], known=known)
    # Not by include_router: FastAPI would build each route again when the first request comes, which takes 0.1 s.
    for router in (*(door.router for door in doors), admin.router):
        app.router.routes.extend(router.routes)
    install_docs(app, _DOCS)
    operations.check(app.router.routes)
    return app


class _Application(FastAPI):
    """FastAPI, whose document describes the errors that are answered and the key that is asked for."""

    def __init__(self, refusals: Refusals, public: Sequence[str], **options: Any) -> None:  # noqa: ANN401 - FastAPI's
        super().__init__(**options)
        self._refusals = refusals
        self._public = public

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            describe_access(super().openapi(), self._refusals, self._public)
        return super().openapi()


def _speaks(door: Door) -> bool:
    return Operation.SPEAK in door.operations.values()


def _public(doors: Sequence[Door]) -> list[str]:
    """Paths that need no key."""
    return [*admin.PUBLIC, _DOCS, _OPENAPI, *(path for door in doors for path in door.public)]


def route_operations(doors: Sequence[Door]) -> dict[str, Operation]:
    """The operations of all routes, by method and path."""
    documents = dict.fromkeys((f"GET {path}" for path in (_DOCS, _OPENAPI)), Operation.PROBE)
    return {**documents, **admin.OPERATIONS, **{row: each for door in doors for row, each in door.operations.items()}}


def _tags(doors: Sequence[Door]) -> list[dict[str, str]]:
    tags = {name: text for door in doors for name, text in door.tags.items()} | admin.TAGS
    return [{"name": name, "description": text} for name, text in tags.items()]


def _install_middleware(
    app: FastAPI,
    service: SpeechService,
    doors: Sequence[Door],
    refusals: Refusals,
    public: Sequence[str],
    operations: RouteOperations,
) -> None:
    """The one added last is passed first: CORS outermost, so that web pages can read refusals too."""
    settings = service.settings
    larger = [(path, largest_message(settings)) for door in doors for path in door.recordings]
    heard = settings.max_body_bytes + settings.listen_max_bytes
    larger += [(path, heard) for door in doors for path in door.long_recordings]
    book = settings.max_body_bytes + settings.max_manuscript_bytes
    larger += [(path, book) for door in doors for path in door.manuscripts]
    app.add_middleware(SizeLimit, limit=settings.max_body_bytes, larger=larger, refusals=refusals)
    app.add_middleware(BodyIntake, settings=settings, bodies=service.bodies)
    app.add_middleware(
        SocketLimit, settings=settings, metrics=service.metrics, refusals=refusals, counts=service.open_counts
    )
    app.add_middleware(CallContexts, max_wait=settings.max_wait_seconds, refusals=refusals)
    app.add_middleware(KeyLifetime, calls=service.accounts.calls, refusals=refusals)
    app.add_middleware(
        BearerAuth,
        keys=service.accounts.keyring,
        public=public,
        refusals=refusals,
        readable=[path for door in doors for path in door.lists] if settings.public_lists else [],
        sources=[row for door in doors for row in door.keys.items()],
        ephemeral=app.state.ephemeral_keys,
        lent=[path for door in doors for path in door.ephemeral],
        operations=operations,
    )
    app.add_middleware(OriginCheck, allowed=settings.cors_origins, refusals=refusals)
    app.add_middleware(UnexpectedErrors, refusals=refusals)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["*"],
            expose_headers=(*PUBLIC_HEADERS, *(header for door in doors for header in door.headers)),
        )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: SpeechService = app.state.service
    voices: VoiceService = app.state.voices
    await asyncio.to_thread(load_normalizers)
    await asyncio.to_thread(load_detector)
    async with AsyncExitStack() as stack:
        if "server" in service.ready.reasons:
            await service.start()
            stack.push_async_callback(service.close)
        service.warm_up()
        await stack.enter_async_context(service.metrics.recent.kept())
        await voices.start()
        stack.push_async_callback(voices.close)
        stack.push_async_callback(app.state.fitting.close)
        for lifespan in app.state.lifespans:
            await stack.enter_async_context(lifespan(app))
        yield
