"""A speech request as it is meant: one that names the Streamable TTS API's model is in that API's dialect."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

from pydantic import Field

from polyvox.api.schemas import SpeechBody
from polyvox.api.streaming import AudioFile, AudioStream, Layout
from polyvox.audio.encode import AudioFormat
from polyvox.config import ForeignVariables, Settings, SettingsSection
from polyvox.service.speech import SpeechRequest
from polyvox.types import NormalizationOptions

MODEL = "speechlm"
"""The model that has this dialect."""

_SAMPLE_RATE = 24_000
_MALAY = "ms"


class StreamableSettings(SettingsSection):
    """Defaults of this dialect; some are the engine's too, under the same names."""

    section: ClassVar[str] = "streamable"

    model: str = Field(
        "TTS-model",
        description="Name that asks for the codec language model in this dialect, and that server's name of it.",
    )
    voice: str = Field("husein", description="Voice for its requests that name none.")
    playback_speed: float = Field(
        1.5, ge=0.02, le=60, description="Seconds of audio in each chunk, for its requests that name none."
    )
    playback_overlap_speed: float = Field(
        0.2, ge=0, le=10, description="Seconds on both sides of a chunk that are decoded with it, likewise."
    )


def _batch_of_one(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Without dynamic batching every chunk is a batch of its own."""
    batching = variables.get("dynamic_batching", "").strip().lower()
    return {"speechlm_codec_batch": "1"} if batching == "false" else {}


FOREIGN = ForeignVariables(
    "the Streamable TTS API's",
    MappingProxyType(
        {
            "speechlm_url": "tts_api",
            "streamable_model": "model_name",
            "streamable_voice": "default_speaker",
            "speechlm_speakers": "speakers",
            "speechlm_temperature": "default_temperature",
            "speechlm_repetition_penalty": "default_repetition_penalty",
            "speechlm_max_tokens": "default_max_tokens",
            "streamable_playback_speed": "default_playback_speed",
            "streamable_playback_overlap_speed": "default_playback_overlap_speed",
            "speechlm_codec_batch": "max_batch_size",
            "speechlm_codec_wait": "microsleep",
            "speechlm_graph_seconds": "cuda_graph_batch",
            "speechlm_compile": "torch_compile",
        }
    ),
    derive=_batch_of_one,
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """A body with all its defaults, those of the dialect where that is spoken."""

    body: SpeechBody
    streamable: bool
    tunes: bool
    """Whether its model takes what the dialect has besides."""

    @classmethod
    def of(cls, body: SpeechBody, settings: Settings) -> "Dialect":
        """The model's name in the settings asks for the dialect; by its own name the model takes its fields as well."""
        own = settings.section(StreamableSettings)
        if body.model != own.model:
            return cls(body, streamable=False, tunes=(body.model or settings.default_model) == MODEL)
        defaults: dict[str, Any] = {
            "response_format": AudioFormat.PCM.value,
            "voice": own.voice,
            "playback_speed": own.playback_speed,
            "playback_overlap_speed": own.playback_overlap_speed,
            "normalize_malaysian": True,
        }
        missing = {name: value for name, value in defaults.items() if name not in body.model_fields_set}
        return cls(body.model_copy(update={"model": MODEL, **missing}), streamable=True, tunes=True)

    @property
    def door(self) -> str:
        return "streamable" if self.streamable else "openai"

    @property
    def layout(self) -> Layout:
        """The answer as audio, as it is ready or in one piece."""
        if self.body.stream:
            return AudioStream(self.body.audio_format)
        if self.streamable and self.body.audio_format is AudioFormat.PCM:
            return RawFile(AudioFormat.PCM, self.body.sample_rate or _SAMPLE_RATE)
        return AudioFile(self.body.audio_format)

    def tuned(self, request: SpeechRequest) -> SpeechRequest:
        """The request with what only this model takes."""
        if not self.tunes:
            return request
        body, utterance = self.body, request.utterance
        changes: dict[str, Any] = {"tuning": body.tuning}
        if body.speaking_rate is not None:
            changes["speed"] = body.speaking_rate
        if body.normalize_malaysian is False:
            changes["normalization"] = NormalizationOptions(normalize=False)
        elif body.normalize_malaysian:
            changes["language"] = utterance.language or _MALAY
        return replace(request, utterance=replace(utterance, **changes))


@dataclass(frozen=True, slots=True)
class RawFile(AudioFile):
    """Samples in one piece, under the name that the dialect gives them; they are little-endian all the same."""

    sample_rate: int = _SAMPLE_RATE

    @property
    def media_type(self) -> str:
        return f"audio/L16; rate={self.sample_rate}; channels=1"
