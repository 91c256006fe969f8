"""SessionOptions: what a session is for, how it speaks, and how it listens."""

from dataclasses import dataclass, field, replace
from enum import StrEnum

from polyvox.api.dialects.openai_realtime.input_options import InputOptions, TranscriptionOptions
from polyvox.api.dialects.openai_realtime.speech_options import SpeechOptions
from polyvox.service.keys.operations import Operation
from polyvox.service.registry.registry import Registry


class SessionKind(StrEnum):
    """A session that speaks and listens, or one that listens alone."""

    REALTIME = "realtime"
    TRANSCRIPTION = "transcription"

    @property
    def operation(self) -> Operation:
        """The least that a key has to allow for such a session."""
        return Operation.LISTEN if self is SessionKind.TRANSCRIPTION else Operation.SPEAK

    @property
    def object_name(self) -> str:
        """The type of the session as an object."""
        return "realtime.transcription_session" if self is SessionKind.TRANSCRIPTION else "realtime.session"


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """The options of a session; those of speech are idle in one for transcription."""

    kind: SessionKind = SessionKind.REALTIME
    speech: SpeechOptions = field(default_factory=SpeechOptions)
    input: InputOptions = field(default_factory=InputOptions)

    def of_kind(self, kind: SessionKind) -> "SessionOptions":
        """The options for a session of this kind; one for transcription transcribes without being told."""
        if kind is not SessionKind.TRANSCRIPTION or self.input.transcription is not None:
            return replace(self, kind=kind)
        return replace(self, kind=kind, input=replace(self.input, transcription=TranscriptionOptions()))

    def shown(self, registry: Registry) -> "SessionOptions":
        """The options with the server's choice where the client made none; an error where it has no such model."""
        if self.kind is SessionKind.TRANSCRIPTION:
            return self
        return replace(self, speech=self.speech.shown(registry))


@dataclass(frozen=True, slots=True)
class SessionChange:
    """The options after a `session.update`, and sentences on what of it is done otherwise than asked."""

    options: SessionOptions
    warnings: tuple[str, ...] = ()
