"""Bodies of Cartesia's requests, and the messages of its WebSocket."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from polyvox.api.dialects.cartesia.output_format import OutputFormat
from polyvox.api.requests.fields import Boolean, Integer, Number, RequestBody, Speed, Text

_PACES = {"slowest": 0.6, "slow": 0.8, "normal": 1.0, "fast": 1.2, "fastest": 1.5}
_SLOWEST, _FASTEST = _PACES["slowest"], _PACES["fastest"]

MAX_ID_CHARS = 200
ContextId = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS)]
PaceName = Literal["slowest", "slow", "normal", "fast", "fastest"]


def _first(emotions: object) -> object:
    """Old clients send a list of emotions, some with a strength as in `anger:high`."""
    return emotions[0] if isinstance(emotions, list) and emotions else emotions


Emotion = Annotated[str, BeforeValidator(_first), Field(max_length=100)]


class ExperimentalControls(RequestBody):
    """Pace and emotion as old clients choose them: the pace by a name or between -1 and 1."""

    speed: PaceName | Annotated[Number, Field(ge=-1, le=1)] | None = None
    emotion: Emotion | None = None

    @property
    def pace(self) -> float | None:
        if self.speed is None or isinstance(self.speed, str):
            return None if self.speed is None else _PACES[self.speed]
        return 1.0 + self.speed * (_FASTEST - 1.0 if self.speed > 0 else 1.0 - _SLOWEST)


class VoiceSpecifier(RequestBody):
    """A voice by its id; without one, the server's default voice."""

    model_config = ConfigDict(populate_by_name=True)

    mode: str = "id"
    id: str | None = None
    controls: ExperimentalControls | None = Field(None, alias="__experimental_controls")


def _by_name(voice: object) -> object:
    return {"id": voice} if isinstance(voice, str) else voice


def _check_mode(voice: VoiceSpecifier) -> VoiceSpecifier:
    if voice.mode == "id":
        return voice
    raise PydanticCustomError(
        "voice_mode", "must name a voice by its 'id': this server cannot speak with a voice's embedding"
    )


VoiceField = Annotated[VoiceSpecifier, BeforeValidator(_by_name), AfterValidator(_check_mode)]


class GenerationConfig(RequestBody):
    """Pace, volume and emotion."""

    speed: Speed | None = None
    volume: Annotated[Number, Field(gt=0, le=4)] | None = None
    emotion: Emotion | None = None


class GenerationBody(RequestBody):
    """A text to speak."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model_id": "sonic-3",
                    "transcript": "The tide is out and the boats lie on the sand.",
                    "voice": {"mode": "id", "id": "f786b574-daa5-4673-aa0c-cbe3e8534c02"},
                    "output_format": {"container": "wav", "encoding": "pcm_s16le", "sample_rate": 24000},
                }
            ]
        }
    )

    model_id: str | None = Field(
        None, description="A model of `GET /v1/models`; Cartesia's, which begin with `sonic`, mean the default one."
    )
    transcript: Text = Field(description="The text to speak.")
    voice: VoiceField = Field(
        description="A voice of `GET /voices` or one of Cartesia's that the setting `cartesia_voices` knows: its id, "
        "or an object with it."
    )
    output_format: OutputFormat
    language: str | None = Field(None, description="The language of the text; the voice's own if absent.")
    locale: str | None = Field(None, description="The same with a region, such as en-GB.")
    normalization: str | None = Field(None, description="`off`: numbers and the like are read as they stand.")
    generation_config: GenerationConfig | None = None
    speed: PaceName | Speed | None = Field(None, description="How old clients choose the pace.")

    @property
    def pace(self) -> float:
        """Pace of the speech; 1 is the voice's own pace."""
        if self.generation_config is not None and self.generation_config.speed is not None:
            return self.generation_config.speed
        if self.speed is not None:
            return _PACES[self.speed] if isinstance(self.speed, str) else self.speed
        controls = self.voice.controls
        return 1.0 if controls is None or controls.pace is None else controls.pace

    @property
    def volume(self) -> float:
        config = self.generation_config
        return 1.0 if config is None or config.volume is None else config.volume

    @property
    def emotion(self) -> str | None:
        """The name of an emotion; None where none is asked for."""
        for given in (self.generation_config, self.voice.controls):
            if given is not None and given.emotion:
                name = given.emotion.partition(":")[0].strip().lower()
                return None if name in ("", "neutral") else name
        return None


class EventsBody(GenerationBody):
    """A text to speak as events."""

    add_timestamps: Boolean = Field(False, description="true: also the words and their times.")
    add_phoneme_timestamps: Boolean = Field(
        False, description="true: also the phonemes and their times, where the model knows them; else a warning."
    )
    context_id: ContextId | None = Field(None, description="Comes back with every event.")


class OpeningMessage(EventsBody):
    """A message that opens a context."""

    transcript: Text = ""
    max_buffer_delay_ms: Integer = Field(
        3_000, ge=0, le=5_000, description="Longest wait for more text; 0: each message is spoken at once."
    )


class ContextMessage(RequestBody):
    """Fields that any message may have about a context."""

    model_config = ConfigDict(populate_by_name=True)

    context_id: ContextId | None = None
    transcript: Text = ""
    goes_on: Boolean = Field(False, alias="continue")
    flush: Boolean = False
    cancel: Boolean = False
