"""Speech with the times of its characters, as JSON."""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from polyvox.api.dialects.elevenlabs.alignment import Alignment, CharacterAligner
from polyvox.api.dialects.elevenlabs.output_format import OutputFormat
from polyvox.audio.encode import AudioFormat, wav_header
from polyvox.errors import PolyvoxError
from polyvox.service.session import Session

_PIECE_BYTES = 49_152
"""Audio of one line, which clients read up to 128 KiB of. A multiple of three, so that its base64 can be joined."""

MoreFields = Callable[[Alignment, int], Mapping[str, Any]]
"""Further fields of an object, from its characters and the position of the first of them in the text."""


def _nothing(alignment: Alignment, first: int) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class TimestampedStream:
    """One JSON object a line: some audio, and the characters that are spoken in it."""

    output: OutputFormat
    text: str
    late: bool = False
    """True if words are timed after they were spoken."""
    more: MoreFields = field(default=_nothing)
    media_type = "application/json"  # as ElevenLabs labels it, though it is one object a line
    buffered = False

    async def parts(self, session: Session) -> AsyncGenerator[bytes]:
        aligner = CharacterAligner(spaced=False, late=self.late)
        waiting, sent = Alignment(), 0  # an encoder may hold audio back; its characters then wait with it
        async with aclosing(self.output.encoded(session)) as parts:
            async for part in parts:
                if part.chunk is not None:
                    waiting += aligner.chunk(self.text, part.chunk)
                for start in range(0, len(part.data), _PIECE_BYTES):
                    yield self._line(part.data[start : start + _PIECE_BYTES], waiting, sent)
                    waiting, sent = Alignment(), sent + len(waiting.characters)
        if waiting := waiting + aligner.rest(self.text):
            yield self._line(b"", waiting, sent)

    def error_tail(self, error: PolyvoxError) -> None:
        return None

    def _line(self, data: bytes, alignment: Alignment, first: int) -> bytes:
        return _object(base64.b64encode(data).decode(), alignment, self.more(alignment, first)) + b"\n"


@dataclass(frozen=True, slots=True)
class TimestampedFile:
    """One JSON object: the whole audio, and all characters."""

    output: OutputFormat
    text: str
    late: bool = False
    """True if words are timed after they were spoken."""
    more: MoreFields = field(default=_nothing)
    media_type = "application/json"
    buffered = True

    async def parts(self, session: Session) -> AsyncGenerator[bytes]:
        aligner, found, size = CharacterAligner(spaced=False, late=self.late), Alignment(), 0
        audio: list[bytes] = []
        async with aclosing(self.output.encoded(session)) as parts:
            async for part in parts:
                found += aligner.chunk(self.text, part.chunk) if part.chunk is not None else Alignment()
                audio.append(part.data)
                size += len(part.data)
                await session.output.grow_to(size + 4 * size // 3)
        found += aligner.rest(self.text)
        head, tail = await session.executor.run(partial(self._around_audio, found))
        yield head
        data = self._whole(b"".join(audio), session)
        for start in range(0, size, _PIECE_BYTES):
            yield base64.b64encode(data[start : start + _PIECE_BYTES])
            await asyncio.sleep(0)  # one long file is no reason to keep others waiting
        yield tail

    def error_tail(self, error: PolyvoxError) -> None:
        return None

    def _whole(self, data: bytes, session: Session) -> bytes:
        """The audio with the length in its header that the header of a stream cannot have."""
        if self.output.format is not AudioFormat.WAV:
            return data
        tags = session.tags(AudioFormat.WAV)
        size = len(wav_header(session.sample_rate, session.channels, 0, tags))
        return wav_header(session.sample_rate, session.channels, len(data) - size, tags) + data[size:]

    def _around_audio(self, found: Alignment) -> tuple[bytes, bytes]:
        """The bytes before and behind the audio, the first field of the object."""
        head, quotes, tail = _object("", found, self.more(found, 0)).partition(b'""')
        return head + quotes[:1], quotes[1:] + tail


def _object(audio: str, alignment: Alignment, more: Mapping[str, Any]) -> bytes:
    """Nothing is told of the normalised text, so both alignments are that of the text as it was sent."""
    times = alignment.seconds() if alignment else None
    content = {"audio_base64": audio, "alignment": times, "normalized_alignment": times, **more}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
