"""Events of clients, as pydantic models; the parameters of sessions and responses differ by dialect."""

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

Modalities = Annotated[list[Literal["audio", "text"]], AfterValidator(_with_audio)]


Tools = Annotated[tuple[Any, ...], Field(max_length=_MAX_TOOLS)]


class ContentFields(RequestBody):
    """A part of a message; parts that are not text are refused by name."""

    type: str
    text: Text = ""


class ItemFields(RequestBody):
    """A message, or in `response.input` a reference to one of the conversation."""

    id: Id | None = None
    type: str = "message"
    role: Literal["user", "assistant", "system"] = "user"
    content: Annotated[tuple[ContentFields, ...], Field(max_length=_MAX_PARTS)] = ()

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
