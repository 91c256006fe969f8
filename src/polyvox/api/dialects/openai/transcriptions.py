"""OpenAI's transcriptions and translations: a recording in, its words out."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import AfterValidator, AliasChoices, Field

from polyvox.api.dependencies import Service
from polyvox.api.dialects.openai.transcript_bodies import FORMATS, TranscriptFormat, usage, written
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.requests.fields import Boolean, Number, RequestBody
from polyvox.api.requests.forms import json_or_form, read_fields
from polyvox.api.responses.error_body import ErrorBody
from polyvox.api.responses.transcripts import TranscriptEvents, TranscriptResponse
from polyvox.errors import InvalidRequestError
from polyvox.service.listening.listening_request import ListeningRequest
from polyvox.voices.recognition.languages import language_named, writes_traditional
from polyvox.voices.recognition.recogniser import RecognitionTask

router = APIRouter(prefix="/audio", tags=["listening"], dependencies=[Depends(refuse_foreign_pages)])

_NAME = "openai"
_FILE = "file"
_MAX_PROMPT_CHARS = 4_000
_ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorBody, "description": "A field is out of range, or the file is no recording."},
    404: {"model": ErrorBody, "description": "No such model."},
    413: {"model": ErrorBody, "description": "The recording is over its limit."},
    429: {
        "model": ErrorBody,
        "description": "Too many recordings wait; the header Retry-After says when to try again.",
    },
    501: {"model": ErrorBody, "description": "No model for this is installed; the message names the remedy."},
}
_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The transcript.",
        "content": {"application/json": {}, "text/plain": {}, "text/event-stream": {}},
    }
}

Granularity = Literal["word", "segment"]


def _one_of(formats: tuple[str, ...], written_format: str) -> str:
    if written_format in formats:
        return written_format
    raise InvalidRequestError(
        f"{written_format[:40]!r} is no format of transcripts here; use {', '.join(formats)}.", field="response_format"
    )


class TranslationBody(RequestBody):
    """The wishes for a translation to English."""

    model: str | None = Field(None, max_length=200, description="A recogniser, or `whisper-1` for the server's choice.")
    prompt: str = Field("", max_length=_MAX_PROMPT_CHARS, description="Text before the recording: names, style.")
    response_format: Annotated[str, AfterValidator(lambda name: _one_of(FORMATS, name))] = Field(
        "json", description=f"One of {', '.join(FORMATS)}."
    )
    temperature: Number = Field(0.0, ge=0, le=1, description="0: always the likeliest words.")


class TranscriptionBody(TranslationBody):
    """The wishes for a transcript."""

    language: str | None = Field(None, max_length=40, description="Its language as ISO 639-1; detected if absent.")
    timestamp_granularities: list[Granularity] = Field(
        [],
        validation_alias=AliasChoices("timestamp_granularities[]", "timestamp_granularities"),
        description="With `verbose_json`: times of words, of segments, or both.",
    )
    stream: Boolean = Field(False, description="true: events, each passage as soon as it is there.")
    include: list[str] = Field([], validation_alias=AliasChoices("include[]", "include"))
    chunking_strategy: str = Field("auto", description="`auto` alone: recordings are cut where nobody speaks.")

    def checked(self) -> None:
        """Refuse wishes that nothing here obeys."""
        if self.timestamp_granularities and self.response_format != TranscriptFormat.VERBOSE_JSON:
            raise InvalidRequestError(
                "'timestamp_granularities' needs the response_format 'verbose_json'.", field="timestamp_granularities"
            )
        if self.stream and self.response_format not in (TranscriptFormat.JSON, TranscriptFormat.TEXT):
            raise InvalidRequestError(
                "'stream' sends text; use the response_format 'json', or send no 'stream'.", field="stream"
            )
        if self.include:
            raise InvalidRequestError(
                "'include' has nothing to add here; 'verbose_json' gives the mean log probability.", field="include"
            )
        if self.chunking_strategy != "auto":
            raise InvalidRequestError("'chunking_strategy' is always 'auto' here.", field="chunking_strategy")


def _form(body: type[RequestBody]) -> dict[str, Any]:
    form = json_or_form(body, _FILE)
    form["requestBody"]["content"].pop("application/json")
    return form


@router.post(
    "/transcriptions", response_class=Response, responses=_ANSWER | _ERRORS, openapi_extra=_form(TranscriptionBody)
)
async def create_transcription(request: Request, service: Service) -> Response:
    """Write down what is said in a recording. The body is a form with the recording as its `file`."""
    fields = await read_fields(request, _FILE)
    body = fields.parsed(TranscriptionBody)
    body.checked()
    granularities = body.timestamp_granularities or ["segment"]
    task = RecognitionTask(
        language=None if body.language is None else language_named(body.language),
        prompt=body.prompt,
        temperature=body.temperature,
        words=TranscriptFormat(body.response_format).is_timed,
        traditional=writes_traditional(body.language),
    )
    asked = ListeningRequest(_recording(fields.file), task, body.model, _NAME)
    if body.stream:
        return TranscriptEvents(service, asked, usage)
    write = written(TranscriptFormat(body.response_format), "transcribe", granularities)
    return TranscriptResponse(service, asked, write)


@router.post(
    "/translations", response_class=Response, responses=_ANSWER | _ERRORS, openapi_extra=_form(TranslationBody)
)
async def create_translation(request: Request, service: Service) -> Response:
    """Write down in English what is said in a recording. The body is a form with the recording as its `file`."""
    fields = await read_fields(request, _FILE)
    body = fields.parsed(TranslationBody)
    form = TranscriptFormat(body.response_format)
    task = RecognitionTask(prompt=body.prompt, temperature=body.temperature, translate=True, words=form.is_timed)
    asked = ListeningRequest(_recording(fields.file), task, body.model, _NAME)
    return TranscriptResponse(service, asked, written(form, "translate", ["segment"]))


def _recording(file: bytes | None) -> bytes:
    if file is None:
        raise InvalidRequestError("'file' is required: send the recording as a file in a form.", field=_FILE)
    return file
