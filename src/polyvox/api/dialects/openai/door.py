"""OpenAI's speech API, and the lists that its clients and Open WebUI read."""

from dataclasses import asdict, replace
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from pydantic import ConfigDict

from polyvox.api.body_format import AudioFile, AudioStream, attachment
from polyvox.api.dependencies import Adapters, DownloadStore, Owner, Service, Voices
from polyvox.api.dialects.openai.recogniser_list import listed_recognisers
from polyvox.api.dialects.openai.transcriptions import router as transcriptions
from polyvox.api.dialects.openai.voices import router as cloned_voices
from polyvox.api.door import Door
from polyvox.api.requests.audio_body import AUDIO_FIELD_NAMES
from polyvox.api.requests.body import JsonRoute
from polyvox.api.requests.forms import Fields
from polyvox.api.requests.speech_body import SpeechBody
from polyvox.api.requests.speech_requests import adapted_body, speech_request
from polyvox.api.responses.batch import BATCH_ANSWER, BatchBody, BatchItem, BatchResponse
from polyvox.api.responses.captions import caption_types, captions_response, check_captions_beside_events
from polyvox.api.responses.downloads import (
    CAPTIONS_HEADER,
    DOWNLOAD_HEADER,
    TIMING_HEADER,
    CaptionSidecar,
    RecordedAudio,
)
from polyvox.api.responses.error_body import ErrorBody
from polyvox.api.responses.events import SpeechEvents
from polyvox.api.responses.streaming import SpeechResponse
from polyvox.api.responses.transcripts import MODEL_HEADER
from polyvox.audio.encode import AudioFormat
from polyvox.service.keys.operations import Operation
from polyvox.service.registry.registry import OPENAI_NAMES, ModelInfo
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService
from polyvox.service.words.caption_track import CaptionTrack
from polyvox.types import Voice
from polyvox.voices.records import VoiceQuery, VoiceRecord

router = APIRouter(prefix="/v1", route_class=JsonRoute)

_NAME = "openai"
_MAX_REGISTERED = 1_000
_SPEAKS = "text-to-speech"
_BINARY = {"schema": {"type": "string", "format": "binary"}}
SPEECH_ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorBody, "description": "A field is missing, of the wrong type, or out of range."},
    404: {"model": ErrorBody, "description": "No such model."},
    413: {"model": ErrorBody, "description": "The body is over its limit."},
    429: {"model": ErrorBody, "description": "The queue is full; the header Retry-After says when to try again."},
    500: {
        "model": ErrorBody,
        "description": "The model failed; the cause is in the server's log, by the session's id.",
    },
    501: {"model": ErrorBody, "description": "The model is not installed; the message names the remedy."},
    503: {"model": ErrorBody, "description": "The model is not ready; try again."},
    504: {"model": ErrorBody, "description": "Nothing was spoken before the deadline."},
}
_SPEECH: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The audio, events that carry it, or captions.",
        "content": {audio.media_type: _BINARY for audio in AudioFormat} | {"text/event-stream": {}} | caption_types(),
    },
    403: {
        "model": ErrorBody,
        "description": "A download link or captions beside the audio, where there are no links.",
    },
}


_BATCH_ERRORS: dict[int | str, dict[str, Any]] = {
    400: SPEECH_ERRORS[400],
    413: SPEECH_ERRORS[413],
    429: {"model": ErrorBody, "description": "Too many batches; the header Retry-After says when to try again."},
}


