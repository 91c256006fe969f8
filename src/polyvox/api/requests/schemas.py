"""JSON bodies of requests and responses as pydantic models; their docstrings are the text of the OpenAPI pages."""

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    model_validator,
)
from pydantic_core import PydanticCustomError

from polyvox.api.body_format import BodyFormat, audio_body
from polyvox.api.requests.languages import language_tag
from polyvox.audio.encode import AudioFormat, parse_format
from polyvox.service.kinds.request_kind import SpeakSilence, is_only_marks
from polyvox.service.kinds.script_reader import MarkupRequest, VoiceAlias
from polyvox.service.pronunciation.dictionaries import MAX_NAMED
from polyvox.service.speech_request import SpeechRequest
from polyvox.text.captions import CaptionFormat
from polyvox.types import NARROW_SPEED_RANGE, SPEED_RANGE, CodeBlocks, NormalizationOptions, TimingSource, Utterance

PRINTABLE = "^[^\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069]*$"
"""Pattern of names in queries: no control characters, line ends or marks that turn the direction of text."""

_DECIMAL = re.compile(r"\s*[+-]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})\s*", re.ASCII)
_WHOLE = re.compile(r"\s*[+-]?\d{1,19}\s*", re.ASCII)
_BOOLEANS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}


def _number(value: object) -> object:
    """A number that was written as text, as clients of Kokoro-FastAPI do."""
    return float(value) if isinstance(value, str) and _DECIMAL.fullmatch(value) else value


def _integer(value: object) -> object:
    return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else value


def _boolean(value: object) -> object:
    if isinstance(value, str):
        return _BOOLEANS.get(value.strip().lower(), value)
    return bool(value) if type(value) is int and value in (0, 1) else value


Number = Annotated[float, BeforeValidator(_number), Field(strict=True, allow_inf_nan=False)]
Integer = Annotated[int, BeforeValidator(_integer), Field(strict=True)]
Boolean = Annotated[bool, BeforeValidator(_boolean), Field(strict=True)]
Speed = Annotated[Number, Field(ge=SPEED_RANGE.lowest, le=SPEED_RANGE.highest)]
NarrowSpeed = Annotated[Number, Field(ge=NARROW_SPEED_RANGE.lowest, le=NARROW_SPEED_RANGE.highest)]

# Line ends, tabs and form feeds are white space; every other control character is a mistake somewhere upstream.
_UNSPEAKABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")


def _check_characters(text: str) -> str:
    found = _UNSPEAKABLE.search(text)
    if found is None:
        return text
    raise PydanticCustomError(
        "control_character",
        "holds the control character U+{code} at position {position}",
        {"code": f"{ord(found[0]):04X}", "position": found.start()},
    )


Text = Annotated[str, AfterValidator(_check_characters)]
"""Text to speak, without control characters."""


class RequestBody(BaseModel):
    """Base of all bodies: unknown fields are ignored, and null means "not given"."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, body: object) -> object:
        return {name: value for name, value in body.items() if value is not None} if isinstance(body, dict) else body


class VoiceReference(BaseModel):
    """A voice named by an object, as OpenAI's API allows."""

    id: str


class NormalizationBody(RequestBody):
    """Rules that the text normaliser may apply."""

    normalize: Boolean = Field(True, description="Whether the text is normalised at all.")
    unit_normalization: Boolean = Field(True, description="10KB is read as ten kilobytes.")
    url_normalization: Boolean = Field(True, description="Web addresses are read part by part.")
    email_normalization: Boolean = Field(True, description="E-mail addresses are read part by part.")
    optional_pluralization_normalization: Boolean = Field(True, description="word(s) is read as words.")
    phone_normalization: Boolean = Field(True, description="Telephone numbers are read digit by digit.")
    replace_remaining_symbols: Boolean = Field(True, description="Symbols left over are read by their names.")
    code_blocks: CodeBlocks | None = Field(
        None, description="Fenced blocks of code: `read`, `announce` or `skip`; the server's setting if absent."
    )


_TUNING = "temperature top_p top_k repetition_penalty max_tokens playback_speed playback_overlap_speed".split()


