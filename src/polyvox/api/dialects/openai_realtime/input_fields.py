"""Fields of a session that say how it listens, and what they change; the dialects differ in their places alone."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints, model_validator

from polyvox.api.dialects.openai_realtime.input_options import InputOptions, TranscriptionOptions, TurnOptions
from polyvox.api.requests.fields import Boolean, Integer, Number, RequestBody
from polyvox.voices.recognition.languages import language_named, writes_traditional

_MAX_PROMPT_CHARS = 4_000
_MAX_KEYWORDS = 200

_Word = Annotated[str, StringConstraints(max_length=100)]
_Language = Annotated[str, StringConstraints(max_length=40)]


class NullableInput(RequestBody):
    """Fields of which some may be null, which turns off what they are about."""

    nullable: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, body: object) -> object:
        if not isinstance(body, dict):
            return body
        return {name: value for name, value in body.items() if value is not None or name in cls.nullable}


class TranscriptionFields(RequestBody):
    """Wishes for transcripts of what is heard."""

    model: Annotated[str, StringConstraints(max_length=200)] | None = None
    language: _Language | None = None
    languages: Annotated[tuple[_Language, ...], Field(max_length=100)] = ()
    prompt: Annotated[str, StringConstraints(max_length=_MAX_PROMPT_CHARS)] = ""
    keywords: Annotated[tuple[_Word, ...], Field(max_length=_MAX_KEYWORDS)] = ()

    @property
    def options(self) -> TranscriptionOptions:
        """The options; of several possible languages none is taken for the one, and keywords are part of the prompt."""
        language = self.language or (self.languages[0] if len(self.languages) == 1 else None)
        prompt = ", ".join(part for part in (self.prompt, *self.keywords) if part)
        code = None if language is None else language_named(language, "transcription.language")
        return TranscriptionOptions(self.model, code, prompt, writes_traditional(language))


class TurnFields(RequestBody):
    """Wishes for turns."""

    type: Literal["server_vad", "semantic_vad"] = "server_vad"
    threshold: Annotated[Number, Field(ge=0, le=1)] = 0.5
    prefix_padding_ms: Annotated[Integer, Field(ge=0, le=5_000)] = 300
    silence_duration_ms: Annotated[Integer, Field(ge=0, le=10_000)] = 500
    create_response: Boolean = True
    interrupt_response: Boolean = True
    idle_timeout_ms: Annotated[Integer, Field(ge=1_000, le=60_000)] | None = None

    @property
    def options(self) -> TurnOptions:
        return TurnOptions(
            self.threshold,
            self.prefix_padding_ms,
            self.silence_duration_ms,
            self.interrupt_response,
            self.idle_timeout_ms,
        )


def changed_input(options: InputOptions, given: Mapping[str, Any]) -> InputOptions:
    """The options after a change of what is given: `format`, `transcription`, `turns`; the last two may be None."""
    changes: dict[str, Any] = {
        name: value.options if isinstance(value, TranscriptionFields | TurnFields) else value
        for name, value in given.items()
    }
    return replace(options, **changes)


def input_warnings(given: Mapping[str, Any], noise_reduction: object) -> Iterator[str]:
    """Sentences on what a session does otherwise than it is asked to."""
    turns = given.get("turns")
    if isinstance(turns, TurnFields):
        if turns.type == "semantic_vad":
            yield "'semantic_vad' is taken as 'server_vad': a turn ends after 'silence_duration_ms' of silence."
        if turns.create_response:
            yield (
                "No response is created at the end of a turn: there is no language model here that would answer. "
                "Create an item with the answer's text, then a response, and it is spoken."
            )
    transcription = given.get("transcription")
    if isinstance(transcription, TranscriptionFields) and len(transcription.languages) > 1:
        yield "Of several 'languages' none is preferred; send 'language' where you know it."
    if noise_reduction is not None:
        yield "'noise_reduction' is ignored: the sound is heard as you send it."
