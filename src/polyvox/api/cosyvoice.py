"""CosyVoice's own servers: the form door of its Python server, and the JSON door of its Rust server."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from polyvox.api.forms import Fields, either_way, read_fields, refuse_foreign_pages
from polyvox.api.hall import Hall, Owner, Voices
from polyvox.api.inference import Inference, named_recording
from polyvox.api.schemas import Number, RequestBody, Text
from polyvox.api.streaming import AudioFile, AudioStream, SpeechResponse
from polyvox.audio.encode import AudioFormat, wav_header
from polyvox.errors import InvalidRequestError
from polyvox.service.session import Session
from polyvox.voices.records import VoiceQuery
from polyvox.voices.references import InlineVoice, UrlVoice

router = APIRouter(tags=["CosyVoice"], dependencies=[Depends(refuse_foreign_pages)])

DURATION_HEADER = "X-Audio-Duration"

_DOOR = "cosyvoice"
_FILE = "prompt_wav"
_MAX_SPEAKERS = 1_000
_BY_NAME: Mapping[str, str | None] = MappingProxyType(
    {"input": "tts_text", "voice": "spk_id", "instructions": "instruct_text", "model": None, "language": None}
)
_BY_RECORDING: Mapping[str, str | None] = MappingProxyType({**_BY_NAME, "voice": _FILE})
_IN_JSON: Mapping[str, str | None] = MappingProxyType(
    {"input": "text", "voice": "prompt_audio", "instructions": "speaker", "model": None, "language": None}
)
_SAMPLES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "16-bit samples without a header, at the model's rate, which the headers name.",
        "content": {AudioFormat.PCM.media_type: {}},
    },
    422: {"description": "A field is missing or wrong; `detail` holds its place and a sentence."},
    400: {"description": "The text, the voice or the recording will not do; `detail` says why."},
    503: {"description": "The model is not installed; `detail` names the remedy."},
}


class SftForm(RequestBody):
    """A text for a voice of the server's."""

    tts_text: Text = Field(description="The text to speak.")
    spk_id: str = Field(description="A voice of the model, or one of `/v1/voices` where the model clones.")


class ZeroShotForm(RequestBody):
    """A text for the voice of a recording whose words are known."""

    tts_text: Text = Field(description="The text to speak.")
    prompt_text: Text = Field(description="What is said in the recording.")


class CrossLingualForm(RequestBody):
    """A text for the voice of a recording."""

    tts_text: Text = Field(description="The text to speak, in any language of the model's.")


class InstructForm(SftForm):
    """A text for a voice of the server's, and how to speak it."""

    instruct_text: Text = Field(description="How to speak.")


class Instruct2Form(CrossLingualForm):
    """A text for the voice of a recording, and how to speak it."""

    instruct_text: Text = Field(description="How to speak.")


class SynthesizeBody(RequestBody):
    """A text for the Rust server."""

    text: Text = Field(description="The text to speak.")
    prompt_audio: str | None = Field(
        None, description="A recording: `base64+...`, a data URL, `url+https://...`, or a file in `recording_dirs`."
    )
    prompt_text: Text | None = Field(None, description="What is said in the recording.")
    speaker: Text | None = Field(
        None, description="A voice of `/speakers`; with a recording that has no `prompt_text`, how to speak."
    )
    speed: Number = Field(1.0, ge=0.25, le=4.0, description="1 is the voice's own pace.")


