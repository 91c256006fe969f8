"""A request for a transcript, complete."""

from dataclasses import dataclass

from polyvox.types import Pcm
from polyvox.voices.recognition.recogniser import RecognitionTask


@dataclass(frozen=True, slots=True)
class ListeningRequest:
    """A recording; the model, None for the server's choice; and how it is transcribed.

    The recording is a file as it was sent, untrusted, or samples that a door has decoded: mono at 16 kHz.
    """

    recording: bytes | Pcm
    task: RecognitionTask
    model: str | None = None
    door: str = ""
