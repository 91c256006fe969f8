"""From a body of `/v1/audio/speech` to a request of the service."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Protocol

from polyvox.api.requests.body import off_the_loop
from polyvox.api.requests.speech_body import SpeechBody
from polyvox.config import Settings
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.voices import VoiceService
from polyvox.voices.references import RegisteredVoice, parse_reference


class SpeechAdapter(Protocol):
    """A dialect that shares the path `/v1/audio/speech` with others."""

    def __call__(self, body: SpeechBody, settings: Settings) -> SpeechBody | None:
        """The body by this dialect's rules, of a class of its own; None for a request that is not in this dialect."""


def adapted_body(body: SpeechBody, settings: Settings, adapters: Iterable[SpeechAdapter]) -> SpeechBody:
    """The body by the rules of the first dialect that claims it, else unchanged."""
    return next((mine for adapter in adapters if (mine := adapter(body, settings)) is not None), body)


async def speech_request(
    body: SpeechBody, door: str, service: SpeechService, voices: VoiceService, owner: str
) -> SpeechRequest:
    """The request for the service; its voice may be a registered one, or a recording that it carries.

    Where it leaves the model to the server, a voice that is cloned goes to one that clones.
    """
    request = body.speech_request(door)
    read = partial(parse_reference, max_bytes=service.settings.prompt_max_bytes)
    reference = await off_the_loop(body.voice_name, read) if body.voice_name else RegisteredVoice("")
    model = await voices.resolver.model_for(
        reference, owner, request.model, language=request.utterance.language, transcript=body.prompt_text
    )
    request = replace(request, model=model)
    resolve_voice = partial(
        voices.resolver.resolve,
        reference,
        owner,
        model=request.model,
        transcript=body.prompt_text,
        instructed=bool(request.utterance.instructions),
        openai_names=body.openai_names,
    )
    markup = replace(request.markup, resolve_voice=voices.resolver.by_name(owner, request.model))
    return replace(request, resolve_voice=resolve_voice, markup=markup)
