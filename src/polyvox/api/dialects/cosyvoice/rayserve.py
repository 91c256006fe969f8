"""The API of the Ray Serve server for CosyVoice, by its earlier and its later paths: MP3 in one continuous stream."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field
from starlette.responses import JSONResponse

from polyvox.api.body_format import audio_body
from polyvox.api.dependencies import Owner, Service, Voices
from polyvox.api.dialects.cosyvoice.door import speaker_names
from polyvox.api.dialects.cosyvoice.rayserve_settings import RAYSERVE_VARIABLES
from polyvox.api.dialects.cosyvoice.requests import CosyVoiceOptions, CosyVoiceRequest, read_recording
from polyvox.api.door import Door
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.refusals import Refusal, plain_detail
from polyvox.api.requests.body import is_json
from polyvox.api.requests.fields import Boolean, NarrowSpeed, RequestBody, Text
from polyvox.api.requests.forms import Fields, json_or_form, read_fields
from polyvox.api.responses.batch import BATCH_ANSWER, BatchBody, BatchItem, BatchResponse
from polyvox.api.responses.streaming import FieldNames, SpeechResponse
from polyvox.audio.encode import AudioFormat
from polyvox.errors import InvalidRequestError, NotFoundError
from polyvox.service.keys.operations import Operation
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService
from polyvox.types import EngineLocation
from polyvox.voices import limits
from polyvox.voices.references import InlineVoice, UrlVoice

router = APIRouter(tags=["CosyVoice on Ray Serve"], dependencies=[Depends(refuse_foreign_pages)])

_NAME = "rayserve"
_EARLIER = ("tts", "zero_shot_tts", "cross_lingual_tts", "instruct_tts")
_PREFIX = "/v1/model/cosyvoice"
_FILE = "reference_audio"
_SAMPLE_RATE = 24_000
_ORIGINAL_VOICE = "qwen"
"""The default voice of the original server."""
_NOT_KNOWN = "N/A"
_NOWHERE = EngineLocation(_NOT_KNOWN)
_JSON = "application/json"

Mode = Literal["tts", "zero_shot", "cross_lingual", "instruct"]

_BY_NAME: FieldNames = MappingProxyType(
    {"input": "text", "voice": "voice_type", "instructions": "instruction", "model": None, "language": None}
)
_BY_RECORDING: FieldNames = MappingProxyType({**_BY_NAME, "voice": _FILE, "prompt_text": "reference_text"})
_MP3: dict[int | str, dict[str, Any]] = {
    200: {"description": "MP3 at 24 kHz.", "content": {AudioFormat.MP3.media_type: {}}},
    400: {"description": "The request cannot be used as it is; `detail` says why."},
    501: {"description": "The model is not installed; `detail` names the remedy."},
}


class TtsBody(CosyVoiceOptions):
    """A text to speak."""

    text: Text = Field(description="The text to speak.")
    speed: NarrowSpeed = Field(1.0, description="1 is the voice's own pace.")
    stream: Boolean = Field(False, description="true: answer while the audio is made.")


class VoiceBody(TtsBody):
    """A text for a voice of the server's."""

    voice_type: str = Field(
        _ORIGINAL_VOICE, description="A voice; `qwen` means the model's default voice unless a voice has that name."
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

    reference_text: Text = Field(description="Transcript of the recording.")


class _ItemMode(RequestBody):
    mode: Mode | None = None


class RayBatchBody(BatchBody):
    """Many texts. An item has the fields of a single request; here they hold for all items without their own."""


_BODIES: Mapping[Mode, type[TtsBody]] = MappingProxyType(
    {"tts": VoiceBody, "zero_shot": ZeroShotBody, "cross_lingual": CrossLingualBody, "instruct": InstructBody}
)
_BATCH_SCHEMA = RayBatchBody.model_json_schema()


@router.post(f"{_PREFIX}/tts", response_class=Response, responses=_MP3, openapi_extra=json_or_form(VoiceBody))
@router.post("/tts", response_class=Response, responses=_MP3, openapi_extra=json_or_form(VoiceBody))
async def tts(request: Request, service: Service, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak a text."""
    return await _response("tts", request, service, voices, owner)


@router.post(
    f"{_PREFIX}/zero_shot", response_class=Response, responses=_MP3, openapi_extra=json_or_form(ZeroShotBody, _FILE)
)
@router.post("/zero_shot_tts", response_class=Response, responses=_MP3, openapi_extra=json_or_form(ZeroShotBody, _FILE))
async def zero_shot(request: Request, service: Service, voices: Voices, owner: Owner) -> SpeechResponse:
    """Continue in the voice of a recording."""
    return await _response("zero_shot", request, service, voices, owner)


@router.post(
    f"{_PREFIX}/cross_lingual",
    response_class=Response,
    responses=_MP3,
    openapi_extra=json_or_form(CrossLingualBody, _FILE),
)
@router.post(
    "/cross_lingual_tts", response_class=Response, responses=_MP3, openapi_extra=json_or_form(CrossLingualBody, _FILE)
)
async def cross_lingual(request: Request, service: Service, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak any language in the voice of a recording."""
    return await _response("cross_lingual", request, service, voices, owner)


@router.post(f"{_PREFIX}/instruct", response_class=Response, responses=_MP3, openapi_extra=json_or_form(InstructBody))
@router.post("/instruct_tts", response_class=Response, responses=_MP3, openapi_extra=json_or_form(InstructBody))
async def instruct(request: Request, service: Service, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak as instructed."""
    return await _response("instruct", request, service, voices, owner)


@router.post(
    f"{_PREFIX}/batch",
    response_class=Response,
    responses=BATCH_ANSWER,
    openapi_extra={"requestBody": {"required": True, "content": {_JSON: {"schema": _BATCH_SCHEMA}}}},
)
async def batch(request: Request, service: Service, voices: Voices, owner: Owner) -> BatchResponse:
    """Speak many texts: one file each, and an error of its own for each that cannot be spoken.

    Each item has the fields of `tts`, `zero_shot`, `cross_lingual` or `instruct`; `mode` names which, or else its
    fields tell. The items are spoken side by side, behind all requests that somebody listens to.
    """
    if not is_json(request):
        raise InvalidRequestError(f"Send the batch as JSON with the header 'Content-Type: {_JSON}'.")
    body = (await read_fields(request, _FILE)).parsed(RayBatchBody)

    async def read(values: object) -> BatchItem:
        fields = Fields(values, is_form=True)
        asked, item = await _asked(_mode_of(fields), fields, service, voices, owner)
        return BatchItem(asked.speech_request(_NAME, voices, owner), item.format_or(AudioFormat.MP3))

    return BatchResponse(service, body.item_fields(service.settings, "text"), read, body.archive)


@router.get(f"{_PREFIX}/healthcheck", include_in_schema=False)
@router.post(f"{_PREFIX}/healthcheck", responses={503: {"description": "It cannot speak; `reason` says why."}})
async def healthcheck(service: Service, voices: Voices) -> JSONResponse:
    """Return whether requests for speech can be answered."""
    state = await voices.readiness(service.ready)
    if not state.ok:
        return JSONResponse({"status": "unhealthy", "reason": " ".join(state.reasons.values())}, 503)
    place = service.registry.location() or _NOWHERE
    return JSONResponse(
        {
            "status": "healthy",
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "device": place.device,
            "model_loaded": True,
            "ray_actor_id": place.actor or _NOT_KNOWN,
            "ray_node_id": place.node or _NOT_KNOWN,
        }
    )


@router.get("/config")
async def show_config(service: Service, voices: Voices, owner: Owner) -> dict[str, Any]:
    """The configuration that callers may need; no paths on the server."""
    return {
        "default_voice": await _speaker(_ORIGINAL_VOICE, service, voices, owner),
        "available_voice_prompts": await speaker_names(service, voices, owner),
        "sample_rate": _SAMPLE_RATE,
        "reference_audio_sample_rate": limits.SAMPLE_RATE,
        "device_in_use": (service.registry.location() or _NOWHERE).device,
        "model_id": service.settings.default_model,
    }


async def _response(
    mode: Mode, request: Request, service: SpeechService, voices: VoiceService, owner: str
) -> SpeechResponse:
    asked, body = await _asked(mode, await _fields(request), service, voices, owner)
    spoken = asked.speech_request(_NAME, voices, owner)
    return SpeechResponse(service, spoken, audio_body(body.format_or(AudioFormat.MP3), stream=body.stream))


async def _asked(
    mode: Mode, fields: Fields, service: SpeechService, voices: VoiceService, owner: str
) -> tuple[CosyVoiceRequest, TtsBody]:
    """The request of a body in one of the modes, and the body."""
    body = fields.parsed(_BODIES[mode])
    asked = CosyVoiceRequest(body.text, speed=body.speed, sample_rate=_SAMPLE_RATE, seed=body.seed, model=body.model)
    if isinstance(body, VoiceBody):
        instruction = body.instruction if isinstance(body, InstructBody) else None
        speaker = await _speaker(body.voice_type, service, voices, owner, instructed=instruction is not None)
        asked = replace(asked, speaker=speaker, instruction=instruction)
    if isinstance(body, CrossLingualBody):
        asked = replace(asked, recording=await _recording(fields, body, service))
    if isinstance(body, ZeroShotBody):
        asked = replace(asked, transcript=body.reference_text)
    return asked, body


def _mode_of(fields: Fields) -> Mode:
    """The mode of an item: the one that it names, else the one whose fields it has."""
    given = fields.values if isinstance(fields.values, dict) else {}
    named = fields.parsed(_ItemMode).mode
    if named is not None:
        return named
    if given.get(_FILE) is not None:
        return "cross_lingual" if given.get("reference_text") is None else "zero_shot"
    return "tts" if given.get("instruction") is None else "instruct"


async def _fields(request: Request) -> Fields:
    """The body's fields; like the original, JSON may hold numbers and booleans as text."""
    return replace(await read_fields(request, _FILE, urlencoded=True), is_form=True)


async def _recording(fields: Fields, body: CrossLingualBody, service: SpeechService) -> InlineVoice | UrlVoice:
    if fields.file is not None:
        return InlineVoice(fields.file)
    if body.reference_audio is None:
        raise InvalidRequestError(f"'{_FILE}' is required: send the recording as a file.", field=_FILE)
    return await read_recording(body.reference_audio, service.settings, _FILE)


async def _speaker(
    name: str, service: SpeechService, voices: VoiceService, owner: str, *, instructed: bool = False
) -> str:
    """The voice to speak with: the original's default means this server's, unless a voice has that name."""
    if name != _ORIGINAL_VOICE or any(voice.id == name for voice in service.registry.voices()):
        return name
    try:
        return (await voices.find(name, owner)).name
    except NotFoundError:
        return service.registry.default_voice(instructed=instructed)


def _detail_and_error(refusal: Refusal) -> tuple[int, dict[str, Any]]:
    """The sentence twice: the server with these paths called it `error` first, and `detail` later."""
    status, body = plain_detail(refusal)
    return status, body | {"error": refusal.message}


DOOR = Door(
    _NAME,
    router,
    tags={"CosyVoice on Ray Serve": "The Ray Serve server for CosyVoice, by its earlier and its later paths."},
    foreign=RAYSERVE_VARIABLES,
    wordings={
        **dict.fromkeys((f"/{path}" for path in (*_EARLIER, "config")), plain_detail),
        f"{_PREFIX}*": _detail_and_error,
    },
    field_names={
        **dict.fromkeys(
            ("/tts", "/instruct_tts", f"{_PREFIX}/tts", f"{_PREFIX}/instruct", f"{_PREFIX}/batch"), _BY_NAME
        ),
        **dict.fromkeys(("/zero_shot_tts", "/cross_lingual_tts", f"{_PREFIX}/*"), _BY_RECORDING),
    },
    recordings=[f"{_PREFIX}/*", "/zero_shot_tts*", "/cross_lingual_tts*"],
    public=[f"{_PREFIX}/healthcheck"],
    operations={
        **dict.fromkeys((f"POST /{path}" for path in _EARLIER), Operation.SPEAK),
        f"POST {_PREFIX}/*": Operation.SPEAK,
        f"POST {_PREFIX}/healthcheck": Operation.PROBE,
        f"GET {_PREFIX}/healthcheck": Operation.PROBE,
        "GET /config": Operation.LIST,
    },
)
