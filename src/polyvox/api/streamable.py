"""What the Streamable TTS API has besides speech: its speakers, speech in a voice that comes along, text read out."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field, StrictBool

from polyvox.api.body import JsonRoute
from polyvox.api.dialect import MODEL, Dialect, StreamableSettings
from polyvox.api.forms import either_way, read_fields, refuse_foreign_pages
from polyvox.api.hall import Hall, Owner, Voices
from polyvox.api.openai import SPEECH_ERRORS
from polyvox.api.schemas import Integer, RequestBody, SpeechBody, Text, TokenFields
from polyvox.api.streaming import SpeechResponse
from polyvox.errors import InvalidRequestError, TextError, UnavailableError
from polyvox.service.cloning import Clone
from polyvox.text.grapheme_frontend import GraphemeFrontend
from polyvox.types import NormalizationOptions
from polyvox.voices.references import InlineVoice

router = APIRouter(prefix="/v1/audio", route_class=JsonRoute, tags=["Streamable TTS API"])

_FIELDS: Mapping[str, str | None] = MappingProxyType(
    {"input": "generate_text", "prompt_text": "reference_text", "voice": "reference_audio", "language": "lang_code"}
)
"""What `/v1/audio/vc` calls the fields of a request for speech."""

_MOST_CODES = 10_000


class CloneBody(TokenFields):
    """A text to be spoken in the voice of a recording."""

    reference_text: Text = Field(description="What is said in the recording.")
    generate_text: Text = Field(description="The text to speak.")
    reference_codes: list[Integer] | None = Field(
        None, max_length=_MOST_CODES, description="The recording's tokens, in place of the recording."
    )
    model: str | None = Field(None, description="The model's name; another one that clones may be named, too.")
    response_format: str = Field("pcm", description="`pcm`, `wav` or another format of `/v1/audio/speech`.")
    stream: StrictBool = Field(True, description="false: answer once, when all is spoken.")
    seed: Integer | None = Field(None, ge=0, lt=2**63, description="Same seed, same speech.")

    def speech_body(self, model: str) -> SpeechBody:
        """The same as a request for speech."""
        mine = {"reference_text", "generate_text", "reference_codes"}
        shared = {name: getattr(self, name) for name in self.model_fields_set - mine}
        return SpeechBody(**{"response_format": "pcm", "model": model, **shared, "input": self.generate_text})


class NormalizeBody(RequestBody):
    """A text to be read out on paper."""

    input: Text = Field(description="The text.")
    normalize_malaysian: StrictBool = Field(
        False, description="Whether figures, money, dates and the like become words, Malay or English."
    )
    mode: Literal["rule", "spoken", "llm"] = Field(
        "rule", description="`rule`: as `normalize_malaysian` says. `spoken`: words in any case. `llm` is not offered."
    )


@router.get("/speaker")
async def list_speakers(hall: Hall) -> list[str]:
    """The speakers of the codec language model."""
    return [voice.id for voice in hall.registry.voices(MODEL)]


@router.post(
    "/vc",
    response_class=Response,
    responses=SPEECH_ERRORS,
    dependencies=[Depends(refuse_foreign_pages)],
    openapi_extra=either_way(CloneBody, "reference_audio"),
)
async def clone_speech(request: Request, hall: Hall, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak a text in the voice of a recording, which comes as the form's file `reference_audio`."""
    fields = await read_fields(request, "reference_audio")
    body = fields.parsed(CloneBody)
    dialect = Dialect.of(body.speech_body(hall.settings.section(StreamableSettings).model), hall.settings)
    asked = dialect.tuned(dialect.body.speech_request(hall.settings, "streamable"))
    if body.reference_codes is not None:
        clone = voices.casting.coded(body.reference_codes, body.reference_text)
        return SpeechResponse(hall, replace(asked, cast=partial(_given, clone)), dialect.layout, _FIELDS)
    if fields.file is None:
        raise InvalidRequestError("'reference_audio' is required: send the recording.", field="reference_audio")
    reference = InlineVoice(fields.file)
    cast = partial(voices.casting.cast, reference, owner, model=asked.model, transcript=body.reference_text)
    return SpeechResponse(hall, replace(asked, cast=cast), dialect.layout, _FIELDS)


@router.post("/normalize", responses={400: SPEECH_ERRORS[400]})
async def normalize(body: NormalizeBody, hall: Hall) -> dict[str, Any]:
    """The text as the codec language model would read it: in one line, without markup, with a full stop."""
    if body.mode == "llm":
        raise UnavailableError("This server reads text by rules; send mode 'rule' or 'spoken'.", field="mode")
    if len(body.input) > hall.settings.max_input_chars:
        raise TextError(f"This server takes at most {hall.settings.max_input_chars:,} characters.", field="input")
    options = NormalizationOptions(normalize=body.normalize_malaysian or body.mode == "spoken")
    return {"output": await asyncio.to_thread(GraphemeFrontend().normalized, body.input, options), "mode": body.mode}


async def _given(clone: Clone) -> Clone:
    return clone