class TokenFields(RequestBody):
    """Parameters of the codec language model, by the Streamable TTS API's names; other models ignore them."""

    temperature: Number | None = Field(None, description="Sampling temperature, 0 to 2; 0 takes the likeliest token.")
    top_p: Number | None = Field(None, description="Nucleus sampling: share of probability that tokens are drawn from.")
    top_k: Integer | None = Field(None, description="How many of the likeliest tokens are drawn from; 0: all.")
    repetition_penalty: Number | None = Field(
        None, description="Above 1, tokens that have occurred become less likely."
    )
    max_tokens: Integer | None = Field(None, description="Most speech tokens; 50 are one second.")
    playback_speed: Number | None = Field(
        None, description="Not a speed: seconds of audio in each chunk that is sent, 0.02 to 60."
    )
    playback_overlap_speed: Number | None = Field(
        None, description="Seconds on both sides of a chunk that are decoded with it, up to 5 times its length."
    )
    normalize_malaysian: Boolean | None = Field(
        None, description="Whether numbers, money, dates and the like are read as words, in Malay or English."
    )
    speaking_rate: NarrowSpeed | None = Field(None, description="How fast to speak; in place of `speed`.")

    @property
    def tuning(self) -> dict[str, float]:
        """The parameters that were given."""
        given = {name: getattr(self, name) for name in _TUNING}
        return {name: float(value) for name, value in given.items() if value is not None}


_FLOW = "num_steps guidance_scale t_shift remove_long_silence max_duration target_rms".split()


class FlowFields(RequestBody):
    """Parameters of ZipVoice's models; other models ignore them."""

    num_steps: Integer | None = Field(None, ge=1, le=32, description="Inference steps: fewer are faster.")
    guidance_scale: Number | None = Field(
        None, ge=0, le=10, description="Classifier-free guidance: higher keeps closer to text and voice."
    )
    t_shift: Number | None = Field(None, ge=0.05, le=1, description="Time shift: below 1, more of the steps are early.")
    remove_long_silence: Boolean | None = Field(None, description="Whether long silences are cut.")
    max_duration: Number | None = Field(None, gt=0.0, description="Longest audio that is made at once, in seconds.")
    target_rms: Number | None = Field(
        None, ge=0.001, le=0.5, description="RMS level that a quieter recording is raised to before it is cloned."
    )

    @property
    def flow_tuning(self) -> dict[str, float]:
        """The parameters that were given."""
        given = {name: getattr(self, name) for name in _FLOW}
        return {name: float(value) for name, value in given.items() if value is not None}


class AudioBody(TokenFields, FlowFields):
    """Options of the speech and of its audio: OpenAI's fields, Kokoro-FastAPI's, Polyvox's own."""

    model: str | None = Field(
        None, description="A model of `GET /v1/models`, or one of OpenAI's names for the default one."
    )
    instructions: Text | None = Field(
        None, description="How to speak. An engine that cannot follow says so in the header X-Polyvox-Warning."
    )
    response_format: str = Field("mp3", description=f"One of {', '.join(AudioFormat)}.", examples=["mp3"])
    speed: Speed = Field(1.0, description="1 is the voice's own pace.")
    stream_format: Literal["audio", "sse"] = Field(
        "audio", description="`audio`: bytes as they are ready. `sse`: server-sent events with base64 audio."
    )

    stream: Boolean = Field(True, description="false: answer once, with Content-Length, when all is spoken.")
    lang_code: str | None = Field(
        None, description="How to read the text: Kokoro's a b e f h i j p z, or a tag such as en-gb."
    )
    volume_multiplier: Number = Field(
        1.0, gt=0.0, le=4.0, description="Gain on the samples; values beyond full scale are clipped."
    )
    normalization_options: NormalizationBody | None = Field(
        None, description="Which rules the text normaliser may apply; all of them if absent."
    )

    seed: Integer | None = Field(None, ge=0, lt=2**63, description="For engines that sample: same seed, same speech.")
    sample_rate: Integer | None = Field(
        None, ge=8_000, le=48_000, description="Sample rate of the audio; the engine's own if absent."
    )
    loudness: Number | None = Field(None, ge=-50.0, le=-5.0, description="Target loudness in LUFS, such as -16.")
    dictionaries: list[str] = Field(
        [], max_length=MAX_NAMED, description="Pronunciation dictionaries of `/v1/dictionaries`, before default ones."
    )

    @property
    def audio_format(self) -> AudioFormat:
        return parse_format(self.response_format)

    def request_for(self, text: str, voice: str, door: str) -> SpeechRequest:
        """A service request for a text in a voice, with these parameters."""
        options = {} if self.normalization_options is None else self.normalization_options.model_dump()
        utterance = Utterance(
            text=text,
            voice=voice,
            language=None if self.lang_code is None else language_tag(self.lang_code, "lang_code"),
            speed=self.speed,
            seed=self.seed,
            instructions=self.instructions,
            normalization=NormalizationOptions(**options),
            tuning=self.flow_tuning,
        )
        return SpeechRequest(
            utterance,
            model=self.model,
            sample_rate=self.sample_rate,
            volume=self.volume_multiplier,
            loudness=self.loudness,
            door=door,
            dictionary_names=tuple(self.dictionaries),
        )


