"""The dialect of the Streamable TTS API: its speech, its speakers, cloning from a recording, and text normalisation.

Its requests for speech come to `/v1/audio/speech` and are known by the name of their model.
"""

import json
import re
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from polyvox.api.body_format import AudioFile, BodyFormat
from polyvox.api.dependencies import Owner, Service, Voices
from polyvox.api.dialects.openai.door import SPEECH_ERRORS
from polyvox.api.dialects.streamable_settings import STREAMABLE_MODEL, STREAMABLE_VARIABLES, StreamableSettings
from polyvox.api.door import Door
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.requests.audio_body import StreamableFields
from polyvox.api.requests.body import JsonRoute
from polyvox.api.requests.fields import Boolean, Integer, RequestBody, Text
from polyvox.api.requests.forms import json_or_form, read_fields
from polyvox.api.requests.speech_body import SpeechBody
from polyvox.api.requests.speech_requests import adapted_body
from polyvox.api.responses.side_response import SideResponse
from polyvox.api.responses.streaming import SpeechResponse
from polyvox.audio.encode import AudioFormat
from polyvox.config import Settings
from polyvox.errors import InvalidRequestError
from polyvox.service.keys.operations import Operation
from polyvox.service.side_requests import SideRequests
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.voice_resolver import ResolvedVoice
from polyvox.text.grapheme_frontend import one_line
from polyvox.types import NormalizationOptions
from polyvox.voices.references import InlineVoice

router = APIRouter(prefix="/v1/audio", route_class=JsonRoute, tags=["Streamable TTS API"])

_NAME = "streamable"
_MALAY = "ms"
_HUB_NAME = re.compile(r"Scicom-intl/Multilingual-(?:Expressive-)?TTS-[\w.-]{1,40}", re.ASCII)
"""Names of the model's releases on the hub, which clients of that server send."""
_SAMPLE_RATE = 24_000
_MAX_CODES = 10_000


class CloneBody(StreamableFields):
    """A text to speak in the voice of a recording."""

    reference_text: Text = Field(description="Transcript of the recording.")
    generate_text: Text = Field(description="The text to speak.")
    reference_codes: list[Integer] | None = Field(
        None, max_length=_MAX_CODES, description="The recording's tokens, in place of the recording."
    )
    model: str | None = Field(None, description="The model's name; another model that clones voices may be named, too.")
    response_format: str = Field("pcm", description="`pcm`, `wav` or another format of `/v1/audio/speech`.")
    stream: Boolean = Field(True, description="false: answer once, when all is spoken.")
    seed: Integer | None = Field(None, ge=0, lt=2**63, description="Same seed, same speech.")

    def speech_body(self, model: str) -> SpeechBody:
        """The same as a request for speech."""
        mine = {"reference_text", "generate_text", "reference_codes"}
        shared = {name: getattr(self, name) for name in self.model_fields_set - mine}
        return SpeechBody(**{"response_format": "pcm", "model": model, **shared, "input": self.generate_text})


class NormalizeBody(RequestBody):
    """A text to normalise."""

    input: Text = Field(description="The text.")
    normalize_malaysian: Boolean = Field(
        False, description="Whether numbers, money, dates and the like become words, in Malay or English."
    )
    mode: Literal["rule", "spoken", "llm"] = Field(
        "rule", description="`rule`: as `normalize_malaysian` says. `spoken`: always as words. `llm` is not supported."
    )


@router.get("/speaker", responses={code: SPEECH_ERRORS[code] for code in (404, 501, 503)})
async def list_speakers(service: Service) -> list[str]:
    """The speakers of the codec language model."""
    return [voice.id for voice in service.registry.voices(STREAMABLE_MODEL)]


