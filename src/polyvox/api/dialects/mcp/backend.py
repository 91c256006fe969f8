"""McpBackend: what the tools ask of a speech service, be it in this process or behind a server's address."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from polyvox.types import Voice

if TYPE_CHECKING:
    from polyvox.audio.encode import Tags
    from polyvox.types import Pcm


@dataclass(frozen=True, slots=True)
class SpeakRequest:
    """A text to say, with its options; None leaves the choice to the service."""

    text: str
    voice: str | None = None
    model: str | None = None
    language: str | None = None
    speed: float = 1.0
    instructions: str | None = None


@dataclass(frozen=True, slots=True)
class SpeechAudio:
    """Speech while it is made; `warnings` name what the engine could not do as asked."""

    sample_rate: int
    channels: int
    warnings: tuple[str, ...]
    pieces: "AsyncIterator[Pcm]"
    tags: "Tags" = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VoiceRecording:
    """A recording to register as a voice, whose speaker has agreed to that; `data` are the bytes of an audio file."""

    name: str
    data: bytes
    transcript: str | None = None
    language: str | None = None
    consent_note: str | None = None


@dataclass(frozen=True, slots=True)
class ClonedVoice:
    """A voice that was registered."""

    id: str
    name: str
    transcript: str
    seconds: float
    warnings: tuple[str, ...]


class McpBackend(Protocol):
    """Speaks, lists voices and registers them. Everything it raises for the caller is a `PolyvoxError`."""

    def speech(self, request: SpeakRequest) -> AbstractAsyncContextManager[SpeechAudio]:
        """Speak; leaving the block stops the synthesis."""

    async def voices(self, model: str | None) -> Sequence[Voice]:
        """The voices of a model, registered ones included where it clones."""

    async def clone(self, recording: VoiceRecording) -> ClonedVoice:
        """Register a recording as a voice."""
