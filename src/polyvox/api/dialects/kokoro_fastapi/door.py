"""Kokoro-FastAPI's additions to OpenAI's API: word timings, phonemes, mixed voices as files."""

import re
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, Response
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from polyvox.api import debug
from polyvox.api.body_format import BodyFormat
from polyvox.api.dependencies import DownloadStore, Owner, Service, Voices
from polyvox.api.dialects.kokoro_fastapi import development as kokoro_dev
from polyvox.api.dialects.kokoro_fastapi.bodies import (
    CaptionedBody,
    Phonemes,
    PhonemizeBody,
    SsmlBody,
    SsmlSupport,
    TaggedText,
)
from polyvox.api.dialects.kokoro_fastapi.settings import KOKORO_VARIABLES
from polyvox.api.dialects.openai.door import SPEECH_ERRORS
from polyvox.api.door import Door
from polyvox.api.requests.audio_body import AUDIO_FIELD_NAMES
from polyvox.api.requests.body import JsonRoute
from polyvox.api.requests.languages import language_tag
from polyvox.api.requests.speech_requests import speech_request
from polyvox.api.responses import downloads
from polyvox.api.responses.caption_bodies import Captioned
from polyvox.api.responses.captions import CaptionFile, CaptionStream
from polyvox.api.responses.downloads import begin_download, download_header
from polyvox.api.responses.error_body import ErrorBody
from polyvox.api.responses.side_response import SideResponse
from polyvox.api.responses.streaming import WARNING_HEADER, SpeechResponse
from polyvox.errors import ForbiddenError
from polyvox.service.keys.operations import Operation
from polyvox.service.speech import SpeechService
from polyvox.text.markup import say_as, ssml, ssml_values
from polyvox.text.warnings import one_line
from polyvox.types import SPEED_RANGE
from polyvox.voices.mixing import MAX_MIX_CHARS
from polyvox.voices.torch_file import torch_file

router = APIRouter(route_class=JsonRoute, tags=["Kokoro-FastAPI"])

_NAME = "kokoro"
_SSML_ERRORS: dict[int | str, dict[str, Any]] = {
    400: SPEECH_ERRORS[400],
    403: {"model": ErrorBody, "description": "The setting allow_ssml is off."},
    429: SPEECH_ERRORS[429],
}
_UNSAFE_IN_A_FILE_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def _mix_expression(voices: object) -> str:
    """A list of names is their mix in equal parts."""
    if isinstance(voices, list) and voices and all(isinstance(name, str) for name in voices):
        voices = "+".join(voices)
    if isinstance(voices, str) and voices.strip() and len(voices) <= MAX_MIX_CHARS:
        return voices.strip()
    raise PydanticCustomError("mix", "a mix such as 'af_heart(2)+bf_emma(1)', or a list of voice names")


@router.post(
    "/dev/captioned_speech",
    response_class=Response,
    responses=SPEECH_ERRORS | {200: {"model": Captioned, "description": "Audio and words."}},
)
async def captioned_speech(
    body: CaptionedBody,
    service: Service,
    voices: Voices,
    owner: Owner,
    store: DownloadStore,
    x_polyvox_chunks: Annotated[
        str, Header(description="1: each line also gives the positions of its chunks, as `chunks`.")
    ] = "0",
) -> SpeechResponse:
    """Speak a text, with the start and end of each word.

    The answer is one JSON object a line while the audio is made, or a single one if `stream` is false. Times count from
    the start of the whole audio. With a model that does not time its words, they are found in its audio and may come a
    line or more after it.
    """
    body.check_times(have_place=body.return_timestamps)
    body_format: BodyFormat
    recorder = begin_download(body.audio_format, store, owner) if body.return_download_link else None
    if body.stream:
        chunks = x_polyvox_chunks == "1"
        body_format = CaptionStream(
            body.audio_format, body.return_timestamps, chunks, body.voiced, recorder, body.sounds
        )
    else:
        body_format = CaptionFile(body.audio_format, body.return_timestamps, body.voiced, recorder, body.sounds)
    headers = {"Content-Disposition": f"attachment; filename=speech.{body.audio_format}"}
    if recorder is not None:
        headers |= download_header(recorder)
    request = await speech_request(body, _NAME, service, voices, owner)
    request = replace(request, words=body.return_timestamps)
    return SpeechResponse(service, request, body_format, headers=headers)


@router.post("/dev/phonemize", response_model=Phonemes, responses={code: SPEECH_ERRORS[code] for code in (400, 429)})
async def phonemize(body: PhonemizeBody, service: Service, owner: Owner) -> Response:
    """The phonemes with which a model reads a text."""
    language = language_tag(body.language, "language")
    phonemize = service.side_requests.phonemize
    return SideResponse(partial(phonemize, body.text, language, body.model, _phonemes_json, owner=owner))


