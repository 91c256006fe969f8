"""The API of the Ray Serve server for CosyVoice, by its earlier and its later paths: MP3 in one continuous stream."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field, StrictBool
from starlette.responses import JSONResponse

from polyvox.api.cosyvoice import speaker_names
from polyvox.api.forms import Fields, either_way, read_fields, refuse_foreign_pages
from polyvox.api.hall import Hall, Owner, Voices
from polyvox.api.inference import Inference, named_recording
from polyvox.api.schemas import Number, RequestBody, Text
from polyvox.api.streaming import AudioFile, AudioStream, SpeechResponse
from polyvox.audio.encode import AudioFormat
from polyvox.config import ForeignVariables
from polyvox.errors import InvalidRequestError, NotFoundError
from polyvox.service.speech import SpeechService
from polyvox.service.voices import VoiceService
from polyvox.voices import limits
from polyvox.voices.references import InlineVoice, UrlVoice

FOREIGN = ForeignVariables(
    "the CosyVoice Ray Serve API's",
    MappingProxyType(
        {
            "port": "serve_port",
            "ray_min_replicas": "min_replicas",
            "ray_initial_replicas": "initial_replicas",
            "ray_max_replicas": "max_replicas",
            "ray_target_ongoing_requests": "target_ongoing_requests",
            "ray_max_ongoing_requests": "max_ongoing_requests_per_replica",
            "ray_max_queued_requests": "max_queued_requests_deployment",
        }
    ),
)

router = APIRouter(tags=["CosyVoice on Ray Serve"], dependencies=[Depends(refuse_foreign_pages)])

_DOOR = "rayserve"
_PREFIX = "/v1/model/cosyvoice"
_FILE = "reference_audio"
_SAMPLE_RATE = 24_000
_HOUSE_VOICE = "qwen"
"""The voice that the original speaks with unless told otherwise."""
_NOT_KNOWN = "N/A"

_BY_NAME: Mapping[str, str | None] = MappingProxyType(
    {"input": "text", "voice": "voice_type", "instructions": "instruction", "model": None, "language": None}
)
_BY_RECORDING: Mapping[str, str | None] = MappingProxyType(
    {**_BY_NAME, "voice": _FILE, "prompt_text": "reference_text"}
)
_MP3: dict[int | str, dict[str, Any]] = {
    200: {"description": "MP3 at 24 kHz.", "content": {AudioFormat.MP3.media_type: {}}},
    400: {"description": "Something about the request will not do; `detail` says what."},
    503: {"description": "The model is not installed; `detail` names the remedy."},
}


class TtsBody(RequestBody):
    """A text to speak."""

    text: Text = Field(description="The text to speak.")
    speed: Number = Field(1.0, ge=0.5, le=2.0, description="1 is the voice's own pace.")
    stream: StrictBool = Field(False, description="true: answer while the audio is made.")


class VoiceBody(TtsBody):
    """A text for a voice of the server's."""

    voice_type: str = Field(
        _HOUSE_VOICE, description="A voice; `qwen` means the setting `default_voice` unless a voice has that name."
    )


class InstructBody(VoiceBody):
    """The same, and how to speak."""

    instruction: Text = Field(description="How to speak.")


class CrossLingualBody(TtsBody):
    """A text for the voice of a recording."""

    reference_audio: str | None = Field(
        None, description="A recording: `base64+...`, a data URL, `url+https://...`, or a file in `recording_dirs`."
    )


class ZeroShotBody(CrossLingualBody):
    """A text for the voice of a recording whose words are known."""

    reference_text: Text = Field(description="What is said in the recording.")


