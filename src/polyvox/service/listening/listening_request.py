"""A request for a transcript, complete."""

from dataclasses import dataclass

from polyvox.voices.recognition.recogniser import RecognitionTask


@dataclass(frozen=True, slots=True)
class ListeningRequest:
    """A recording as it was sent, untrusted; the model, None for the server's choice; and how it is transcribed."""

    recording: bytes
    task: RecognitionTask
    model: str | None = None
    door: str = ""
