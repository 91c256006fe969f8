"""How a request's `voice` reaches the hall."""

from dataclasses import replace
from functools import partial

from polyvox.api.body import off_the_loop
from polyvox.api.schemas import SpeechBody
from polyvox.service.speech import SpeechRequest, SpeechService
from polyvox.service.voices import VoiceService
from polyvox.voices.references import parse_reference


async def cast_request(
    body: SpeechBody, door: str, hall: SpeechService, voices: VoiceService, owner: str
) -> SpeechRequest:
    """The request in the hall's words, its voice possibly one that its caller has registered or brings along."""
    request = body.speech_request(hall.settings, door)
    if not body.voice_name:
        return request
    read = partial(parse_reference, max_bytes=hall.settings.prompt_max_bytes)
    reference = await off_the_loop(body.voice_name, read)
    cast = partial(voices.casting.cast, reference, owner, model=request.model, transcript=body.prompt_text)
    return replace(request, cast=cast)