class SpeechBatchBody(BatchBody):
    """Many texts. An item has the fields of `/v1/audio/speech`; here they hold for all items without their own."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "voice": "af_heart",
                    "response_format": "mp3",
                    "items": [{"input": "The tide is out."}, {"input": "The boats lie on the sand.", "speed": 1.2}],
                }
            ]
        }
    )


@router.post("/audio/speech", tags=["speech"], response_class=Response, responses=_SPEECH | SPEECH_ERRORS)
async def create_speech(
    body: SpeechBody,
    service: Service,
    voices: Voices,
    owner: Owner,
    adapters: Adapters,
    downloads: DownloadStore,
    x_polyvox_chunks: Annotated[
        str,
        Header(
            description="1: with `stream_format` sse, each event also gives the position of its chunk; a whole answer "
            "gives those of all in the header of this name."
        ),
    ] = "0",
) -> SpeechResponse:
    """Speak a text.

    The audio streams while it is made, unless `stream` is false. A stream that cannot go on is cut off; with
    `stream_format` sse an error event comes first.
    """
    body.check_places()
    captions_only, captions = body.captions_only, body.captions
    body = adapted_body(body.without_captions(), service.settings, adapters)
    request = await speech_request(body, _NAME, service, voices, owner)
    if captions_only is not None:
        track = CaptionTrack(body.input, body.speaker_names, body.sounds)
        return captions_response(service, request, captions_only, track)
    if body.stream_format == "sse":
        check_captions_beside_events(captions)
        chunks = x_polyvox_chunks == "1" or body.wants_times
        events = SpeechEvents(body.audio_format, len(body.input), chunks=chunks, sounds=body.sounds)
        return SpeechResponse(service, replace(request, words=events.chunks), events)
    body_format = body.body_format
    headers = attachment(body_format, body.audio_format)
    if isinstance(body_format, AudioStream | AudioFile):
        if body.return_download_link:
            request = replace(request, words=body.return_timing)
            body_format = RecordedAudio.begun(body_format, body.return_timing, downloads, owner)
        if captions is not None:
            request = replace(request, words=True)
            track = CaptionTrack(body.input, body.speaker_names, body.sounds)
            sidecar = CaptionSidecar.begun(captions, track, downloads, owner)
            body_format = RecordedAudio.captioned(body_format, sidecar)
    if isinstance(body_format, RecordedAudio):
        headers |= body_format.headers
    return SpeechResponse(service, request, body_format, headers=headers)


@router.post("/audio/speech/batch", tags=["speech"], response_class=Response, responses=BATCH_ANSWER | _BATCH_ERRORS)
async def create_speech_batch(
    body: SpeechBatchBody, service: Service, voices: Voices, owner: Owner, adapters: Adapters
) -> BatchResponse:
    """Speak many texts: one file each, and an error of its own for each that cannot be spoken.

    The items are spoken side by side, behind all requests that somebody listens to. Each file is sent when it is
    complete; a client that leaves ends the rest.
    """

    async def read(fields: object) -> BatchItem:
        item = adapted_body(Fields(fields).parsed(SpeechBody), service.settings, adapters)
        item.check_times(have_place=False)
        return BatchItem(await speech_request(item, _NAME, service, voices, owner), item.audio_format)

    return BatchResponse(service, body.item_fields(service.settings, "input"), read, body.archive)


@router.get("/models", tags=["lists"])
async def list_models(service: Service) -> dict[str, Any]:
    """The models of this server, those that cannot speak included, with the reason; then OpenAI's names; then those
    that listen, by their `task`.

    One that is available but not `loaded` is loaded when a request for speech names it. OpenAI's names stand for the
    default model, which `root` names.
    """
    registry = service.registry
    listed = [_model(info.id, info) for info in registry.models() + registry.absent()]
    taken = {model["id"] for model in listed}
    listed += [_model(name, registry.model(name)) for name in OPENAI_NAMES if name not in taken]
    return {"object": "list", "data": [*listed, *await listed_recognisers(service)]}


@router.get("/models/{model_id:path}", tags=["lists"], responses={404: SPEECH_ERRORS[404]})
async def retrieve_model(model_id: str, service: Service) -> dict[str, Any]:
    """One model; OpenAI's own names stand for the default one, which `root` names."""
    for recogniser in await listed_recognisers(service):
        if recogniser["id"] == model_id:
            return recogniser
    return _model(model_id, service.registry.model(model_id))


