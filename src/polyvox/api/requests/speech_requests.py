"""From a body of `/v1/audio/speech` to a request of the service."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from polyvox.api.body_format import BodyFormat, audio_body
from polyvox.api.requests.body import off_the_loop
from polyvox.api.requests.schemas import SpeechBody
from polyvox.config import Settings
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.voices import VoiceService
from polyvox.voices.references import RegisteredVoice, parse_reference


@dataclass(frozen=True, slots=True)
class SpeechVariant:
    """A speech request after a dialect has applied its own rules."""

    body: SpeechBody
    """With the dialect's own defaults."""
    body_format: BodyFormat
    door: str | None = None
    """The door that logs and metrics name; None for the one that was called."""
    tune: Callable[[SpeechRequest], SpeechRequest] = lambda request: request
    """Adds what only this dialect or its model takes."""


class SpeechAdapter(Protocol):
    """A dialect that shares the path `/v1/audio/speech` with others."""

    def __call__(self, body: SpeechBody, settings: Settings) -> SpeechVariant | None:
        """The request by this dialect's rules; None for a request that is not in this dialect."""


def variant_of(body: SpeechBody, settings: Settings, adapters: Iterable[SpeechAdapter]) -> SpeechVariant:
    """The request by the rules of the first dialect that claims it, else unchanged."""
    for adapter in adapters:
        if (variant := adapter(body, settings)) is not None:
            return variant
    return SpeechVariant(body, audio_body(body.audio_format, stream=body.stream))


async def speech_request(
    body: SpeechBody, door: str, service: SpeechService, voices: VoiceService, owner: str
) -> SpeechRequest:
    """The request for the service; its voice may be a registered one, or a recording that it carries."""
    request = body.speech_request(door)
    read = partial(parse_reference, max_bytes=service.settings.prompt_max_bytes)
    reference = await off_the_loop(body.voice_name, read) if body.voice_name else RegisteredVoice("")
    resolve_voice = partial(voices.resolver.resolve, reference, owner, model=request.model, transcript=body.prompt_text)
    markup = replace(request.markup, resolve_voice=voices.resolver.by_name(owner, request.model))
    return replace(request, resolve_voice=resolve_voice, markup=markup, owner=owner)
