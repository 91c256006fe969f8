"""The shapes of the Realtime API's beta version."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from polyvox.api.dialects.openai_realtime.client_events import (
    Instructions,
    Modalities,
    ResponseFields,
    SpokenModalities,
    VoiceField,
    ignored_fields,
    refuse_tools,
)
from polyvox.api.dialects.openai_realtime.dialect import ResponseRequest
from polyvox.api.dialects.openai_realtime.input_fields import (
    NullableInput,
    TranscriptionFields,
    TurnFields,
    changed_input,
    input_warnings,
)
from polyvox.api.dialects.openai_realtime.session_options import SessionChange, SessionKind, SessionOptions
from polyvox.api.dialects.openai_realtime.speech_options import SpeechOptions
from polyvox.api.dialects.openai_realtime.wire_format import WireFormat
from polyvox.api.requests.fields import RequestBody, Speed
from polyvox.api.requests.forms import Fields

BETA_HEADER = "openai-beta"
BETA_VALUE = "realtime=v1"
BETA_PROTOCOL = "openai-beta.realtime-v1"

_EVENT_NAMES: Mapping[str, str | None] = MappingProxyType(
    {
        "response.output_audio.delta": "response.audio.delta",
        "response.output_audio.done": "response.audio.done",
        "response.output_audio_transcript.delta": "response.audio_transcript.delta",
        "response.output_audio_transcript.done": "response.audio_transcript.done",
        "conversation.item.added": "conversation.item.created",
        "conversation.item.done": None,
    }
)
_FORMATS = {"pcm16": WireFormat.PCM, "g711_ulaw": WireFormat.PCMU, "g711_alaw": WireFormat.PCMA}
_FORMAT_NAMES = {wire: name for name, wire in _FORMATS.items()}
_MODALITIES = ["audio", "text"]


_Format = Literal["pcm16", "g711_ulaw", "g711_alaw"]


class _Voiced(RequestBody):
    voice: VoiceField | None = None
    output_audio_format: _Format | None = None
    speed: Speed | None = None
    instructions: Instructions | None = None


class _Session(_Voiced, NullableInput):
    nullable: ClassVar = frozenset({"input_audio_transcription", "turn_detection"})

    model: Annotated[str, Field(max_length=200)] | None = None
    modalities: Modalities | None = None
    input_audio_format: _Format | None = None
    input_audio_transcription: TranscriptionFields | None = None
    turn_detection: TurnFields | None = None
    input_audio_noise_reduction: Any = None

    @property
    def given(self) -> dict[str, Any]:
        """The fields of sound that were sent, by the names of the options that they change."""
        found: dict[str, Any] = {}
        if self.input_audio_format is not None:
            found["format"] = _FORMATS[self.input_audio_format]
        if "input_audio_transcription" in self.model_fields_set:
            found["transcription"] = self.input_audio_transcription
        if "turn_detection" in self.model_fields_set:
            found["turns"] = self.turn_detection
        return found


class _SessionUpdate(RequestBody):
    session: _Session


class _Response(_Voiced, ResponseFields):
    modalities: SpokenModalities | None = None
    instructions: Instructions | None = None


class _ResponseCreate(RequestBody):
    response: _Response = _Response()


class BetaDialect:
    """All parameters are at the top level; events of sound are called `response.audio...`."""

    spoken_type = "audio"

    def event_name(self, name: str) -> str | None:
        return _EVENT_NAMES.get(name, name)

    def updated(self, options: SessionOptions, message: Mapping[str, Any]) -> SessionChange:
        session = Fields(message).parsed(_SessionUpdate).session
        speech = _applied(options.speech, session)
        changed = replace(
            options,
            speech=replace(speech, model=speech.model if session.model is None else session.model),
            input=changed_input(options.input, session.given),
        )
        warnings = (
            *ignored_fields(message["session"], session.modalities),
            *input_warnings(session.given, session.input_audio_noise_reduction),
        )
        return SessionChange(changed, warnings)

    def response_request(self, options: SpeechOptions, message: Mapping[str, Any]) -> ResponseRequest:
        response = Fields(message).parsed(_ResponseCreate).response
        refuse_tools(response.tools, "response.tools")
        return ResponseRequest(_applied(options, response), response)

    def session_fields(self, options: SessionOptions) -> dict[str, Any]:
        heard = {
            "input_audio_format": _FORMAT_NAMES[options.input.format],
            "input_audio_transcription": options.input.transcription_fields,
            "input_audio_noise_reduction": None,
            "turn_detection": options.input.turn_fields,
        }
        if options.kind is SessionKind.TRANSCRIPTION:
            return {"modalities": _MODALITIES, **heard}
        return {
            "model": options.speech.model,
            "speed": options.speech.speed,
            "instructions": options.speech.instructions,
            **heard,
            "tools": [],
            "tool_choice": "none",
            "max_response_output_tokens": "inf",
            **self.response_fields(options.speech),
        }

    def response_fields(self, options: SpeechOptions) -> dict[str, Any]:
        return {
            "modalities": _MODALITIES,
            "voice": options.voice,
            "output_audio_format": _FORMAT_NAMES[options.format],
        }


def _applied(options: SpeechOptions, given: _Voiced) -> SpeechOptions:
    wire = given.output_audio_format
    return replace(
        options,
        voice=options.voice if given.voice is None else str(given.voice),
        speed=options.speed if given.speed is None else given.speed,
        instructions=options.instructions if given.instructions is None else given.instructions,
        format=options.format if wire is None else _FORMATS[wire],
    )
