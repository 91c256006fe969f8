"""How a route gets at the hall."""

from typing import Annotated

from fastapi import Depends, Request

from polyvox.service.speech import SpeechService


async def _service_of(request: Request) -> SpeechService:
    service = request.app.state.service
    assert isinstance(service, SpeechService)
    return service


Hall = Annotated[SpeechService, Depends(_service_of)]
