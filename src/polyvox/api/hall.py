"""How a route gets at the hall, and for whom it asks."""

from typing import Annotated

from fastapi import Depends, Request

from polyvox.service.speech import SpeechService
from polyvox.service.voices import VoiceService
from polyvox.voices.records import SHARED_OWNER


async def _service_of(request: Request) -> SpeechService:
    service = request.app.state.service
    assert isinstance(service, SpeechService)
    return service


async def _voices_of(request: Request) -> VoiceService:
    voices = request.app.state.voices
    assert isinstance(voices, VoiceService)
    return voices


async def _owner_of(request: Request) -> str:
    return getattr(request.state, "owner", SHARED_OWNER)


Hall = Annotated[SpeechService, Depends(_service_of)]
Voices = Annotated[VoiceService, Depends(_voices_of)]
Owner = Annotated[str, Depends(_owner_of)]
