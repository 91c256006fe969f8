"""AudioBytes: speech as a body of audio and nothing else."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from polyvox.api.cartesia.output_format import OutputFormat
from polyvox.errors import PolyvoxError
from polyvox.service.session import Session


@dataclass(frozen=True, slots=True)
class AudioBytes:
    """The audio itself, as it is ready."""

    output: OutputFormat
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
