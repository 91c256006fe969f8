"""The shapes of the Realtime API's beta version."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import Field

from polyvox.api.dialects.openai_realtime.client_events import (
    Instructions,
    Modalities,
    ResponseFields,
    Tools,
    VoiceField,
    refuse_tools,
)
from polyvox.api.dialects.openai_realtime.dialect import ResponseRequest
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


class _Voiced(RequestBody):
    modalities: Modalities | None = None
    voice: VoiceField | None = None
    output_audio_format: Literal["pcm16", "g711_ulaw", "g711_alaw"] | None = None
    speed: Speed | None = None
    instructions: Instructions | None = None


class _Session(_Voiced):
    model: Annotated[str, Field(max_length=200)] | None = None
    tools: Tools = ()


class _SessionUpdate(RequestBody):
    session: _Session


class _Response(_Voiced, ResponseFields):
    instructions: Instructions | None = None


class _ResponseCreate(RequestBody):
    response: _Response = _Response()


class BetaDialect:
    """All parameters are at the top level; events of sound are called `response.audio...`."""

    spoken_type = "audio"

    def event_name(self, name: str) -> str | None:
        return _EVENT_NAMES.get(name, name)

    def updated(self, options: SpeechOptions, message: Mapping[str, Any]) -> SpeechOptions:
        session = Fields(message).parsed(_SessionUpdate).session
        refuse_tools(session.tools, "session.tools")
        return replace(_applied(options, session), model=options.model if session.model is None else session.model)

    def response_request(self, options: SpeechOptions, message: Mapping[str, Any]) -> ResponseRequest:
        response = Fields(message).parsed(_ResponseCreate).response
        refuse_tools(response.tools, "response.tools")
        return ResponseRequest(_applied(options, response), response)

    def session_fields(self, options: SpeechOptions) -> dict[str, Any]:
        return {
            "model": options.model,
            "speed": options.speed,
            "instructions": options.instructions,
            "input_audio_format": "pcm16",
            "input_audio_transcription": None,
            "turn_detection": None,
            "tools": [],
            "tool_choice": "none",
            "max_response_output_tokens": "inf",
            **self.response_fields(options),
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
