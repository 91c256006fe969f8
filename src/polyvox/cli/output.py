"""Where a command's speech goes: a file, standard output, or the loudspeaker."""

import asyncio
import secrets
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from polyvox.audio.encode import AudioFormat, FileEncoder, StreamEncoder, parse_format
from polyvox.cli.loudspeaker import find_player, play
from polyvox.errors import InvalidRequestError
from polyvox.types import Pcm

PIPE = "-"
EXTENSIONS = {"ogg": AudioFormat.OPUS}
"""File endings that are not the name of their format."""


@dataclass(frozen=True, slots=True)
class Sound:
    """Samples on their way, at least one, with what one has to know to write or play them."""

    sample_rate: int
    channels: int
    pieces: AsyncIterator[Pcm]


class Output(Protocol):
    """A place for speech."""

    async def take(self, sound: Sound) -> None:
        """Take all of it; what is interrupted leaves nothing half done."""

    @property
    def when_interrupted(self) -> str:
        """What to tell a user who stopped halfway."""


def output_for(place: str | None, format_name: str | None) -> Output:
    """The output that the options ask for; what cannot work is refused here, before anything is spoken."""
    asked = None if format_name is None else parse_format(format_name, field="format")
    if place is None:
        if asked is not None:
            raise InvalidRequestError("--format is for files; name one with -o.", field="format")
        find_player()
        return Loudspeaker()
    if place == PIPE:
        return Pipe(asked or AudioFormat.WAV)
    path = Path(place)
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidRequestError(f"{place} cannot be written: give a file in a folder that exists.", field="output")
    return File(path, asked or _format_of(path))


def _format_of(path: Path) -> AudioFormat:
    ending = path.suffix.removeprefix(".").lower()
    if not ending:
        raise InvalidRequestError(f"{path} has no ending that names a format; add one or use --format.", field="output")
    return EXTENSIONS.get(ending) or parse_format(ending, field="output")


@dataclass(frozen=True, slots=True)
class File:
    """A file that appears when it is complete."""

    path: Path
    format: AudioFormat

    async def take(self, sound: Sound) -> None:
        encoder = FileEncoder(self.format, sound.sample_rate, sound.channels)
        try:
            async for piece in sound.pieces:
                await asyncio.to_thread(encoder.encode, piece)
            self._write(await asyncio.to_thread(encoder.finish))
        finally:
            encoder.close()

    def _write(self, data: bytes) -> None:
        if self.path.exists() and not self.path.is_file():
            self.path.write_bytes(data)  # a device or a pipe is written to, never replaced
            return
        part = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}.part")
        try:
            with part.open("xb") as file:
                file.write(data)
            part.replace(self.path)
        finally:
            part.unlink(missing_ok=True)

    @property
    def when_interrupted(self) -> str:
        return f"stopped: {self.path} was not written."


@dataclass(frozen=True, slots=True)
class Pipe:
    """Standard output, as a stream."""

    format: AudioFormat

    async def take(self, sound: Sound) -> None:
        with StreamEncoder(self.format, sound.sample_rate, sound.channels) as encoder:
            async for piece in sound.pieces:
                self._write(encoder.encode(piece))
            self._write(encoder.finish())

    def _write(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    @property
    def when_interrupted(self) -> str:
        return "stopped: the audio on standard output ends early."


@dataclass(frozen=True, slots=True)
class Loudspeaker:
    """This machine's sound."""

    async def take(self, sound: Sound) -> None:
        await play(sound.pieces, sound.sample_rate, sound.channels)

    @property
    def when_interrupted(self) -> str:
        return "stopped."
