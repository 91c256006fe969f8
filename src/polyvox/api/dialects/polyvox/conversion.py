"""Voice conversion: a recording's words in another voice."""

from functools import partial
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from polyvox.api.body_format import audio_body
from polyvox.api.dependencies import Owner, Service, Voices
from polyvox.api.dialects.openai.door import SPEECH_ERRORS
from polyvox.api.door import Door
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.requests.body import off_the_loop
from polyvox.api.requests.fields import Boolean, Integer, RequestBody, Speed
from polyvox.api.requests.forms import json_or_form, read_fields
from polyvox.api.responses.streaming import SpeechResponse
from polyvox.audio.encode import AudioFormat, parse_format
from polyvox.errors import InvalidRequestError
from polyvox.service.keys.operations import Operation
from polyvox.service.kinds.convert import ConvertRecording, cannot_convert
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import Utterance
from polyvox.voices.references import InlineVoice, parse_reference

router = APIRouter(prefix="/v1", tags=["speech"], dependencies=[Depends(refuse_foreign_pages)])

_AUDIO: dict[int | str, dict[str, Any]] = {
    200: {"description": "The audio.", "content": {audio.media_type: {} for audio in AudioFormat}}
}
_NAME = "conversion"
_FILE = "file"


class ConversionBody(RequestBody):
    """The target voice, and how the audio is sent."""

    model: str | None = Field(
        None, description="A model of `GET /v1/models` that can convert; the default one if absent."
    )
    voice: str = Field(
        description="A voice of the model or of `/v1/voices`, or a recording as `base64+...` or `url+https://...`."
    )
    response_format: str = Field("mp3", description=f"One of {', '.join(AudioFormat)}.")
    speed: Speed = Field(1.0, description="1 is the recording's own pace.")
    stream: Boolean = Field(True, description="false: answer once, with Content-Length, when all is done.")
    seed: Integer | None = Field(None, ge=0, lt=2**63, description="Same seed, same sound.")
    sample_rate: Integer | None = Field(
        None, ge=8_000, le=48_000, description="Sample rate of the audio; the engine's own if absent."
    )


_FORM = json_or_form(ConversionBody, _FILE)
_FORM["requestBody"]["content"].pop("application/json")


@router.post("/audio/conversion", response_class=Response, responses=_AUDIO | SPEECH_ERRORS, openapi_extra=_FORM)
async def convert_recording(request: Request, service: Service, voices: Voices, owner: Owner) -> SpeechResponse:
    """Convert a recording to another voice. The body is a form with the recording as its `file`."""
    fields = await read_fields(request, _FILE)
    body = fields.parsed(ConversionBody)
    audio = parse_format(body.response_format)
    if fields.file is None:
        raise InvalidRequestError("'file' is required: send the recording as a file in a form.", field=_FILE)
    _check_model(service, body.model)
    read = partial(parse_reference, max_bytes=service.settings.prompt_max_bytes)
    target = await off_the_loop(body.voice, read)
    source = partial(voices.source, InlineVoice(fields.file), _FILE, owner)
    asked = SpeechRequest(
        Utterance("", body.voice[:80], speed=body.speed, seed=body.seed),
        model=body.model,
        sample_rate=body.sample_rate,
        door=_NAME,
        resolve_voice=partial(voices.resolver.resolve, target, owner, model=body.model, wordless=True, pairs=False),
        kind=ConvertRecording(source, service.settings.prompt_max_seconds, body.speed),
    )
    return SpeechResponse(service, asked, audio_body(audio, stream=body.stream))


def _check_model(service: SpeechService, model: str | None) -> None:
    """Refuse a model that cannot convert before a voice is prepared for it."""
    known = service.registry.model(model)
    if known.capabilities is not None and not known.capabilities.conversion:
        raise cannot_convert(known.id)


DOOR = Door(
    _NAME,
    router,
    recordings=["/v1/audio/conversion*"],
    operations={
        "POST /v1/audio/conversion": Operation.CONVERT,
    },
)