_CAPTION_FORMATS = ", ".join(CaptionFormat)


class CaptionFields(AudioBody):
    """Captions in place of the audio, or beside it."""

    response_format: str = Field(
        "mp3",
        description=f"One of {', '.join(AudioFormat)}; captions alone, without audio: {_CAPTION_FORMATS}.",
        examples=["mp3"],
    )
    captions: CaptionFormat | None = Field(
        None,
        description=f"Captions beside the audio, as {_CAPTION_FORMATS}: the header X-Captions names the file, which is "
        "there once all is spoken, for a while.",
    )

    @property
    def captions_only(self) -> CaptionFormat | None:
        """The format where captions are asked for in place of the audio."""
        name = self.response_format.strip().lower()
        return CaptionFormat(name) if name in tuple(CaptionFormat) else None

    def without_captions(self) -> Self:
        """The same request for audio, where it is for captions alone: nobody hears it."""
        if self.captions_only is None:
            return self
        return self.model_copy(update={"response_format": "pcm", "stream": False, "stream_format": "audio"})


AUDIO_FIELD_NAMES: Mapping[str, str | None] = MappingProxyType({"language": "lang_code"})
"""An `AudioBody`'s names of fields that the service names otherwise."""


def _name_or_reference(voice: object) -> object:
    if isinstance(voice, str) or (isinstance(voice, dict) and isinstance(voice.get("id"), str)):
        return voice
    raise PydanticCustomError("voice_type", "should be a voice's name or an object with an 'id'")


VoiceName = Annotated[str | VoiceReference, BeforeValidator(_name_or_reference)]


class AliasBody(RequestBody):
    """A voice that a short name stands for, and its pace."""

    voice: str
    rate: Speed = 1.0


_MAX_ALIASES = 64
_MAX_ALIAS_CHARS = 200


def _short_aliases(aliases: dict[str, object]) -> dict[str, object]:
    if len(aliases) > _MAX_ALIASES or any(len(name) > _MAX_ALIAS_CHARS for name in aliases):
        raise PydanticCustomError("aliases", f"may hold {_MAX_ALIASES} names of {_MAX_ALIAS_CHARS} characters")
    return aliases


