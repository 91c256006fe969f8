"""Dependencies of routes: the services, the caller, and the dialects that share a path."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection
from starlette.types import Scope

from polyvox.api.requests.speech_requests import SpeechAdapter
from polyvox.service.call_context import CallContext
from polyvox.service.jobs.downloads import Downloads
from polyvox.service.provenance_checks import ProvenanceChecks
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService


def call_of(scope: Scope) -> CallContext:
    """The call context of a request or WebSocket."""
    call = HTTPConnection(scope).state.call
    assert isinstance(call, CallContext)
    return call


async def _service_of(connection: HTTPConnection) -> SpeechService:
    service = connection.app.state.service
    assert isinstance(service, SpeechService)
    return service


async def _voices_of(connection: HTTPConnection) -> VoiceService:
    voices = connection.app.state.voices
    assert isinstance(voices, VoiceService)
    return voices


async def _call_of(connection: HTTPConnection) -> CallContext:
    return call_of(connection.scope)


async def _owner_of(connection: HTTPConnection) -> str:
    return call_of(connection.scope).owner


async def _adapters_of(connection: HTTPConnection) -> Sequence[SpeechAdapter]:
    return tuple(connection.app.state.adapters)


async def _downloads_of(connection: HTTPConnection) -> Downloads:
    downloads = connection.app.state.downloads
    assert isinstance(downloads, Downloads)
    return downloads


async def _checks_of(connection: HTTPConnection) -> ProvenanceChecks:
    checks = connection.app.state.provenance_checks
    assert isinstance(checks, ProvenanceChecks)
    return checks


Service = Annotated[SpeechService, Depends(_service_of)]
Voices = Annotated[VoiceService, Depends(_voices_of)]
Call = Annotated[CallContext, Depends(_call_of)]
Owner = Annotated[str, Depends(_owner_of)]
DownloadStore = Annotated[Downloads, Depends(_downloads_of)]
Checks = Annotated[ProvenanceChecks, Depends(_checks_of)]
Adapters = Annotated[Sequence[SpeechAdapter], Depends(_adapters_of)]
