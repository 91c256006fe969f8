"""The API of servers built around ZipVoice: speech in a voice of the caller's, and a list of such voices."""

from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Field

from polyvox.api.body_format import audio_body
from polyvox.api.dependencies import Owner, Service, Voices
from polyvox.api.dialects.zipvoice_settings import FAMILY, ZIPVOICE_VARIABLES, ZipVoiceApiSettings
from polyvox.api.door import Door
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.refusals import plain_detail
from polyvox.api.requests.audio_body import AUDIO_FIELD_NAMES
from polyvox.api.requests.body import off_the_loop
from polyvox.api.requests.fields import Boolean, RequestBody
from polyvox.api.requests.forms import json_or_form, read_fields
from polyvox.api.requests.speech_body import SpeechBody
from polyvox.api.responses.streaming import SpeechResponse
from polyvox.audio.encode import AudioFormat
from polyvox.config import Settings
from polyvox.errors import InvalidRequestError, NotFoundError, UnknownVoiceError
from polyvox.service.keys.operations import Operation
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.prompts import CacheKind
from polyvox.service.voices.voice_resolver import ResolvedVoice
from polyvox.service.voices.voices import Transcribe, VoiceService
from polyvox.voices.records import VoiceDetails, VoiceQuery, VoiceRecord
from polyvox.voices.references import InlineVoice, RegisteredVoice, UploadedVoice, VoiceReference, parse_reference

router = APIRouter(prefix="/v1/zipvoice", tags=["ZipVoice"], dependencies=[Depends(refuse_foreign_pages)])

_NAME = "zipvoice"
_PAGE = 1_000
_ERROR = {"type": "object", "properties": {"detail": {"type": "string"}}, "required": ["detail"]}


def _error(description: str) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": _ERROR}}}


_ERRORS: dict[int | str, dict[str, Any]] = {
    400: _error("A field or the recording is not acceptable; `detail` says why."),
    404: _error("There is no such voice."),
    501: _error("The model is not installed; `detail` names the remedy."),
    503: _error("The server is busy with other recordings, or stops; try again."),
}
_AUDIO: dict[int | str, dict[str, Any]] = {
    200: {"description": "The audio.", "content": {audio.media_type: {} for audio in AudioFormat}}
}
_KINDS = {"url": (CacheKind.URL,), "base64": (CacheKind.INLINE,), "all": tuple(CacheKind)}


class ZipVoiceBody(SpeechBody):
    """A request for speech in a registered voice, or that of a recording in the request."""

    voice: str | None = Field(
        None, description="A registered voice, `url+https://...`, `base64+...`, or `file+name` with an uploaded file."
    )

    def zipvoice_request(self, settings: Settings) -> SpeechRequest:
        """The same as a request of the service, with this dialect's defaults."""
        request = self.speech_request(_NAME)
        own = settings.section(ZipVoiceApiSettings)
        defaults = {
            "num_steps": float(own.num_steps),
            "remove_long_silence": float(own.remove_long_silence),
        }
        speed = self.speed * own.speed_multiplier
        return replace(
            request,
            utterance=replace(request.utterance, speed=speed, tuning=defaults | dict(request.utterance.tuning)),
            model=own.model if self.model in (None, "", FAMILY) else self.model,
        )


class RegistrationBody(RequestBody):
    """A voice to register."""

    name: str
    transcription: str | None = Field(None, description="Transcript of the recording; recognised from it if absent.")
    auto_transcribe: Boolean = Field(True, description="false: a transcription is required.")


@router.post(
    "/audio/speech",
    response_class=Response,
    responses=_AUDIO | _ERRORS,
    openapi_extra=json_or_form(ZipVoiceBody, "prompt_wav_file"),
)
async def create_speech(
    request: Request,
    service: Service,
    voices: Voices,
    owner: Owner,
    auto_transcribe: Annotated[bool, Query(description="false: a recording must come with its `prompt_text`.")] = True,
) -> SpeechResponse:
    """Speak a text in a voice of the caller's. The body is JSON, or a form with the recording as a file."""
    fields = await read_fields(request, "prompt_wav_file")
    body = fields.parsed(ZipVoiceBody)
    reference = await _reference(body.voice, fields.file, service.settings.prompt_max_bytes)
    if not isinstance(reference, RegisteredVoice) and not auto_transcribe and not body.prompt_text:
        raise InvalidRequestError("'prompt_text' is required with auto_transcribe=false.", field="prompt_text")
    asked = body.zipvoice_request(service.settings)
    resolve_voice = partial(_resolve_voice, voices, reference, owner, asked.model, body.prompt_text)
    markup = replace(asked.markup, resolve_voice=voices.resolver.by_name(owner, asked.model))
    return SpeechResponse(
        service,
        replace(asked, resolve_voice=resolve_voice, markup=markup),
        audio_body(body.audio_format, stream=body.stream),
    )