class SpeechBody(CaptionFields):
    """A request for speech: a text and a voice.

    A dialect that shares the path has a class of its own, which may make another request or another form of answer.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"model": "kokoro", "input": "The tide is out and the boats lie on the sand.", "voice": "af_heart"},
                {
                    "model": "tts-1",
                    "input": "Twice as fast, blended from two voices.",
                    "voice": "af_heart(2)+bf_emma(1)",
                    "response_format": "wav",
                    "speed": 2.0,
                },
            ]
        }
    )

    input: Text = Field(description="The text to speak.")
    voice: VoiceName | None = Field(
        None,
        description='A voice, a mix such as `af_heart(2)+bf_emma(1)`, or `{"id": "af_heart"}`; for models that clone '
        "voices also one of `/v1/voices`, or a recording as `base64+...`, a data URL or `url+https://...`.",
    )
    prompt_text: Text | None = Field(
        None, description="Transcript of the recording that `voice` names or carries; recognised from it if absent."
    )

    allow_voice_tags: Boolean | None = Field(
        None,
        description="Whether `[voice:am_adam]` and `[rate:1.2]` in the text are obeyed; else they are dropped.",
    )
    ssml: Boolean | None = Field(
        None, description="true: the text is SSML. false: it is none. If absent, one that begins with `<speak` is."
    )
    voice_aliases: Annotated[dict[str, str | AliasBody], AfterValidator(_short_aliases)] | None = Field(
        None,
        description='Names for `voice` and for tags: `{"anna": "af_heart(2)+bf_emma", "bert": {"voice": "am_adam", '
        '"rate": 0.9}}`.',
    )

    return_download_link: Boolean = Field(
        False, description="true: the header X-Download-Path names the finished file, below `/v1`, for a while."
    )
    return_timing: Boolean = Field(
        False, description="true, with `return_download_link`: X-Timing-Path names a file with the times of its text."
    )

    @property
    def body_format(self) -> BodyFormat:
        """The form of the answer, where it is audio and nothing else."""
        return audio_body(self.audio_format, stream=self.stream)

    @property
    def openai_names(self) -> bool:
        """True if OpenAI's voice names stand for voices of this server."""
        return True

    @property
    def voice_name(self) -> str | None:
        """The voice that is asked for, by the name that an alias stands for."""
        alias = self._alias
        return self._given_voice if alias is None else alias.voice

    @property
    def _given_voice(self) -> str | None:
        return self.voice.id if isinstance(self.voice, VoiceReference) else self.voice

    @property
    def _alias(self) -> VoiceAlias | None:
        return self.aliases.get((self._given_voice or "").casefold()) if self.voice_aliases else None

    @property
    def aliases(self) -> dict[str, VoiceAlias]:
        """`voice_aliases` by their names in lower case."""
        given = (self.voice_aliases or {}).items()
        return {
            name.strip().casefold(): VoiceAlias(one) if isinstance(one, str) else VoiceAlias(one.voice, one.rate)
            for name, one in given
        }

    @property
    def speaker_names(self) -> dict[str, str]:
        """Names in captions of the voices of a text with several: their aliases."""
        return {
            alias.voice: name.strip()
            for name, alias in zip(self.voice_aliases or {}, self.aliases.values(), strict=False)
        }

    def speech_request(self, door: str) -> SpeechRequest:
        """The same as a request of the service; a text of punctuation alone is a short silence."""
        request = self.request_for(self.input, self.voice_name or "", door)
        if is_only_marks(self.input):
            return replace(request, kind=SpeakSilence(self.input))
        rate = 1.0 if self._alias is None else self._alias.rate
        return replace(request, markup=MarkupRequest(self.allow_voice_tags, self.aliases, rate=rate, ssml=self.ssml))


class CaptionedBody(SpeechBody):
    """A request for speech with word timings."""

    return_timestamps: Boolean = Field(True, description="false: `timestamps` is null.")


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


class WordTimestamp(BaseModel):
    """A word as the caller wrote it, with its start and end in seconds from the start of the audio."""

    word: str
    start_time: float
    end_time: float


class VoicedTimestamp(WordTimestamp):
    """A word of a text with several voices."""

    voice: str


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


class Timestamps(BaseModel):
    """The words of a text and when they are spoken."""

    timestamps: list[SerializeAsAny[WordTimestamp]]
    timing_source: TimingSource | None = Field(
        None, exclude_if=lambda source: source is None, description="Where their times come from."
    )
    marks: list[MarkTimestamp] | None = Field(
        None, exclude_if=lambda marks: marks is None, description="The marks of a text in SSML."
    )


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


class ErrorDetail(BaseModel):
    """The error in one sentence, and the field of the request at fault."""

    message: str
    type: str
    param: str | None
    code: str


class ErrorBody(BaseModel):
    """The body of every error response."""

    error: ErrorDetail
