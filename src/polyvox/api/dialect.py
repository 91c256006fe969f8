"""A speech request as it is meant: one that names the Streamable TTS API's model is in that API's dialect."""

from dataclasses import dataclass, replace
from typing import Any

from polyvox.api.schemas import SpeechBody
from polyvox.api.streaming import AudioFile, AudioStream, Layout
from polyvox.audio.encode import AudioFormat
from polyvox.config import Settings
from polyvox.service.speech import SpeechRequest
from polyvox.types import NormalizationOptions

MODEL = "speechlm"
"""The model that has this dialect."""

_SAMPLE_RATE = 24_000
_MALAY = "ms"


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
        if body.model != settings.streamable_model:
            return cls(body, streamable=False, tunes=(body.model or settings.default_model) == MODEL)
        defaults: dict[str, Any] = {
            "response_format": AudioFormat.PCM.value,
            "voice": settings.streamable_voice,
            "playback_speed": settings.streamable_playback_speed,
            "playback_overlap_speed": settings.streamable_playback_overlap_speed,
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