@router.get("/audio/models", tags=["lists"])
async def list_audio_models(service: Service) -> dict[str, Any]:
    """The models that can speak, in the shape that Open WebUI reads."""
    return {"models": [{"id": info.id, "name": info.id} for info in service.registry.models() if info.available]}


@router.get("/audio/voices", tags=["lists"])
async def list_voices(
    service: Service, voices: Voices, owner: Owner, model: str | None = None, legacy: bool = False
) -> dict[str, Any]:
    """The voices of a model, the default one unless named; also those of `/v1/voices` that it speaks.

    `legacy` gives bare names, as old clients expect.
    """
    listed = await voices_of(model, service, voices, owner)
    if legacy:
        return {"voices": [voice.id for voice in listed]}
    return {"voices": [_voice(voice) for voice in listed], "default_voice": service.registry.default_voice(model)}


async def voices_of(model: str | None, service: SpeechService, voices: VoiceService, owner: str) -> list[Voice]:
    """The voices that an owner may speak with, of a model, the default one unless named."""
    listed = list(service.registry.voices(model))
    info, styles = service.registry.model(model), list[VoiceRecord]()
    if info.loaded and not info.cloning:
        styles = await voices.styles_of(service.registry.engine(model), owner, _MAX_REGISTERED)
        listed += [Voice(record.name, record.name, record.language) for record in styles]
    if service.registry.clones_for(model):
        page = await voices.page(VoiceQuery(limit=_MAX_REGISTERED), owner)
        cloned = [record for record in page.voices if record not in styles]
        listed += [Voice(record.id, record.name, record.language) for record in cloned]
    return listed


def _model(model_id: str, info: ModelInfo) -> dict[str, Any]:
    known = None if info.capabilities is None else asdict(info.capabilities)
    if known is not None:
        known |= {"languages": sorted(known["languages"]), "tags": sorted(known["tags"] or ())}
    return {
        "id": model_id,
        "object": "model",
        "created": info.created,
        "owned_by": info.owned_by,
        "root": info.id,
        "available": info.available,
        "reason": info.reason,
        "loaded": info.loaded,
        "capabilities": known,
        "task": _SPEAKS,
    }


def _voice(voice: Voice) -> dict[str, Any]:
    """`name` repeats the id, since clients send either of them back; `title` and `reason` are for people."""
    return {
        "id": voice.id,
        "name": voice.id,
        "title": voice.name,
        "language": voice.language,
        "gender": voice.gender,
        "description": voice.description,
        "grade": voice.grade,
        "available": not voice.reason,
        "reason": voice.reason,
    }


router.include_router(cloned_voices)
router.include_router(transcriptions)

DOOR = Door(
    _NAME,
    router,
    tags={
        "speech": "Speech from text, dialogues and voice conversion: OpenAI's API and what this server adds to it.",
        "lists": "The models and their voices.",
        "listening": "Words from recordings: transcripts, and translations to English.",
    },
    field_names={"/v1/audio/speech": AUDIO_FIELD_NAMES, "/v1/audio/speech/batch": AUDIO_FIELD_NAMES},
    recordings=["/v1/audio/speech/batch", "/v1/audio/voices"],
    long_recordings=["/v1/audio/transcriptions", "/v1/audio/translations"],
    lists=["/v1/models*", "/v1/audio/models", "/v1/audio/voices"],
    headers=(MODEL_HEADER, DOWNLOAD_HEADER, TIMING_HEADER, CAPTIONS_HEADER),
    operations={
        "POST /v1/audio/speech*": Operation.SPEAK,
        "GET /v1/models*": Operation.LIST,
        "GET /v1/audio/models": Operation.LIST,
        "GET /v1/audio/voices": Operation.LIST,
        "POST /v1/audio/voices": Operation.CHANGE_VOICES,
        "POST /v1/audio/transcriptions": Operation.LISTEN,
        "POST /v1/audio/translations": Operation.LISTEN,
    },
    kept=["POST /v1/audio/speech/batch"],
)
