"""InputOptions: how the sound that a client sends is heard."""

from dataclasses import dataclass
from typing import Any

from polyvox.api.dialects.openai_realtime.wire_format import WireFormat
from polyvox.service.listening.turn_detector import TurnDetection
from polyvox.voices.recognition.recogniser import RecognitionTask

_ANY_RECOGNISER = "whisper-1"


@dataclass(frozen=True, slots=True)
class TranscriptionOptions:
    """Wishes for transcripts: the recogniser, None for the server's choice; the language, None where it is unknown."""

    model: str | None = None
    language: str | None = None
    prompt: str = ""
    traditional: bool = False

    @property
    def task(self) -> RecognitionTask:
        return RecognitionTask(language=self.language, prompt=self.prompt, traditional=self.traditional)

    @property
    def fields(self) -> dict[str, Any]:
        """The options as an object of the session."""
        return {"model": self.model or _ANY_RECOGNISER, "language": self.language, "prompt": self.prompt}


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """Wishes for turns, in the units of the API."""

    threshold: float = 0.5
    prefix_padding_ms: int = 300
    silence_duration_ms: int = 500
    interrupt_response: bool = True
    idle_timeout_ms: int | None = None

    @property
    def detection(self) -> TurnDetection:
        return TurnDetection(self.threshold, self.prefix_padding_ms / 1_000, self.silence_duration_ms / 1_000)

    @property
    def fields(self) -> dict[str, Any]:
        """The options as an object of the session; no turn is answered by itself, for want of a language model."""
        return {
            "type": "server_vad",
            "threshold": self.threshold,
            "prefix_padding_ms": self.prefix_padding_ms,
            "silence_duration_ms": self.silence_duration_ms,
            "idle_timeout_ms": self.idle_timeout_ms,
            "create_response": False,
            "interrupt_response": self.interrupt_response,
        }


@dataclass(frozen=True, slots=True)
class InputOptions:
    """Format of the sound, and the options of transcripts and turns; None where there are none."""

    format: WireFormat = WireFormat.PCM
    transcription: TranscriptionOptions | None = None
    turns: TurnOptions | None = TurnOptions()

    @property
    def detection(self) -> TurnDetection | None:
        return None if self.turns is None else self.turns.detection

    @property
    def transcription_fields(self) -> dict[str, Any] | None:
        return None if self.transcription is None else self.transcription.fields

    @property
    def turn_fields(self) -> dict[str, Any] | None:
        return None if self.turns is None else self.turns.fields
