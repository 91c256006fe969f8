"""Fields of every request for audio; the docstrings of bodies are the text of the OpenAPI pages."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, Self

from pydantic import Field

from polyvox.api.requests.fields import Boolean, Integer, NarrowSpeed, Number, RequestBody, Speed, Text
from polyvox.api.requests.languages import language_tag
from polyvox.audio.encode import AudioFormat, parse_format
from polyvox.errors import InvalidRequestError
from polyvox.service.pronunciation.dictionaries import MAX_NAMED
from polyvox.service.speech_request import PhonemeNeed, SpeechRequest
from polyvox.service.words.sounds import NO_SOUNDS, SoundChoice
from polyvox.text.captions import CaptionFormat
from polyvox.types import CodeBlocks, NormalizationOptions, Utterance

_UNKNOWN_RULES = ("remove_emoji", "caps_normalization")
"""Rules of coming releases of Kokoro-FastAPI."""
_NOT_OBEYED = "Not obeyed; the header X-Polyvox-Warning says so."


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
    remove_emoji: Boolean | None = Field(None, description=_NOT_OBEYED)
    caps_normalization: Boolean | None = Field(None, description=_NOT_OBEYED)

    @property
    def options(self) -> NormalizationOptions:
        """The rules that there are."""
        return NormalizationOptions(**self.model_dump(exclude=set(_UNKNOWN_RULES)))

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for each rule that was given and is not known."""
        given = (name for name in _UNKNOWN_RULES if getattr(self, name) is not None)
        return tuple(f"The normalization option {name!r} is not known here; it changes nothing." for name in given)


_TUNING = (
    "temperature top_p top_k repetition_penalty max_tokens playback_speed playback_overlap_speed max_new_tokens "
    "subtalker_temperature subtalker_top_p subtalker_top_k eos_threshold frames_after_eos "
    "exaggeration cfg_weight min_p"
).split()


class TokenFields(RequestBody):
    """Parameters of language models, by the names of the Streamable TTS API, Qwen3-TTS, Pocket TTS and Chatterbox."""

    temperature: Number | None = Field(None, description="Sampling temperature, 0 to 2; 0 takes the likeliest token.")
    top_p: Number | None = Field(None, description="Nucleus sampling: share of probability that tokens are drawn from.")
    top_k: Integer | None = Field(None, description="How many of the likeliest tokens are drawn from; 0: all.")
    repetition_penalty: Number | None = Field(
        None, description="Above 1, tokens that have occurred become less likely."
    )
    max_tokens: Integer | None = Field(None, description="Most speech tokens; 50 are one second.")
    max_new_tokens: Integer | None = Field(None, description="Most frames of a sentence; 12.5 are one second.")
    subtalker_temperature: Number | None = Field(None, description="`temperature` of a frame's codes but the first.")
    subtalker_top_p: Number | None = Field(None, description="`top_p` of a frame's codes but the first.")
    subtalker_top_k: Integer | None = Field(None, description="`top_k` of a frame's codes but the first.")
    eos_threshold: Number | None = Field(None, description="Logit above which Pocket TTS ends a sentence.")
    frames_after_eos: Integer | None = Field(None, description="Frames behind that end; 12.5 are one second.")
    exaggeration: Number | None = Field(None, description="Intensity of Chatterbox's expression; 0.5 is neutral.")
    cfg_weight: Number | None = Field(None, description="How closely Chatterbox follows the text; 0: unguided.")
    min_p: Number | None = Field(None, description="Share of the likeliest token's probability that a token needs.")
    playback_speed: Number | None = Field(
        None, description="Not a speed: seconds of audio in each chunk that is sent, 0.02 to 60."
    )
    playback_overlap_speed: Number | None = Field(
        None, description="Seconds on both sides of a chunk that are decoded with it, up to 5 times its length."
    )

    @property
    def tuning(self) -> dict[str, float]:
        """The parameters that were given."""
        given = {name: getattr(self, name) for name in _TUNING}
        return {name: float(value) for name, value in given.items() if value is not None}


class StreamableFields(TokenFields):
    """The same, and how the Streamable TTS API reads and paces a text."""

    normalize_malaysian: Boolean | None = Field(
        None, description="Whether numbers, money, dates and the like are read as words, in Malay or English."
    )
    speaking_rate: NarrowSpeed | None = Field(None, description="How fast to speak; in place of `speed`.")


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


TUNING_FIELDS = frozenset((*_TUNING, *_FLOW))
"""Names of the parameters that only single models take."""


class AudioBody(StreamableFields, FlowFields):
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
        rules = self.normalization_options
        utterance = Utterance(
            text=text,
            voice=voice,
            language=None if self.lang_code is None else language_tag(self.lang_code, "lang_code"),
            speed=self.speed,
            seed=self.seed,
            instructions=self.instructions,
            normalization=NormalizationOptions() if rules is None else rules.options,
            tuning=self.flow_tuning | self.tuning,
        )
        return SpeechRequest(
            utterance,
            model=self.model,
            sample_rate=self.sample_rate,
            volume=self.volume_multiplier,
            loudness=self.loudness,
            door=door,
            dictionary_names=tuple(self.dictionaries),
            warnings=() if rules is None else rules.warnings,
        )


_CAPTION_FORMATS = ", ".join(CaptionFormat)


class TimingFields(AudioBody):
    """Times of words, phonemes and visemes, in events and in captions as JSON."""

    timestamps: Literal["words", "phonemes"] | None = Field(
        None,
        description="`phonemes`: words have their phonemes in IPA, with times. Where there is no place for times: 400.",
    )
    visemes: Boolean = Field(
        False, description="true: also visemes, the shapes of the mouth, by Azure's ids and with its `audio_offset`."
    )

    @property
    def sounds(self) -> SoundChoice:
        """The times of sounds that are asked for."""
        return SoundChoice(self.timestamps == "phonemes", self.visemes)

    @property
    def wants_times(self) -> bool:
        """True if times of any kind are asked for by name."""
        return self.timestamps is not None or self.visemes

    def check_times(self, *, have_place: bool) -> None:
        """Refuse times that the form of the answer has no place for."""
        if self.wants_times and not have_place:
            raise InvalidRequestError(
                "Times come with stream_format sse, with captions or response_format as json, and from "
                "/dev/captioned_speech with return_timestamps; ask for one of them, or for neither timestamps nor "
                "visemes.",
                field="visemes" if self.timestamps is None else "timestamps",
            )

    def request_for(self, text: str, voice: str, door: str) -> SpeechRequest:
        """As of all audio; with sounds, only a model that knows their times will do."""
        request = super().request_for(text, voice, door)
        return replace(request, phonemes=PhonemeNeed.REQUIRED) if self.sounds != NO_SOUNDS else request


class CaptionFields(TimingFields):
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

    def check_places(self) -> None:
        """Refuse times that neither events nor the captions have a place for."""
        formats = {self.captions_only or self.captions} - {None}
        fitting = {CaptionFormat.JSON} if self.sounds != NO_SOUNDS else set(CaptionFormat)
        as_events = self.stream_format == "sse" and self.captions_only is None
        self.check_times(have_place=as_events or bool(formats & fitting))

    def without_captions(self) -> Self:
        """The same request for audio, where it is for captions alone: nobody hears it."""
        if self.captions_only is None:
            return self
        return self.model_copy(update={"response_format": "pcm", "stream": False, "stream_format": "audio"})


AUDIO_FIELD_NAMES: Mapping[str, str | None] = MappingProxyType({"language": "lang_code"})
"""An `AudioBody`'s names of fields that the service names otherwise."""
