"""The APIs of CosyVoice's own servers: forms as its Python server takes them, JSON as its Rust server does."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from polyvox.api.body_format import AudioFile, AudioStream
from polyvox.api.dependencies import Owner, Service, Voices
from polyvox.api.dialects.cosyvoice.requests import CosyVoiceOptions, CosyVoiceRequest, read_recording
from polyvox.api.door import Door
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.refusals import Refusal
from polyvox.api.requests.fields import Speed, Text
from polyvox.api.requests.forms import Fields, json_or_form, read_fields
from polyvox.api.responses.streaming import FieldNames, SpeechResponse
from polyvox.audio.encode import AudioFormat, wav_header
from polyvox.errors import InvalidRequestError
from polyvox.service.keys.operations import Operation
from polyvox.service.session import Session
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voice_aliases import accepted_aliases
from polyvox.service.voices.voices import VoiceService
from polyvox.voices.records import VoiceQuery
from polyvox.voices.references import InlineVoice, UrlVoice

router = APIRouter(tags=["CosyVoice"], dependencies=[Depends(refuse_foreign_pages)])

DURATION_HEADER = "X-Audio-Duration"

_NAME = "cosyvoice"
_FILE = "prompt_wav"
_MAX_SPEAKERS = 1_000
_BY_NAME: FieldNames = MappingProxyType(
    {"input": "tts_text", "voice": "spk_id", "instructions": "instruct_text", "model": None, "language": None}
)
_BY_RECORDING: FieldNames = MappingProxyType({**_BY_NAME, "voice": _FILE})
_IN_JSON: FieldNames = MappingProxyType(
    {"input": "text", "voice": "prompt_audio", "instructions": "speaker", "model": None, "language": None}
)
_SAMPLES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "16-bit samples without a header, at the model's rate, which the headers name.",
        "content": {AudioFormat.PCM.media_type: {}},
    },
    422: {"description": "A field is missing or wrong; `detail` holds its place and a sentence."},
    400: {"description": "The text, the voice or the recording cannot be used; `detail` says why."},
    501: {"description": "The model is not installed; `detail` names the remedy."},
}


class SftForm(CosyVoiceOptions):
    """A text for a voice of the server's."""

    tts_text: Text = Field(description="The text to speak.")
    spk_id: str = Field(description="A voice of the model, or one of `/v1/voices` where the model clones.")


class ZeroShotForm(CosyVoiceOptions):
    """A text for the voice of a recording whose words are known."""

    tts_text: Text = Field(description="The text to speak.")
    prompt_text: Text = Field(description="Transcript of the recording.")


class CrossLingualForm(CosyVoiceOptions):
    """A text for the voice of a recording."""

    tts_text: Text = Field(description="The text to speak, in any language of the model's.")


class InstructForm(SftForm):
    """A text for a voice of the server's, and how to speak it."""

    instruct_text: Text = Field(description="How to speak.")


class Instruct2Form(CrossLingualForm):
    """A text for the voice of a recording, and how to speak it."""

    instruct_text: Text = Field(description="How to speak.")


class SynthesizeBody(CosyVoiceOptions):
    """A text for the Rust server."""

    text: Text = Field(description="The text to speak.")
    prompt_audio: str | None = Field(
        None, description="A recording: `base64+...`, a data URL, `url+https://...`, or a file in `recording_dirs`."
    )
    prompt_text: Text | None = Field(None, description="Transcript of the recording.")
    speaker: Text | None = Field(
        None, description="A voice of `/speakers`; with a recording that has no `prompt_text`, how to speak."
    )
    speed: Speed = Field(1.0, description="1 is the voice's own pace.")