@router.post(
    "/voices/register",
    responses={status: _ERRORS[status] for status in (400, 501, 503)},
    openapi_extra=json_or_form(RegistrationBody, "audio_file"),
)
async def register_voice(request: Request, voices: Voices, owner: Owner) -> dict[str, Any]:
    """Register a voice; one that has the name already is replaced."""
    fields = await read_fields(request, "audio_file")
    body = fields.parsed(RegistrationBody)
    if fields.file is None:
        raise InvalidRequestError("'audio_file' is required: send the recording as a file.", field="audio_file")
    if not body.transcription and not body.auto_transcribe:
        raise InvalidRequestError("'transcription' is required with auto_transcribe=false.", field="transcription")
    details = VoiceDetails.checked(name=body.name, transcript=body.transcription)
    registered = await voices.register(
        InlineVoice(fields.file), details, owner, transcribe=Transcribe.INLINE, replacing=True
    )
    record = registered.record
    return {
        "status": "success",
        **_shown(record),
        "auto_transcribed": not body.transcription,
        "quality": {
            "quality_score": record.report["score"],
            "warnings": [*record.report["warnings"], *registered.warnings],
        },
    }


@router.get("/voices")
async def list_voices(voices: Voices, owner: Owner) -> dict[str, Any]:
    """Every voice that the caller may speak with, by name."""
    found: dict[str, Any] = {}
    page = await voices.page(VoiceQuery(limit=_PAGE), owner)
    records = list(page.voices)
    while page.next:
        page = await voices.page(VoiceQuery(limit=_PAGE, after=page.next), owner)
        records += page.voices
    for record in sorted(records, key=lambda record: record.owner == owner):  # so that one's own come last and stay
        found[record.name] = {"transcription": record.transcript, "audio_info": _audio_info(record)}
    return {"voices": found, "count": len(found)}


@router.get("/voices/{name}", responses={404: _ERRORS[404]})
async def get_voice(name: str, voices: Voices, owner: Owner) -> dict[str, Any]:
    """One voice."""
    return _shown(await voices.find(name, owner))


@router.delete("/voices/{name}", responses={404: _ERRORS[404]})
async def delete_voice(name: str, voices: Voices, owner: Owner) -> dict[str, Any]:
    """Delete a voice with its recording and everything derived from it."""
    record = await voices.find(name, owner)
    deleted = await voices.delete(record.id, owner)
    removed = {"audio": deleted.audio, "cached": deleted.cached, "prepared": deleted.prepared}
    return {"status": "deleted", "name": record.name, "removed": removed}


@router.post("/voices/cache/clear", responses={400: _ERRORS[400]})
async def clear_cache(
    voices: Voices, owner: Owner, cache_type: Literal["url", "base64", "all"] = "all"
) -> dict[str, Any]:
    """Clear the caller's cache of fetched or inline recordings; `all` also clears transcripts and prepared voices."""
    cleared = await voices.clear(*_KINDS[cache_type], owner=owner)
    return {"status": "cleared", "cache_type": cache_type, "files_deleted": sum(cleared.values())}


async def _reference(voice: str | None, file: bytes | None, max_bytes: int) -> VoiceReference:
    """The voice of a request; its file, if any, where it names no other."""
    if not voice and file is None:
        raise InvalidRequestError("'voice' is required: a registered voice or a recording.", field="voice")
    if not voice:
        return InlineVoice(file or b"")
    reference = await off_the_loop(voice, partial(parse_reference, max_bytes=max_bytes))
    if isinstance(reference, UploadedVoice) and file is not None:
        return InlineVoice(file)
    return reference


async def _resolve_voice(
    voices: VoiceService, reference: VoiceReference, owner: str, model: str | None, transcript: str | None
) -> ResolvedVoice:
    unknown = NotFoundError("There is no such voice; GET /v1/zipvoice/voices lists those there are.")
    try:
        clone = await voices.resolver.resolve(reference, owner, model=model, transcript=transcript)
    except UnknownVoiceError as error:
        raise unknown from error
    if clone is None:
        raise unknown
    return clone


def _shown(record: VoiceRecord) -> dict[str, Any]:
    return {"name": record.name, "transcription": record.transcript, "audio_info": _audio_info(record)}


def _audio_info(record: VoiceRecord) -> dict[str, Any]:
    return {
        "duration": round(record.duration, 3),
        "samplerate": record.sample_rate,
        "channels": 1,
        "samples": round(record.duration * record.sample_rate),
        "format": ".wav",
    }


DOOR = Door(
    _NAME,
    router,
    tags={"ZipVoice": 'The API of servers built around ZipVoice. An error is `{"detail": message}`.'},
    settings=ZipVoiceApiSettings,
    foreign=ZIPVOICE_VARIABLES,
    wordings={"/v1/zipvoice/*": plain_detail},
    field_names={"/v1/zipvoice/audio/speech": AUDIO_FIELD_NAMES},
    recordings=["/v1/zipvoice/*"],
    operations={
        "POST /v1/zipvoice/audio/speech": Operation.SPEAK,
        "GET /v1/zipvoice/voices*": Operation.READ_VOICES,
        "POST /v1/zipvoice/voices/*": Operation.CHANGE_VOICES,
        "DELETE /v1/zipvoice/voices/*": Operation.CHANGE_VOICES,
    },
)
