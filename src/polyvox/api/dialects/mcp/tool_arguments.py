"""Arguments of the tools, as models; their JSON schemas are what an agent is shown."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints, ValidationError

from polyvox.api.complaints import invalid_request
from polyvox.api.requests.fields import RequestBody, Speed, Text
from polyvox.errors import InvalidRequestError
from polyvox.voices.names import MAX_NAME_CHARS

Arguments = TypeVar("Arguments", bound=BaseModel)
Name = Annotated[str, StringConstraints(max_length=200)]

_MODEL = "A model of the server; its default one unless given."


class ToolArguments(RequestBody):
    """Base of all arguments. What a tool does not know is refused, so that an agent does not believe it obeyed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SpeakArguments(ToolArguments):
    """A text to say, with its options."""

    text: Text = Field(description="The text to speak.")
    voice: Name | None = Field(
        None, description="A voice that the tool `voices` lists, or a mix such as af_heart(2)+bf_emma(1)."
    )
    model: Name | None = Field(None, description=_MODEL)
    speed: Speed = Field(1.0, description="1 is the voice's own pace.")
    language: Name | None = Field(None, description="How to read the text, such as en-gb, if not as the voice does.")
    instructions: Text | None = Field(
        None,
        description="How to speak, or what the voice is like, for models that follow it; others say that they do not.",
    )
    format: Literal["mp3", "wav"] = Field("mp3", description="Format of the audio; wav is four times as large.")

    @property
    def plays(self) -> bool:
        return False

    @property
    def saves(self) -> bool:
        return False


class LocalSpeakArguments(SpeakArguments):
    """The same on a machine with a loudspeaker."""

    play: StrictBool = Field(
        False, description="true: say it through the loudspeaker, of any length, and return no audio."
    )

    @property
    def plays(self) -> bool:
        return self.play


class FolderSpeakArguments(LocalSpeakArguments):
    """The same on a machine with a folder for files."""

    save: StrictBool = Field(False, description="true: write a file, of any length, and return its path, no audio.")

    @property
    def saves(self) -> bool:
        return self.save


class VoicesArguments(ToolArguments):
    """Filters of a list of voices."""

    query: Name = Field("", description="Part of the id, name or description.")
    language: Name = Field("", description="A tag such as en, which also finds en-gb.")
    gender: Literal["female", "male", ""] = Field("", description="female or male.")
    model: Name | None = Field(None, description=_MODEL)


class CloneArguments(ToolArguments):
    """A recording to register as a voice."""

    name: str = Field(description=f"What the voice is to be called: up to {MAX_NAME_CHARS} visible characters.")
    audio: str | None = Field(
        None, description="The recording in base64: an audio file with a few seconds of one person's speech."
    )
    transcript: str | None = Field(None, description="The words of the recording; recognised from English if absent.")
    language: Name | None = Field(None, description="The language spoken, such as en or zh.")
    consent: StrictBool = Field(
        False, description="Must be true, and may only be if the person on the recording has agreed to this."
    )
    consent_note: str | None = Field(None, description="How and when the person agreed.")

    @property
    def path(self) -> str | None:
        return None


class FolderCloneArguments(CloneArguments):
    """The same on a machine with a folder for files."""

    file: str | None = Field(None, description="The recording's file in the configured folder, in place of `audio`.")

    @property
    def path(self) -> str | None:
        return self.file


def parsed(model: type[Arguments], arguments: Mapping[str, Any] | None) -> Arguments:
    """The arguments of a call; one sentence about the first that is wrong."""
    try:
        return model.model_validate(arguments or {})
    except ValidationError as error:
        problems: list[dict[str, Any]] = [
            {**problem, "loc": ("arguments", *problem["loc"])} for problem in error.errors(include_url=False)
        ]
        unknown = [str(problem["loc"][-1])[:80] for problem in problems if problem["type"] == "extra_forbidden"]
        if unknown:
            known = ", ".join(model.model_fields)
            raise InvalidRequestError(
                f"'{unknown[0]}' is not an argument of this tool; use {known}.", field=unknown[0]
            ) from error
        raise invalid_request(problems) from error


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments, without pydantic's titles."""
    schema = model.model_json_schema()
    properties = {name: _plain(row) for name, row in schema["properties"].items()}
    required = {"required": schema["required"]} if "required" in schema else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """A property; "or null" is left out, since an agent can leave the whole argument out."""
    kinds = [kind for kind in row.get("anyOf", []) if kind != {"type": "null"}]
    merged = {**(kinds[0] if kinds else {}), **row}
    names = {"ge": "minimum", "le": "maximum"}  # pydantic's own words, where a validator stands before a field's type
    kept = {name: value for name, value in merged.items() if name not in ("title", "anyOf") and value is not None}
    return {names.get(name, name): value for name, value in kept.items()}
