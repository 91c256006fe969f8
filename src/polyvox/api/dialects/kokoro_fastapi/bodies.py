"""JSON bodies of Kokoro-FastAPI's own paths."""

from pydantic import BaseModel, ConfigDict, Field

from polyvox.api.requests.fields import Boolean, RequestBody, Speed, Text
from polyvox.api.requests.speech_body import SpeechBody
from polyvox.audio.encode import AudioFormat


class CaptionedBody(SpeechBody):
    """A request for speech with word timings."""

    return_timestamps: Boolean = Field(True, description="false: `timestamps` is null.")

    @property
    def voiced(self) -> bool:
        """True if each word is to have its voice: only of those who ask for voice tags."""
        return self.allow_voice_tags is True


class PhonemizeBody(RequestBody):
    """A text to convert to phonemes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "Hello, world.", "language": "a"}]})

    text: Text = Field(description="The text to convert.")
    language: str = Field("a", description="Kokoro's a b e f h i j p z, or a tag such as en-gb.")
    model: str | None = Field(None, description="The model whose phonemes are wanted; the default model if absent.")


class SsmlBody(RequestBody):
    """A text in SSML to translate to inline tags."""

    text: Text = Field(description="The text in SSML.")
    voice: str | None = Field(None, description="The voice of what no `<voice>` surrounds; tags go back to it.")
    model: str | None = Field(None, description="The model that is to speak it; the default model if absent.")


class TaggedText(BaseModel):
    """A text with inline tags."""

    text: str = Field(description="For `input`, with `allow_voice_tags`.")


class SsmlSupport(BaseModel):
    """The SSML that is obeyed."""

    elements: dict[str, str]
    ignored: list[str]
    break_strengths: dict[str, float]
    prosody_rates: dict[str, float]
    rate_range: list[float]
    say_as: list[str]
    max_depth: int
    max_elements: int
    max_break_seconds: float


class PhonemeSpeechBody(RequestBody):
    """Phonemes to speak."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"phonemes": "həlˈO, wˈɜɹld.", "voice": "af_heart"}]})

    phonemes: Text = Field(
        min_length=1, description="In the model's phoneme alphabet or in IPA, words parted by spaces."
    )
    voice: str | None = Field(None, description="A voice or a mix; the model's default voice if absent.")
    model: str | None = Field(None, description="A model that works with phonemes; the default model if absent.")
    speed: Speed = Field(1.0, description="1 is the voice's own pace.")
    response_format: str = Field("wav", description=f"One of {', '.join(AudioFormat)}.")


class Phonemes(BaseModel):
    """The phonemes of a text."""

    phonemes: str = Field(description="In the model's own phoneme alphabet.")
    tokens: list[int] = Field(description="The model's token ids, without the padding at both ends.")
