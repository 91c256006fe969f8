"""The form of a request's audio."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SpeechOutput:
    """What a request's audio will be, known before its text is; `warnings` are of what the model does not obey."""

    model: str
    sample_rate: int
    channels: int
    warnings: tuple[str, ...] = ()
