"""SpeechOptions: how a session or one of its responses is to speak."""

import re
from dataclasses import dataclass, replace
from typing import Any

from polyvox.api.dialects.openai_realtime.wire_format import WireFormat
from polyvox.api.requests.forms import Fields
from polyvox.api.requests.speech_body import SpeechBody
from polyvox.service.registry.registry import Registry

_REALTIME_NAME = re.compile(r"gpt-(4o-|4o-mini-)?(realtime|audio)\b.*")


@dataclass(frozen=True, slots=True)
class SpeechOptions:
    """Model, voice, pace, style and format; None stands for the server's own choice."""

    model: str | None = None
    voice: str | None = None
    speed: float = 1.0
    instructions: str = ""
    format: WireFormat = WireFormat.PCM

    @property
    def served_model(self) -> str | None:
        """The model that speaks; OpenAI's names of realtime models stand for the default one."""
        return None if self.model is None or _REALTIME_NAME.fullmatch(self.model) else self.model

    def shown(self, registry: Registry) -> "SpeechOptions":
        """The options with the server's choice where the client made none; an error where it has no such model."""
        served = registry.resolve(self.served_model)
        return replace(self, model=self.model or served, voice=self.voice or registry.default_voice(served))

    def speech_body(self) -> SpeechBody:
        """A request for speech without its text, checked as those of `/v1/audio/speech` are."""
        given: dict[str, Any] = {
            "input": "",
            "model": self.served_model,
            "voice": self.voice,
            "speed": self.speed,
            "instructions": self.instructions or None,
            "response_format": "pcm",
            "sample_rate": self.format.sample_rate,
        }
        return Fields(given).parsed(SpeechBody)
