"""From a body of Cartesia's to a request of the service."""

import re
from dataclasses import replace

from polyvox.api.dialects.cartesia.bodies import EventsBody, GenerationBody
from polyvox.api.dialects.cartesia.settings import CartesiaSettings
from polyvox.api.requests.speech_body import SpeechBody
from polyvox.api.requests.speech_requests import speech_request
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import PhonemeNeed, SpeechRequest
from polyvox.service.voices.voices import VoiceService

NAME = "cartesia"
"""The door in logs and metrics."""

FIELD_NAMES = {
    "input": "transcript",
    "model": "model_id",
    "lang_code": "language",
    "speed": "generation_config.speed",
    "volume": "generation_config.volume",
    "sample_rate": "output_format.sample_rate",
}

_SONIC = re.compile(r"sonic(-[\w.-]*)?", re.IGNORECASE)


async def cartesia_request(
    body: GenerationBody, service: SpeechService, voices: VoiceService, owner: str
) -> SpeechRequest:
    """The request for the service, with the voice that the settings name for one of Cartesia's."""
    known = service.settings.section(CartesiaSettings).voice_map
    voice = body.voice.id and known.get(body.voice.id.lower(), body.voice.id)
    model = None if body.model_id is None or _SONIC.fullmatch(body.model_id) else body.model_id
    spoken = SpeechBody.model_validate(
        {
            "input": body.transcript,
            "model": model,
            "voice": voice,
            "speed": body.pace,
            "volume_multiplier": body.volume,
            "lang_code": _language(body, service, model, voice),
            "sample_rate": body.output_format.sample_rate,
            "instructions": None if body.emotion is None else f"Speak in a {body.emotion} tone.",
            "normalization_options": {"normalize": False} if body.normalization == "off" else None,
        }
    )
    request = await speech_request(spoken, NAME, service, voices, owner)
    if not isinstance(body, EventsBody):
        return request
    phonemes = PhonemeNeed.OPTIONAL if body.add_phoneme_timestamps else PhonemeNeed.NONE
    return replace(request, words=body.add_timestamps, phonemes=phonemes)


def _language(body: GenerationBody, service: SpeechService, model: str | None, voice: str | None) -> str | None:
    """The language that is asked for; None where the voice's own is a variety of it, as British English is of `en`."""
    asked = body.locale or body.language
    if asked is None or "-" in asked or not service.registry.model(model).available:
        return asked
    own = next((known.language for known in service.registry.voices(model) if known.id == voice), "")
    return None if own.partition("-")[0] == asked.lower() else asked
