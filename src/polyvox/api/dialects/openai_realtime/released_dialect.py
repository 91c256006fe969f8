"""The shapes of the released Realtime API."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

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
from polyvox.api.dialects.openai_realtime.event_error import EventError
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
from polyvox.api.requests.fields import Integer, RequestBody, Speed
from polyvox.api.requests.forms import Fields

_BETA_NAMES = (
    "modalities",
    "voice",
    "output_audio_format",
    "input_audio_format",
    "input_audio_transcription",
    "turn_detection",
)


def _own_rate(rate: int, info: ValidationInfo) -> int:
    wanted = info.data.get("type", WireFormat.PCM).sample_rate
    if rate != wanted:
        raise PydanticCustomError("rate", "must be {wanted} with this format", {"wanted": wanted})
    return rate


class _Format(RequestBody):
    type: WireFormat = WireFormat.PCM
    rate: Annotated[Integer, AfterValidator(_own_rate)] | None = None


class _Output(RequestBody):
    format: _Format | None = None
    voice: VoiceField | None = None
    speed: Speed | None = None


class _Input(NullableInput):
    nullable: ClassVar = frozenset({"transcription", "turn_detection"})

    format: _Format | None = None
    transcription: TranscriptionFields | None = None
    turn_detection: TurnFields | None = None
    noise_reduction: Any = None

    @property
    def given(self) -> dict[str, Any]:
        """The fields that were sent, by the names of the options that they change."""
        found: dict[str, Any] = {} if self.format is None else {"format": self.format.type}
        if "transcription" in self.model_fields_set:
            found["transcription"] = self.transcription
        if "turn_detection" in self.model_fields_set:
            found["turns"] = self.turn_detection
        return found


class _SpokenAudio(RequestBody):
    output: _Output = _Output()


class _Audio(_SpokenAudio):
    input: _Input = _Input()


class _Session(RequestBody):
    type: SessionKind | None = None
    model: Annotated[str, Field(max_length=200)] | None = None
    output_modalities: Modalities | None = None
    audio: _Audio = _Audio()
    instructions: Instructions | None = None


class _SessionUpdate(RequestBody):
    session: _Session


class _Response(ResponseFields):
    output_modalities: SpokenModalities | None = None
    audio: _SpokenAudio = _SpokenAudio()


class _ResponseCreate(RequestBody):
    response: _Response = _Response()


class ReleasedDialect:
    """Audio parameters are nested under `audio`; events of sound are called `response.output_audio...`."""

    spoken_type = "output_audio"

    def event_name(self, name: str) -> str | None:
        return name.replace("transcription_session.", "session.")

    def updated(self, options: SessionOptions, message: Mapping[str, Any]) -> SessionChange:
        _refuse_beta_names(message, "session")
        session = Fields(message).parsed(_SessionUpdate).session
        given = session.audio.input.given
        options = replace(
            options.of_kind(session.type or options.kind),
            speech=_applied(options.speech, session.audio.output, session.instructions, session.model),
        )
        options = replace(options, input=changed_input(options.input, given))
        warnings = (
            *ignored_fields(message["session"], session.output_modalities),
            *input_warnings(given, session.audio.input.noise_reduction),
        )
        return SessionChange(options, warnings)

    def response_request(self, options: SpeechOptions, message: Mapping[str, Any]) -> ResponseRequest:
        _refuse_beta_names(message, "response")
        response = Fields(message).parsed(_ResponseCreate).response
        refuse_tools(response.tools, "response.tools")
        return ResponseRequest(_applied(options, response.audio.output, response.instructions), response)

    def session_fields(self, options: SessionOptions) -> dict[str, Any]:
        speech = options.speech
        heard = {
            "format": options.input.format.fields,
            "transcription": options.input.transcription_fields,
            "noise_reduction": None,
            "turn_detection": options.input.turn_fields,
        }
        if options.kind is SessionKind.TRANSCRIPTION:
            return {"type": str(options.kind), "audio": {"input": heard}}
        spoken = {"format": speech.format.fields, "voice": speech.voice, "speed": speech.speed}
        return {
            "type": str(options.kind),
            "model": speech.model,
            "output_modalities": ["audio"],
            "instructions": speech.instructions,
            "audio": {"input": heard, "output": spoken},
            "tools": [],
            "tool_choice": "none",
            "max_output_tokens": "inf",
        }

    def response_fields(self, options: SpeechOptions) -> dict[str, Any]:
        return {
            "output_modalities": ["audio"],
            "audio": {"output": {"format": options.format.fields, "voice": options.voice}},
            "max_output_tokens": "inf",
        }


def _applied(
    options: SpeechOptions, output: _Output, instructions: str | None, model: str | None = None
) -> SpeechOptions:
    return replace(
        options,
        model=options.model if model is None else model,
        voice=options.voice if output.voice is None else str(output.voice),
        speed=options.speed if output.speed is None else output.speed,
        instructions=options.instructions if instructions is None else instructions,
        format=options.format if output.format is None else output.format.type,
    )


def _refuse_beta_names(message: Mapping[str, Any], place: str) -> None:
    """Refuse what only the beta knew: a voice that is silently ignored would be another voice."""
    fields = message.get(place)
    given = [name for name in _BETA_NAMES if name in fields] if isinstance(fields, dict) else []
    if given:
        raise EventError(
            f"'{place}.{given[0]}' is a parameter of the beta version; use '{place}.audio' and "
            f"'{place}.output_modalities', or send the header 'OpenAI-Beta: realtime=v1'.",
            "unknown_parameter",
            field=f"{place}.{given[0]}",
        )
