"""Words and marks with their times, as JSON in Kokoro-FastAPI's shape."""

from pydantic import BaseModel, Field, SerializeAsAny

from polyvox.types import TimingSource


class PhonemeTimestamp(BaseModel):
    """A phoneme in IPA, with its start and end in seconds from the start of the audio."""

    phoneme: str
    start_time: float
    end_time: float


class WordTimestamp(BaseModel):
    """A word as the caller wrote it, with its start and end in seconds from the start of the audio."""

    word: str
    start_time: float
    end_time: float
    phonemes: list[PhonemeTimestamp] | None = Field(
        None, exclude_if=lambda phonemes: phonemes is None, description="With `timestamps` phonemes."
    )


class VoicedTimestamp(WordTimestamp):
    """A word of a text with several voices."""

    voice: str


class VisemeTimestamp(BaseModel):
    """A shape of the mouth, as Azure's events have it."""

    viseme_id: int = Field(description="0 to 21.")
    audio_offset: int = Field(description="When it begins, in ticks of 100 ns.")


class MarkTimestamp(BaseModel):
    """A place that the text marks, in seconds from the start of the audio."""

    name: str
    time: float


class Captioned(BaseModel):
    """Audio with word timings."""

    audio: str = Field(description="The audio file, or a part of it, in base64.")
    audio_format: str = Field(description="Its media type.")
    timestamps: list[SerializeAsAny[WordTimestamp]] | None = Field(
        description="The words spoken in it, or before it and timed since; with a `voice` where the text has several."
    )
    timing_source: TimingSource | None = Field(
        None,
        exclude_if=lambda source: source is None,
        description="Where their times come from: the model's durations, an alignment with the audio, or an estimate.",
    )
    marks: list[MarkTimestamp] | None = Field(
        None, exclude_if=lambda marks: marks is None, description="The marks of a text in SSML."
    )
    visemes: list[VisemeTimestamp] | None = Field(
        None, exclude_if=lambda visemes: visemes is None, description="The shapes of the mouth, with `visemes`."
    )


class Timestamps(BaseModel):
    """The words of a text and when they are spoken."""

    timestamps: list[SerializeAsAny[WordTimestamp]]
    timing_source: TimingSource | None = Field(
        None, exclude_if=lambda source: source is None, description="Where their times come from."
    )
    marks: list[MarkTimestamp] | None = Field(
        None, exclude_if=lambda marks: marks is None, description="The marks of a text in SSML."
    )
    visemes: list[VisemeTimestamp] | None = Field(
        None, exclude_if=lambda visemes: visemes is None, description="The shapes of the mouth, with `visemes`."
    )
