"""Messages that a client sends on the socket; anything else in them is refused by its name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints, ValidationError

from polyvox.api.complaints import invalid_request
from polyvox.api.requests.audio_body import FlowFields, TokenFields
from polyvox.api.requests.fields import PRINTABLE, RequestBody, Text
from polyvox.api.requests.speech_body import SpeechBody
from polyvox.audio.encode import AudioFormat, parse_format
from polyvox.errors import InvalidRequestError
from polyvox.service.contexts.speech_context import ContextOptions
from polyvox.service.pronunciation.dictionaries import MAX_NAMED
from polyvox.types import SPEED_RANGE

DEFAULT_CONTEXT = "default"

_BODY_FIELDS: Mapping[str, str] = MappingProxyType(
    {"format": "response_format", "language": "lang_code", "volume": "volume_multiplier"}
)
"""Names of a `start`'s fields in a body of `/v1/audio/speech`, where they differ."""
FIELD_NAMES: Mapping[str, str | None] = MappingProxyType(
    {**{theirs: ours for ours, theirs in _BODY_FIELDS.items()}, "input": "text", "timestamps": "phoneme_timings"}
)
"""The same the other way round, for errors."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=PRINTABLE)]
FlushId = Annotated[str, StringConstraints(max_length=128)] | Annotated[int, Field(ge=-(2**53), le=2**53)]


class ClientMessage(RequestBody):
    """Base of all messages. Null means "not given"; values are not converted from other types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ContextMessage(ClientMessage):
    """A message for one context."""

    context: Name = DEFAULT_CONTEXT


class Start(TokenFields, FlowFields, ContextMessage):
    """Open a context. All that follows in it is spoken so."""

    type: Literal["start"]
    model: str | None = Field(None, max_length=200)
    voice: str | None = None
    prompt_text: Text | None = None
    speed: float = Field(1.0, ge=SPEED_RANGE.lowest, le=SPEED_RANGE.highest, allow_inf_nan=False)
    format: str = "pcm"
    sample_rate: int | None = Field(None, ge=8_000, le=48_000)
    language: str | None = None
    volume: float = Field(1.0, gt=0.0, le=4.0, allow_inf_nan=False)
    loudness: float | None = Field(None, ge=-50.0, le=-5.0, allow_inf_nan=False)
    seed: int | None = Field(None, ge=0, lt=2**63)
    instructions: Text | None = None
    dictionaries: list[str] = Field([], max_length=MAX_NAMED)
    word_timings: bool = False
    phoneme_timings: bool = False
    visemes: bool = False
    binary: bool = False
    max_delay_ms: int | None = Field(None, ge=0, le=30_000)
    max_wait: float | None = Field(None, ge=0.0, allow_inf_nan=False)

    @property
    def audio_format(self) -> AudioFormat:
        return parse_format(self.format, "format")

    @property
    def options(self) -> ContextOptions:
        return ContextOptions() if self.max_delay_ms is None else ContextOptions(max_delay=self.max_delay_ms / 1000)

    def speech_body(self) -> SpeechBody:
        """The same as a body of `/v1/audio/speech` without a text."""
        here = set(SpeechBody.model_fields) | set(_BODY_FIELDS)
        given = {name: getattr(self, name) for name in self.model_fields_set if name in here}
        given |= {"timestamps": "phonemes"} if self.phoneme_timings else {}
        body = {_BODY_FIELDS.get(name, name): value for name, value in given.items()}
        return SpeechBody.model_validate({"response_format": self.audio_format, **body, "input": ""})


class TextFragment(ContextMessage):
    """More text, of any length; with `flush`, a flush after it."""

    type: Literal["text"]
    text: Text
    flush: bool = False


class Flush(ContextMessage):
    """Speak now what has come so far."""

    type: Literal["flush"]
    id: FlushId | None = None


class End(ContextMessage):
    """No more text comes."""

    type: Literal["end"]


class Cancel(ContextMessage):
    """Stop speaking, at once."""

    type: Literal["cancel"]


class Ping(ClientMessage):
    """Ask for a `pong`; an open socket without contexts stays open."""

    type: Literal["ping"]
    id: FlushId | None = None


Message = Start | TextFragment | Flush | End | Cancel | Ping

_TYPES: Mapping[str, type[Message]] = MappingProxyType(
    {"start": Start, "text": TextFragment, "flush": Flush, "end": End, "cancel": Cancel, "ping": Ping}
)


def parsed_message(values: Mapping[str, Any]) -> Message:
    """The message; InvalidRequestError that names the field at fault where it is none."""
    kind = values.get("type")
    message_type = _TYPES.get(kind) if isinstance(kind, str) else None
    if message_type is None:
        raise InvalidRequestError(f"'type' must be one of {', '.join(_TYPES)}.", field="type")
    half = next((name for name, value in values.items() if name != "text" and _is_broken(value)), None)
    if half is not None:
        raise InvalidRequestError(
            f"'{shown(half)}' holds half of a character that takes two \\u escapes.", field=shown(half)
        )
    unknown = next((name for name in values if name not in message_type.model_fields), None)
    if unknown is not None:
        name, fields = shown(unknown), ", ".join(message_type.model_fields)
        raise InvalidRequestError(f"'{name}' is no field of '{kind}', which has {fields}.", field=name)
    try:
        return message_type.model_validate(values)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise invalid_request([{**problem, "loc": (kind, problem["loc"][0])}]) from error


def given_context(values: Mapping[str, Any]) -> str | None:
    """The context that a message is about, as far as that can be told before it is checked."""
    kind = values.get("type")
    is_about_one = isinstance(kind, str) and kind in _TYPES and kind != "ping"
    name = values.get("context", DEFAULT_CONTEXT if is_about_one else None)
    try:
        return None if name is None else ContextMessage(context=name).context
    except ValidationError:
        return None


def _is_broken(value: object) -> bool:
    """Return whether a string cannot be sent back, since it holds half of a surrogate pair; only a text may."""
    return isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value)


def shown(name: object) -> str:
    """A name of the client's as an error may repeat it."""
    return str(name)[:80].encode(errors="replace").decode()