@router.get("/inference_sft", include_in_schema=False)
@router.post("/inference_sft", response_class=Response, responses=_SAMPLES, openapi_extra=either_way(SftForm))
async def inference_sft(request: Request, hall: Hall, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak in a voice of the server's."""
    form = (await _fields(request)).parsed(SftForm)
    asked = Inference(form.tts_text, speaker=form.spk_id).request(_DOOR, hall.settings, voices, owner)
    return SpeechResponse(hall, asked, AudioStream(AudioFormat.PCM), _BY_NAME)


@router.get("/inference_zero_shot", include_in_schema=False)
@router.post(
    "/inference_zero_shot", response_class=Response, responses=_SAMPLES, openapi_extra=either_way(ZeroShotForm, _FILE)
)
async def inference_zero_shot(request: Request, hall: Hall, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak on in the voice of a recording, which comes as the form's file `prompt_wav`."""
    fields = await _fields(request)
    form = fields.parsed(ZeroShotForm)
    inference = Inference(form.tts_text, recording=_recording(fields), transcript=form.prompt_text)
    asked = inference.request(_DOOR, hall.settings, voices, owner)
    return SpeechResponse(hall, asked, AudioStream(AudioFormat.PCM), _BY_RECORDING)


@router.get("/inference_cross_lingual", include_in_schema=False)
@router.post(
    "/inference_cross_lingual",
    response_class=Response,
    responses=_SAMPLES,
    openapi_extra=either_way(CrossLingualForm, _FILE),
)
async def inference_cross_lingual(request: Request, hall: Hall, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak another language in the voice of a recording, which comes as the form's file `prompt_wav`."""
    fields = await _fields(request)
    form = fields.parsed(CrossLingualForm)
    asked = Inference(form.tts_text, recording=_recording(fields)).request(_DOOR, hall.settings, voices, owner)
    return SpeechResponse(hall, asked, AudioStream(AudioFormat.PCM), _BY_RECORDING)


@router.get("/inference_instruct", include_in_schema=False)
@router.post("/inference_instruct", response_class=Response, responses=_SAMPLES, openapi_extra=either_way(InstructForm))
async def inference_instruct(request: Request, hall: Hall, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak as told in a voice of the server's."""
    form = (await _fields(request)).parsed(InstructForm)
    inference = Inference(form.tts_text, speaker=form.spk_id, instruction=form.instruct_text)
    asked = inference.request(_DOOR, hall.settings, voices, owner)
    return SpeechResponse(hall, asked, AudioStream(AudioFormat.PCM), _BY_NAME)


@router.get("/inference_instruct2", include_in_schema=False)
@router.post(
    "/inference_instruct2", response_class=Response, responses=_SAMPLES, openapi_extra=either_way(Instruct2Form, _FILE)
)
async def inference_instruct2(request: Request, hall: Hall, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak as told in the voice of a recording, which comes as the form's file `prompt_wav`."""
    fields = await _fields(request)
    form = fields.parsed(Instruct2Form)
    inference = Inference(form.tts_text, recording=_recording(fields), instruction=form.instruct_text)
    asked = inference.request(_DOOR, hall.settings, voices, owner)
    return SpeechResponse(hall, asked, AudioStream(AudioFormat.PCM), _BY_RECORDING)


@router.post(
    "/synthesize",
    response_class=Response,
    responses={200: {"description": "The audio.", "content": {AudioFormat.WAV.media_type: {}}}},
    openapi_extra=either_way(SynthesizeBody, "prompt_audio"),
)
async def synthesize(request: Request, hall: Hall, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak a text as one WAV file; `x-audio-duration` gives its seconds. Errors are `{"error", "code"}`."""
    fields = await read_fields(request, "prompt_audio")
    body = fields.parsed(SynthesizeBody)
    recording: InlineVoice | UrlVoice | None = None if fields.file is None else InlineVoice(fields.file)
    if recording is None and body.prompt_audio is not None:
        recording = await named_recording(body.prompt_audio, hall.settings, "prompt_audio")
    told = body.speaker if recording is not None and body.prompt_text is None else None
    inference = Inference(
        body.text,
        speaker=body.speaker if recording is None else None,
        recording=recording,
        transcript=body.prompt_text,
        instruction=told,
        speed=body.speed,
    )
    names = _IN_JSON if recording is not None else {**_IN_JSON, "voice": "speaker"}
    asked = inference.request(_DOOR, hall.settings, voices, owner)
    return _TimedFile(hall, asked, AudioFile(AudioFormat.WAV), names)


@router.get("/speakers")
async def list_speakers(hall: Hall, voices: Voices, owner: Owner) -> list[str]:
    """The voices that can be named: the default model's own, and where it clones those of `/v1/voices`."""
    return await speaker_names(hall, voices, owner)


async def speaker_names(hall: Hall, voices: Voices, owner: Owner) -> list[str]:
    """Every voice of the default model that this caller may name."""
    names = [voice.id for voice in hall.registry.voices()]
    known = hall.registry.model(None).capabilities
    if known is not None and known.cloning:
        page = await voices.page(VoiceQuery(limit=_MAX_SPEAKERS), owner)
        names += [record.name for record in page.voices]
    return list(dict.fromkeys(names))


async def _fields(request: Request) -> Fields:
    return await read_fields(request, _FILE, plain=True)


def _recording(fields: Fields) -> InlineVoice:
    if fields.file is None:
        raise InvalidRequestError(f"'{_FILE}' is required: send the recording as a file.", field=_FILE)
    return InlineVoice(fields.file)


class _TimedFile(SpeechResponse):
    """A WAV file whose header says how long it plays."""

    def file_headers(self, session: Session, body: bytes) -> Mapping[str, str]:
        header = wav_header(session.sample_rate, session.channels, 0)
        samples = (len(body) - len(header)) / (2 * session.channels)
        return {DURATION_HEADER: f"{samples / session.sample_rate:.6f}"}
