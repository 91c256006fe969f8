"""Speech as a body of audio and nothing else."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from polyvox.errors import PolyvoxError
from polyvox.service.encoding import EncodedChunk
from polyvox.service.session import Session


class Output(Protocol):
    """A door's form of audio."""

    @property
    def media_type(self) -> str: ...

    def encoded(self, session: Session) -> AsyncGenerator[EncodedChunk]: ...


@dataclass(frozen=True, slots=True)
class PlainAudio:
    """The encoded audio itself, as it is ready."""

    output: Output
    buffered = False

    @property
    def media_type(self) -> str:
        return self.output.media_type

    async def parts(self, session: Session) -> AsyncGenerator[bytes]:
        async with aclosing(self.output.encoded(session)) as parts:
            async for part in parts:
                if part.data:
                    yield part.data

    def error_tail(self, error: PolyvoxError) -> None:
        return None
