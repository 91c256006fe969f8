"""Outputs of a command's speech: a file, standard output, or the loudspeaker."""

import asyncio
import secrets
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from polyvox.audio.encode import AudioFormat, FileEncoder, StreamEncoder, Tags, parse_format
from polyvox.audio.loudspeaker import find_player, play
from polyvox.errors import InvalidRequestError
from polyvox.types import Pcm

Result = TypeVar("Result")

PIPE = "-"
EXTENSIONS = {"ogg": AudioFormat.OPUS}
"""File extensions that differ from the name of their format."""


@dataclass(frozen=True, slots=True)
class OutputAudio:
    """Audio while it is made: pieces of samples, at least one in all, and their layout."""

    sample_rate: int
    channels: int
    pieces: AsyncIterator[Pcm]
    tags: Tags = field(default_factory=dict)


class Output(Protocol):
    """A destination for audio."""

    async def consume(self, audio: OutputAudio) -> None:
        """Write or play all of the audio; an interrupted call leaves no partial file."""

    @property
    def when_interrupted(self) -> str:
        """The message for a user who interrupts."""


def output_for(target: str | None, format_name: str | None) -> Output:
    """The output for the options; what cannot work is refused here, before anything is spoken."""
    asked = None if format_name is None else parse_format(format_name, field="format")
    if target is None:
        if asked is not None:
            raise InvalidRequestError("--format is for files; name one with -o.", field="format")
        find_player()
        return LoudspeakerOutput()
    if target == PIPE:
        return PipeOutput(asked or AudioFormat.WAV)
    path = Path(target)
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidRequestError(f"{target} cannot be written: give a file in a folder that exists.", field="output")
    return FileOutput(path, asked or _format_of(path))


def _format_of(path: Path) -> AudioFormat:
    ending = path.suffix.removeprefix(".").lower()
    if not ending:
        raise InvalidRequestError(f"{path} has no ending that names a format; add one or use --format.", field="output")
    return EXTENSIONS.get(ending) or parse_format(ending, field="output")


@dataclass(frozen=True, slots=True)
class FileOutput:
    """A file, which appears when it is complete."""

    path: Path
    format: AudioFormat

    async def consume(self, audio: OutputAudio) -> None:
        encoder = FileEncoder(self.format, audio.sample_rate, audio.channels, audio.tags)
        try:
            async for piece in audio.pieces:
                await _on_a_thread(partial(encoder.encode, piece))
            self._write(await _on_a_thread(encoder.finish))
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


async def _on_a_thread(work: Callable[[], Result]) -> Result:
    """Run work on a thread; a caller that is cancelled still waits for it, and may then free what it works on."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    finally:
        await asyncio.wait([running])


@dataclass(frozen=True, slots=True)
class PipeOutput:
    """Standard output, as a stream."""

    format: AudioFormat

    async def consume(self, audio: OutputAudio) -> None:
        with StreamEncoder(self.format, audio.sample_rate, audio.channels, tags=audio.tags) as encoder:
            async for piece in audio.pieces:
                self._write(encoder.encode(piece))
            self._write(encoder.finish())

    def _write(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    @property
    def when_interrupted(self) -> str:
        return "stopped: the audio on standard output ends early."


@dataclass(frozen=True, slots=True)
class LoudspeakerOutput:
    """Playback on this machine."""

    async def consume(self, audio: OutputAudio) -> None:
        await play(audio.pieces, audio.sample_rate, audio.channels)

    @property
    def when_interrupted(self) -> str:
        return "stopped."
