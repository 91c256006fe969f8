"""Forms of a response body: how a session's audio is written into it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from polyvox.audio.encode import AudioFormat
from polyvox.errors import PolyvoxError
from polyvox.service.encoding import encode_whole, encoded
from polyvox.service.session import Session


class BodyFormat(Protocol):
    """The form in which a session's audio is written into a response body."""

    @property
    def media_type(self) -> str: ...

    @property
    def buffered(self) -> bool:
        """True if the body is sent at once, with its length, after the last chunk."""

    def parts(self, session: Session) -> AsyncGenerator[bytes]:
        """The body in parts, none of them empty; the first one holds audio."""

    def error_tail(self, error: PolyvoxError) -> bytes | None:
        """The end of a body that has begun and cannot go on; None where the connection can only be cut."""


@dataclass(frozen=True, slots=True)
class AudioStream:
    """The encoded audio itself, as it is ready."""

    format: AudioFormat
    buffered = False

    @property
    def media_type(self) -> str:
        return self.format.media_type

    async def parts(self, session: Session) -> AsyncGenerator[bytes]:
        async with aclosing(encoded(session, self.format)) as parts:
            async for part in parts:
                if part.data:
                    yield part.data

    def error_tail(self, error: PolyvoxError) -> None:
        return None


@dataclass(frozen=True, slots=True)
class AudioFile:
    """One whole file, with the true sizes and durations that a stream's header cannot know."""

    format: AudioFormat
    buffered = True

    @property
    def media_type(self) -> str:
        return self.format.media_type

    async def parts(self, session: Session) -> AsyncGenerator[bytes]:
        yield await encode_whole(session, self.format)

    def error_tail(self, error: PolyvoxError) -> None:
        return None


def audio_body(audio_format: AudioFormat, *, stream: bool) -> BodyFormat:
    """The encoded audio and nothing else, as a stream or as one file."""
    return AudioStream(audio_format) if stream else AudioFile(audio_format)


def attachment(body_format: BodyFormat, audio_format: AudioFormat) -> dict[str, str]:
    """The header that names a file of audio, for an answer that is nothing else."""
    if not body_format.media_type.startswith("audio/"):
        return {}
    return {"Content-Disposition": f"attachment; filename=speech.{audio_format}"}
