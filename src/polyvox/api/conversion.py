"""Voice conversion: what a recording says, said in another voice."""

from functools import partial
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field, StrictBool

from polyvox.api.body import off_the_loop
from polyvox.api.forms import either_way, read_fields, refuse_foreign_pages
from polyvox.api.hall import Hall, Owner, Voices
from polyvox.api.openai import SPEECH_ERRORS
from polyvox.api.schemas import Integer, Number, RequestBody
from polyvox.api.streaming import AudioFile, AudioStream, SpeechResponse
from polyvox.audio.encode import AudioFormat, parse_format
from polyvox.errors import InvalidRequestError
from polyvox.service.convert import ConvertRecording, cannot_convert
from polyvox.service.speech import SpeechRequest, SpeechService
from polyvox.types import Utterance
from polyvox.voices.references import InlineVoice, parse_reference

router = APIRouter(prefix="/v1", tags=["speech"], dependencies=[Depends(refuse_foreign_pages)])

_AUDIO: dict[int | str, dict[str, Any]] = {
    200: {"description": "The audio.", "content": {audio.media_type: {} for audio in AudioFormat}}
}
_FILE = "file"


class ConversionBody(RequestBody):
    """Who is to say what the recording says, and how it is sent."""

    model: str | None = Field(
        None, description="A model of `GET /v1/models` that can convert; the default one if absent."
    )
    voice: str = Field(
        description="A voice of the model or of `/v1/voices`, or a recording as `base64+...` or `url+https://...`."
    )
    response_format: str = Field("mp3", description=f"One of {', '.join(AudioFormat)}.")
    speed: Number = Field(1.0, ge=0.25, le=4.0, description="1 is the recording's own pace.")
    stream: StrictBool = Field(True, description="false: answer once, with Content-Length, when all is done.")
    seed: Integer | None = Field(None, ge=0, lt=2**63, description="Same seed, same sound.")
    sample_rate: Integer | None = Field(
        None, ge=8_000, le=48_000, description="Sample rate of the audio; the engine's own if absent."
    )


_FORM = either_way(ConversionBody, _FILE)
_FORM["requestBody"]["content"].pop("application/json")


@router.post("/audio/conversion", response_class=Response, responses=_AUDIO | SPEECH_ERRORS, openapi_extra=_FORM)
async def convert_recording(request: Request, hall: Hall, voices: Voices, owner: Owner) -> SpeechResponse:
    """Say what a recording says in another voice. The body is a form with the recording as its `file`."""
    fields = await read_fields(request, _FILE)
    body = fields.parsed(ConversionBody)
    audio = parse_format(body.response_format)
    if fields.file is None:
        raise InvalidRequestError("'file' is required: send the recording as a file in a form.", field=_FILE)
    _check_model(hall, body.model)
    read = partial(parse_reference, max_bytes=hall.settings.prompt_max_bytes)
    target = await off_the_loop(body.voice, read)
    source = partial(voices.source, InlineVoice(fields.file), _FILE)
    asked = SpeechRequest(
        Utterance("", body.voice[:80], speed=body.speed, seed=body.seed),
        model=body.model,
        sample_rate=body.sample_rate,
        door="conversion",
        resolve_voice=partial(voices.resolver.resolve, target, owner, model=body.model, wordless=True, pairs=False),
        kind=ConvertRecording(source, hall.settings.prompt_max_seconds, body.speed),
    )
    return SpeechResponse(hall, asked, AudioStream(audio) if body.stream else AudioFile(audio))


def _check_model(hall: SpeechService, model: str | None) -> None:
    """Refuse a model that cannot convert before a voice is made ready for it."""
    known = hall.registry.model(model)
    if known.capabilities is not None and not known.capabilities.conversion:
        raise cannot_convert(known.id)