def _phonemes_json(phonemes: str, tokens: list[int]) -> bytes:
    return Phonemes(phonemes=phonemes, tokens=tokens).model_dump_json().encode()


@router.get("/dev/ssml", responses={403: {"model": ErrorBody, "description": "The setting allow_ssml is off."}})
async def ssml_support(service: Service) -> SsmlSupport:
    """List the SSML that is obeyed; the text of every other element is spoken."""
    _check_ssml(service)
    return SsmlSupport(
        elements=dict(ssml.ELEMENTS),
        ignored=["audio"],
        break_strengths=dict(ssml_values.BREAK_SECONDS),
        prosody_rates=dict(ssml_values.RATES),
        rate_range=[SPEED_RANGE.lowest, SPEED_RANGE.highest],
        say_as=list(say_as.KINDS),
        max_depth=ssml.MAX_DEPTH,
        max_elements=ssml.MAX_ELEMENTS,
        max_break_seconds=ssml_values.MAX_BREAK_SECONDS,
    )


@router.post("/dev/ssml", responses=_SSML_ERRORS)
async def translate_ssml(body: SsmlBody, service: Service, owner: Owner, response: Response) -> TaggedText:
    """Translate a text in SSML to one with inline tags, without speaking it.

    The tags say nothing of volume and pitch; send the SSML itself to `/v1/audio/speech` to have them.
    """
    _check_ssml(service)
    text, warnings = await service.side_requests.translate_ssml(body.text, body.voice, body.model, owner=owner)
    if warnings:
        response.headers[WARNING_HEADER] = one_line(warnings.sentences)
    return TaggedText(text=text)


def _check_ssml(service: SpeechService) -> None:
    if not service.settings.allow_ssml:
        raise ForbiddenError("SSML is off on this server; its setting allow_ssml turns it on.")


@router.post(
    "/v1/audio/voices/combine",
    response_class=Response,
    responses={
        200: {"content": {"application/octet-stream": {}}, "description": "The voice as a PyTorch tensor."},
        400: SPEECH_ERRORS[400],
        403: {"model": ErrorBody, "description": "The setting allow_voice_download is off."},
        429: SPEECH_ERRORS[429],
    },
)
async def combine_voices(
    voices: Annotated[
        str | list[str],
        BeforeValidator(_mix_expression),
        Body(description="A mix expression, or voice names to mix in equal parts.", examples=["af_heart(2)+bf_emma"]),
    ],
    service: Service,
    owner: Owner,
) -> Response:
    """Mix voices into a file that PyTorch programs load as a Kokoro voice."""
    if not service.settings.allow_voice_download:
        raise ForbiddenError(
            "Downloads of voices are off on this server; its setting allow_voice_download turns them on."
        )
    expression = str(voices)
    name = _UNSAFE_IN_A_FILE_NAME.sub("_", expression)[:100].strip("_.")
    headers = {"Content-Disposition": f'attachment; filename="{name}.pt"', "Cache-Control": "no-store"}
    work = partial(service.side_requests.mixed_voice, expression, None, torch_file, owner=owner)
    return SideResponse(work, "application/octet-stream", headers)


router.include_router(kokoro_dev.router)
router.include_router(downloads.router)
router.include_router(debug.router)

DOOR = Door(
    _NAME,
    router,
    tags={
        "Kokoro-FastAPI": "Kokoro-FastAPI's additions to OpenAI's API: word timings, phonemes, mixed voices as files."
    },
    foreign=KOKORO_VARIABLES,
    field_names=dict.fromkeys(("/dev/captioned_speech", "/dev/timestamp", "/dev/dialogue"), AUDIO_FIELD_NAMES)
    | {"/dev/generate_from_phonemes": {"input": "phonemes"}},
    operations={
        "POST /dev/captioned_speech": Operation.SPEAK,
        "POST /dev/dialogue": Operation.SPEAK,
        "POST /dev/generate_from_phonemes": Operation.SPEAK,
        "POST /dev/timestamp": Operation.SPEAK,
        "POST /dev/phonemize": Operation.READ_TEXT,
        "POST /dev/ssml": Operation.READ_TEXT,
        "GET /dev/ssml": Operation.LIST,
        "GET /v1/test": Operation.LIST,
        "POST /v1/audio/voices/combine": Operation.MIX_VOICES,
        "GET /v1/download/*": Operation.READ_DOWNLOADS,
        "GET /debug/*": Operation.READ_DEBUG,
    },
)