@router.get("/inference_sft", include_in_schema=False)
@router.post("/inference_sft", response_class=Response, responses=_SAMPLES, openapi_extra=json_or_form(SftForm))
async def inference_sft(request: Request, service: Service, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak in a voice of the server's."""
    form = (await _fields(request)).parsed(SftForm)
    return _response(CosyVoiceRequest(form.tts_text, speaker=form.spk_id), form, service, voices, owner)


@router.get("/inference_zero_shot", include_in_schema=False)
@router.post(
    "/inference_zero_shot", response_class=Response, responses=_SAMPLES, openapi_extra=json_or_form(ZeroShotForm, _FILE)
)
async def inference_zero_shot(request: Request, service: Service, voices: Voices, owner: Owner) -> SpeechResponse:
    """Continue in the voice of a recording, which comes as the form's file `prompt_wav`."""
    fields = await _fields(request)
    form = fields.parsed(ZeroShotForm)
    asked = CosyVoiceRequest(form.tts_text, recording=_recording(fields), transcript=form.prompt_text)
    return _response(asked, form, service, voices, owner)


@router.get("/inference_cross_lingual", include_in_schema=False)
@router.post(
    "/inference_cross_lingual",
    response_class=Response,
    responses=_SAMPLES,
    openapi_extra=json_or_form(CrossLingualForm, _FILE),
)
async def inference_cross_lingual(request: Request, service: Service, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak another language in the voice of a recording, which comes as the form's file `prompt_wav`."""
    fields = await _fields(request)
    form = fields.parsed(CrossLingualForm)
    return _response(CosyVoiceRequest(form.tts_text, recording=_recording(fields)), form, service, voices, owner)


@router.get("/inference_instruct", include_in_schema=False)
@router.post(
    "/inference_instruct", response_class=Response, responses=_SAMPLES, openapi_extra=json_or_form(InstructForm)
)
async def inference_instruct(request: Request, service: Service, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak as instructed in a voice of the server's."""
    form = (await _fields(request)).parsed(InstructForm)
    asked = CosyVoiceRequest(form.tts_text, speaker=form.spk_id, instruction=form.instruct_text)
    return _response(asked, form, service, voices, owner)


@router.get("/inference_instruct2", include_in_schema=False)
@router.post(
    "/inference_instruct2",
    response_class=Response,
    responses=_SAMPLES,
    openapi_extra=json_or_form(Instruct2Form, _FILE),
)
async def inference_instruct2(request: Request, service: Service, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak as instructed in the voice of a recording, which comes as the form's file `prompt_wav`."""
    fields = await _fields(request)
    form = fields.parsed(Instruct2Form)
    asked = CosyVoiceRequest(form.tts_text, recording=_recording(fields), instruction=form.instruct_text)
    return _response(asked, form, service, voices, owner)


@router.post(
    "/synthesize",
    response_class=Response,
    responses={200: {"description": "The audio.", "content": {AudioFormat.WAV.media_type: {}}}},
    openapi_extra=json_or_form(SynthesizeBody, "prompt_audio"),
)
async def synthesize(request: Request, service: Service, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak a text as one WAV file; `x-audio-duration` gives its seconds. Errors are `{"error", "code"}`."""
    fields = await read_fields(request, "prompt_audio")
    body = fields.parsed(SynthesizeBody)
    recording: InlineVoice | UrlVoice | None = None if fields.file is None else InlineVoice(fields.file)
    if recording is None and body.prompt_audio is not None:
        recording = await read_recording(body.prompt_audio, service.settings, "prompt_audio")
    instruction = body.speaker if recording is not None and body.prompt_text is None else None
    asked = CosyVoiceRequest(
        body.text,
        speaker=body.speaker if recording is None else None,
        recording=recording,
        transcript=body.prompt_text,
        instruction=instruction,
        speed=body.speed,
        seed=body.seed,
        model=body.model,
    )
    names = {} if recording is not None else {"voice": "speaker"}
    spoken = asked.speech_request(_NAME, voices, owner)
    chosen = body.format_or(AudioFormat.WAV)
    kind = _TimedFile if chosen is AudioFormat.WAV else SpeechResponse
    return kind(service, spoken, AudioFile(chosen), names)


@router.get("/speakers")
async def list_speakers(service: Service, voices: Voices, owner: Owner) -> list[str]:
    """The voices that can be named: the default model's own; those of `/v1/voices` that it clones or that were fitted
    for it; Kokoro's, where it clones; and the further names of all these that the settings give.
    """
    return await speaker_names(service, voices, owner)


async def speaker_names(service: SpeechService, voices: VoiceService, owner: str) -> list[str]:
    """Every voice of the default model that this caller may name."""
    names = [voice.id for voice in service.registry.voices() if not voice.reason]
    model = service.registry.model(None)
    if model.loaded:
        engine = service.registry.engine(None)
        page = await voices.page(VoiceQuery(limit=_MAX_SPEAKERS), owner)
        names += [record.name for record in page.voices if voices.resolver.speaks(record, engine)]
    if model.cloning:
        names += voices.presets.names
    return list(dict.fromkeys((*names, *accepted_aliases(service.settings.aliases, model.languages, names))))


def _response(
    asked: CosyVoiceRequest, form: CosyVoiceOptions, service: SpeechService, voices: VoiceService, owner: str
) -> SpeechResponse:
    request = replace(asked, seed=form.seed, model=form.model).speech_request(_NAME, voices, owner)
    return SpeechResponse(service, request, AudioStream(form.format_or(AudioFormat.PCM)))


async def _fields(request: Request) -> Fields:
    return await read_fields(request, _FILE, urlencoded=True)


def _recording(fields: Fields) -> InlineVoice:
    if fields.file is None:
        raise InvalidRequestError(f"'{_FILE}' is required: send the recording as a file.", field=_FILE)
    return InlineVoice(fields.file)


class _TimedFile(SpeechResponse):
    """A WAV file whose header says how long it plays."""

    def file_headers(self, session: Session, size: int) -> Mapping[str, str]:
        header = wav_header(session.sample_rate, session.channels, 0)
        samples = (size - len(header)) / (2 * session.channels)
        return {DURATION_HEADER: f"{samples / session.sample_rate:.6f}"}


def _fastapi_detail(refusal: Refusal) -> tuple[int, dict[str, Any]]:
    """FastAPI's wording: a field that is missing or wrong is a 422 that names its place."""
    if refusal.code != "invalid_value" or refusal.field is None:
        return refusal.status, {"detail": refusal.message}
    problem = {"type": "value_error", "loc": ["body", refusal.field], "msg": refusal.message}
    return 422, {"detail": [problem]}


def _status_as_code(refusal: Refusal) -> tuple[int, dict[str, Any]]:
    """The Rust server's wording."""
    return refusal.status, {"error": refusal.message, "code": refusal.status}


DOOR = Door(
    _NAME,
    router,
    tags={"CosyVoice": "CosyVoice's own servers: forms as its Python server takes them, JSON as its Rust server does."},
    wordings={"/inference_*": _fastapi_detail, "/synthesize": _status_as_code, "/speakers": _status_as_code},
    field_names={
        "/inference_*": _BY_RECORDING,
        "/inference_sft": _BY_NAME,
        "/inference_instruct": _BY_NAME,
        "/synthesize": _IN_JSON,
    },
    recordings=["/inference_*", "/synthesize*"],
    headers=[DURATION_HEADER],
    operations={
        "POST /inference_*": Operation.SPEAK,
        "GET /inference_*": Operation.SPEAK,
        "POST /synthesize": Operation.SPEAK,
        "GET /speakers": Operation.LIST,
    },
)
