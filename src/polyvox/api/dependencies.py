"""Dependencies of routes: the services, the caller's owner id, and the dialects that share a path."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from polyvox.api.requests.speech_requests import SpeechAdapter
from polyvox.service.jobs.downloads import Downloads
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService
from polyvox.voices.records import SHARED_OWNER


async def _service_of(connection: HTTPConnection) -> SpeechService:
    service = connection.app.state.service
    assert isinstance(service, SpeechService)
    return service


async def _voices_of(connection: HTTPConnection) -> VoiceService:
    voices = connection.app.state.voices
    assert isinstance(voices, VoiceService)
    return voices


async def _owner_of(connection: HTTPConnection) -> str:
    return getattr(connection.state, "owner", SHARED_OWNER)


async def _adapters_of(connection: HTTPConnection) -> Sequence[SpeechAdapter]:
    return tuple(connection.app.state.adapters)


async def _downloads_of(connection: HTTPConnection) -> Downloads:
    downloads = connection.app.state.downloads
    assert isinstance(downloads, Downloads)
    return downloads


Service = Annotated[SpeechService, Depends(_service_of)]
Voices = Annotated[VoiceService, Depends(_voices_of)]
Owner = Annotated[str, Depends(_owner_of)]
DownloadStore = Annotated[Downloads, Depends(_downloads_of)]
Adapters = Annotated[Sequence[SpeechAdapter], Depends(_adapters_of)]