@router.post(
    "/vc",
    response_class=Response,
    responses=SPEECH_ERRORS,
    dependencies=[Depends(refuse_foreign_pages)],
    openapi_extra=json_or_form(CloneBody, "reference_audio"),
)
async def clone_speech(request: Request, service: Service, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak a text in the voice of a recording, which comes as the form's file `reference_audio`."""
    fields = await read_fields(request, "reference_audio")
    body = fields.parsed(CloneBody)
    settings = service.settings
    speech = adapted_body(body.speech_body(settings.section(StreamableSettings).model), settings, (adapt_speech,))
    asked = speech.speech_request(_NAME)
    by_name = voices.resolver.by_name(owner, asked.model)
    asked = replace(asked, markup=replace(asked.markup, resolve_voice=by_name))
    if body.reference_codes is not None:
        clone = voices.resolver.from_codes(body.reference_codes, body.reference_text)
        return SpeechResponse(service, replace(asked, resolve_voice=partial(_given, clone)), speech.body_format)
    if fields.file is None:
        raise InvalidRequestError("'reference_audio' is required: send the recording.", field="reference_audio")
    reference = InlineVoice(fields.file)
    resolve_voice = partial(
        voices.resolver.resolve, reference, owner, model=asked.model, transcript=body.reference_text
    )
    return SpeechResponse(service, replace(asked, resolve_voice=resolve_voice), speech.body_format)


@router.post(
    "/normalize", response_model=dict[str, Any], responses={code: SPEECH_ERRORS[code] for code in (400, 429, 503)}
)
async def normalize(body: NormalizeBody, service: Service, owner: Owner) -> Response:
    """The text as the codec language model would read it: in one line, without markup, with a full stop."""
    if body.mode == "llm":
        raise InvalidRequestError("This server normalises text by rules; send mode 'rule' or 'spoken'.", field="mode")
    return SideResponse(partial(_normalized_json, body, service.side_requests, owner))


async def _normalized_json(body: NormalizeBody, side_requests: SideRequests, owner: str) -> bytes:
    options = NormalizationOptions(normalize=body.normalize_malaysian or body.mode == "spoken")
    blocks = await side_requests.normalized(body.input, options, owner=owner)
    return json.dumps({"output": one_line(blocks), "mode": body.mode}, ensure_ascii=False).encode()


async def _given(clone: ResolvedVoice) -> ResolvedVoice:
    return clone


@dataclass(frozen=True, slots=True)
class RawFile(AudioFile):
    """Samples in one response, under the dialect's media type; they are little-endian all the same."""

    sample_rate: int = _SAMPLE_RATE

    @property
    def media_type(self) -> str:
        return f"audio/L16; rate={self.sample_rate}; channels=1"


class TunedBody(SpeechBody):
    """A request for the dialect's model, with the parameters that only this model takes."""

    def speech_request(self, door: str) -> SpeechRequest:
        request = super().speech_request(door)
        changes: dict[str, Any] = {"tuning": self.tuning}
        if self.speaking_rate is not None:
            changes["speed"] = self.speaking_rate
        if self.normalize_malaysian is False:
            changes["normalization"] = NormalizationOptions(normalize=False)
        elif self.normalize_malaysian:
            changes["language"] = request.utterance.language or _MALAY
        return replace(request, utterance=replace(request.utterance, **changes))


class StreamableBody(TunedBody):
    """A request in this dialect, with its defaults; samples in one response have its media type."""

    @property
    def body_format(self) -> BodyFormat:
        if not self.stream and self.audio_format is AudioFormat.PCM:
            return RawFile(AudioFormat.PCM, self.sample_rate or _SAMPLE_RATE)
        return super().body_format

    @property
    def openai_names(self) -> bool:
        """False: its callers name speakers of the model, and must not get another voice in their place."""
        return False

    def speech_request(self, door: str) -> SpeechRequest:
        return super().speech_request(_NAME)


def adapt_speech(body: SpeechBody, settings: Settings) -> SpeechBody | None:
    """Claim requests that name the dialect's model, here or on the hub, or none where it is the default one.

    One that names the model itself only gets its tuning.
    """
    own = settings.section(StreamableSettings)
    named = body.model == own.model or _HUB_NAME.fullmatch(body.model or "") is not None
    if named or (not body.model and settings.default_model == STREAMABLE_MODEL):
        return _with_defaults(body, own)
    if (body.model or settings.default_model) == STREAMABLE_MODEL:
        return TunedBody.model_construct(body.model_fields_set, **dict(body))
    return None


def _with_defaults(body: SpeechBody, own: StreamableSettings) -> StreamableBody:
    defaults: dict[str, Any] = {
        "response_format": AudioFormat.PCM.value,
        "voice": own.voice,
        "playback_speed": own.playback_speed,
        "playback_overlap_speed": own.playback_overlap_speed,
        "normalize_malaysian": True,
    }
    missing = {name: value for name, value in defaults.items() if name not in body.model_fields_set}
    changes = {"model": STREAMABLE_MODEL, **missing}
    return StreamableBody.model_construct(body.model_fields_set | set(changes), **dict(body) | changes)


DOOR = Door(
    _NAME,
    router,
    tags={
        "Streamable TTS API": "The Streamable TTS API. Its model's name in `/v1/audio/speech` asks for its defaults."
    },
    settings=StreamableSettings,
    foreign=STREAMABLE_VARIABLES,
    field_names={
        "/v1/audio/vc": {
            "input": "generate_text",
            "prompt_text": "reference_text",
            "voice": "reference_audio",
            "language": "lang_code",
        }
    },
    recordings=["/v1/audio/vc*"],
    adapter=adapt_speech,
    operations={
        "POST /v1/audio/vc": Operation.SPEAK,
        "POST /v1/audio/normalize": Operation.READ_TEXT,
        "GET /v1/audio/speaker": Operation.LIST,
    },
)
