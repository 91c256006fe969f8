"""Events of clients, as pydantic models; the parameters of sessions and responses differ by dialect."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from polyvox.api.dialects.openai_realtime.event_error import NOT_SUPPORTED, EventError
from polyvox.api.requests.fields import PRINTABLE, Integer, RequestBody, Text
from polyvox.api.requests.speech_body import VoiceName, VoiceReference

_MAX_METADATA = 16
_MAX_ITEMS = 256
_MAX_PARTS = 256
_MAX_TOOLS = 128
_MAX_INSTRUCTIONS = 100_000
_MAX_VOICE = 1_000

Id = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=PRINTABLE)]
Instructions = Annotated[Text, StringConstraints(max_length=_MAX_INSTRUCTIONS)]
_Key = Annotated[str, StringConstraints(max_length=64)]
_Value = Annotated[str, StringConstraints(max_length=512)]
Metadata = Annotated[dict[_Key, _Value], Field(max_length=_MAX_METADATA)]


def _with_audio(modalities: list[str]) -> list[str]:
    if "audio" not in modalities:
        raise PydanticCustomError("modalities", "must hold 'audio': there is no language model here that could write")
    return modalities


def _short_voice(voice: str | VoiceReference) -> str:
    name = voice.id if isinstance(voice, VoiceReference) else voice
    if len(name) > _MAX_VOICE:
        raise PydanticCustomError("voice", "must be a name of at most {most} characters", {"most": _MAX_VOICE})
    return name


VoiceField = Annotated[VoiceName, AfterValidator(_short_voice)]
"""A voice's name, of one that is named by an object too; recordings are registered first and then named."""

Modalities = list[Literal["audio", "text"]]
SpokenModalities = Annotated[Modalities, AfterValidator(_with_audio)]

_FOR_LANGUAGE_MODELS = ("tools", "prompt", "reasoning", "tracing", "truncation", "parallel_tool_calls")

Tools = Annotated[tuple[Any, ...], Field(max_length=_MAX_TOOLS)]


class ContentFields(RequestBody):
    """A part of a message: text, or sound in base64 with or in place of its transcript."""

    type: str
    text: Text = ""
    audio: str | None = None
    transcript: Text | None = None


class ItemFields(RequestBody):
    """A message, or in `response.input` a reference to one of the conversation."""

    id: Id | None = None
    type: str = "message"
    role: Literal["user", "assistant", "system"] = "user"
    content: Annotated[tuple[ContentFields, ...], Field(max_length=_MAX_PARTS)] = ()

    @property
    def heard(self) -> ContentFields | None:
        """The sound of a user's message that is sound alone."""
        parts = self.content
        is_sound = self.type == "message" and self.role == "user" and len(parts) == 1 and parts[0].type == "input_audio"
        return parts[0] if is_sound else None

    def checked(self, place: str) -> "ItemFields":
        """Itself, if it is a message of text."""
        if self.type != "message":
            raise EventError(
                f"An item of type {self.type[:40]!r} cannot be spoken; send a 'message'.", NOT_SUPPORTED, field=place
            )
        for part in self.content:
            if part.type not in ("input_text", "output_text", "text"):
                raise EventError(
                    f"Content of type {part.type[:40]!r} cannot be spoken; send 'input_text'.",
                    NOT_SUPPORTED,
                    field=f"{place}.content",
                )
        return self


class ItemCreate(RequestBody):
    """`conversation.item.create`."""

    item: ItemFields
    previous_item_id: Annotated[str, StringConstraints(max_length=128)] = ""


class AudioAppend(RequestBody):
    """`input_audio_buffer.append`."""

    audio: str


class ItemReference(RequestBody):
    """`conversation.item.retrieve` and `conversation.item.delete`."""

    item_id: Id


class ItemTruncate(ItemReference):
    """`conversation.item.truncate`."""

    content_index: Annotated[Integer, Field(ge=0, le=0)] = 0
    audio_end_ms: Annotated[Integer, Field(ge=0)]


class ResponseCancel(RequestBody):
    """`response.cancel`."""

    response_id: Id | None = None


class ResponseFields(RequestBody):
    """Fields of `response.create` in both dialects."""

    conversation: Literal["auto", "none"] = "auto"
    input: Annotated[list[ItemFields], Field(max_length=_MAX_ITEMS)] | None = None
    instructions: Instructions | None = None
    metadata: Metadata | None = None
    tools: Tools = ()


def refuse_tools(tools: Tools, field: str) -> None:
    """Refuse tools, which only a language model could call."""
    if tools:
        raise EventError("There is no language model here to call tools; send none.", NOT_SUPPORTED, field=field)


def ignored_fields(session: Mapping[str, Any], modalities: Sequence[str] | None) -> Iterator[str]:
    """Sentences on what a session is asked for and only a language model could do."""
    given = [name for name in _FOR_LANGUAGE_MODELS if session.get(name)]
    if given:
        named = ", ".join(f"'{name}'" for name in given)
        yield f"There is no language model here; ignored: {named}."
    if modalities is not None and "audio" not in modalities:
        yield "There is no language model here that could write; responses are audio with its transcript."