@router.post(f"{_PREFIX}/tts", response_class=Response, responses=_MP3, openapi_extra=either_way(VoiceBody))
@router.post("/tts", response_class=Response, responses=_MP3, openapi_extra=either_way(VoiceBody))
async def tts(request: Request, hall: Hall, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak a text."""
    body = (await _fields(request)).parsed(VoiceBody)
    inference = Inference(body.text, speaker=await _speaker(body.voice_type, hall, voices, owner))
    return _spoken(inference, body, hall, voices, owner, _BY_NAME)


@router.post(
    f"{_PREFIX}/zero_shot", response_class=Response, responses=_MP3, openapi_extra=either_way(ZeroShotBody, _FILE)
)
@router.post("/zero_shot_tts", response_class=Response, responses=_MP3, openapi_extra=either_way(ZeroShotBody, _FILE))
async def zero_shot(request: Request, hall: Hall, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak on in the voice of a recording."""
    fields = await _fields(request)
    body = fields.parsed(ZeroShotBody)
    recording = await _recording(fields, body, hall)
    inference = Inference(body.text, recording=recording, transcript=body.reference_text)
    return _spoken(inference, body, hall, voices, owner, _BY_RECORDING)


@router.post(
    f"{_PREFIX}/cross_lingual",
    response_class=Response,
    responses=_MP3,
    openapi_extra=either_way(CrossLingualBody, _FILE),
)
@router.post(
    "/cross_lingual_tts", response_class=Response, responses=_MP3, openapi_extra=either_way(CrossLingualBody, _FILE)
)
async def cross_lingual(request: Request, hall: Hall, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak any language in the voice of a recording."""
    fields = await _fields(request)
    body = fields.parsed(CrossLingualBody)
    inference = Inference(body.text, recording=await _recording(fields, body, hall))
    return _spoken(inference, body, hall, voices, owner, _BY_RECORDING)


@router.post(f"{_PREFIX}/instruct", response_class=Response, responses=_MP3, openapi_extra=either_way(InstructBody))
@router.post("/instruct_tts", response_class=Response, responses=_MP3, openapi_extra=either_way(InstructBody))
async def instruct(request: Request, hall: Hall, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak as told."""
    body = (await _fields(request)).parsed(InstructBody)
    speaker = await _speaker(body.voice_type, hall, voices, owner)
    inference = Inference(body.text, speaker=speaker, instruction=body.instruction)
    return _spoken(inference, body, hall, voices, owner, _BY_NAME)


@router.get(f"{_PREFIX}/healthcheck", include_in_schema=False)
@router.post(f"{_PREFIX}/healthcheck", responses={503: {"description": "It cannot speak; `reason` says why."}})
async def healthcheck(hall: Hall) -> JSONResponse:
    """Whether requests for speech can be answered."""
    state = hall.ready
    if not state.ok:
        return JSONResponse({"status": "unhealthy", "reason": " ".join(state.reasons.values())}, 503)
    return JSONResponse(
        {
            "status": "healthy",
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "device": _NOT_KNOWN,
            "model_loaded": True,
            "ray_actor_id": _NOT_KNOWN,
            "ray_node_id": _NOT_KNOWN,
        }
    )


@router.get("/config")
async def show_config(hall: Hall, voices: Voices, owner: Owner) -> dict[str, Any]:
    """What callers may want to know; nothing of where things are on the server."""
    return {
        "default_voice": await _speaker(_HOUSE_VOICE, hall, voices, owner),
        "available_voice_prompts": await speaker_names(hall, voices, owner),
        "sample_rate": _SAMPLE_RATE,
        "reference_audio_sample_rate": limits.SAMPLE_RATE,
        "device_in_use": _NOT_KNOWN,
        "model_id": hall.settings.default_model,
    }


def _spoken(
    inference: Inference,
    body: TtsBody,
    hall: SpeechService,
    voices: VoiceService,
    owner: str,
    names: Mapping[str, str | None],
) -> SpeechResponse:
    paced = replace(inference, speed=body.speed, sample_rate=_SAMPLE_RATE)
    layout = AudioStream(AudioFormat.MP3) if body.stream else AudioFile(AudioFormat.MP3)
    return SpeechResponse(hall, paced.request(_DOOR, hall.settings, voices, owner), layout, names)


async def _fields(request: Request) -> Fields:
    """The body's fields; the original took numbers and truth values that were written out in JSON, too."""
    return replace(await read_fields(request, _FILE, plain=True), is_form=True)


async def _recording(fields: Fields, body: CrossLingualBody, hall: SpeechService) -> InlineVoice | UrlVoice:
    if fields.file is not None:
        return InlineVoice(fields.file)
    if body.reference_audio is None:
        raise InvalidRequestError(f"'{_FILE}' is required: send the recording as a file.", field=_FILE)
    return await named_recording(body.reference_audio, hall.settings, _FILE)


async def _speaker(name: str, hall: SpeechService, voices: VoiceService, owner: str) -> str:
    """The voice that is meant; the original's own is this server's default, unless there is one of that name."""
    if name != _HOUSE_VOICE or any(voice.id == name for voice in hall.registry.voices()):
        return name
    try:
        return (await voices.find(name, owner)).name
    except NotFoundError:
        return hall.settings.default_voice
