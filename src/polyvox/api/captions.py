"""Speech with word timings, as JSON in Kokoro-FastAPI's shape."""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from polyvox.api.events import chunk_info
from polyvox.api.schemas import Captioned, WordTimestamp
from polyvox.audio.encode import AudioFormat
from polyvox.errors import PolyvoxError
from polyvox.service.encoding import encode_whole, encoded
from polyvox.service.session import Session
from polyvox.types import WordTiming

_SLICE_BYTES = 786_432
"""A multiple of three, so that the base64 of the slices is that of the whole."""


@dataclass(frozen=True, slots=True)
class CaptionStream:
    """One JSON object a line, each with a part of the audio and the words spoken in it."""

    format: AudioFormat
    timestamps: bool
    chunks: bool = False
    """Whether each object also has the position and the hash of the chunks in it."""
    media_type = "application/json"  # as Kokoro-FastAPI labels it, though it is one object a line
    buffered = False

    async def parts(self, session: Session) -> AsyncGenerator[bytes]:
        # An encoder may hold a chunk's audio back; its words then wait with it.
        waiting: list[WordTiming] = []
        chunks: list[dict[str, Any]] = []
        async with aclosing(encoded(session, self.format)) as parts:
            async for part in parts:
                if part.chunk is not None:
                    waiting.extend(part.chunk.words)
                    chunks += [await chunk_info(part.chunk)] if self.chunks else []
                if part.data:
                    told = {"chunks": chunks} if self.chunks else {}
                    yield _caption(self.format, part.data, waiting if self.timestamps else None, told) + b"\n"
                    waiting.clear()
                    chunks.clear()

    def error_tail(self, error: PolyvoxError) -> None:
        return None


@dataclass(frozen=True, slots=True)
class CaptionFile:
    """One JSON object with the whole file and all words."""

    format: AudioFormat
    timestamps: bool
    media_type = "application/json"
    buffered = True

    async def parts(self, session: Session) -> AsyncGenerator[bytes]:
        words: list[WordTiming] = []
        data = await encode_whole(session, self.format, lambda chunk: words.extend(chunk.words))
        await session.output.grow_to(len(data) + 4 * len(data) // 3)
        head, tail = await session.executor.run(partial(_around_audio, self.format, words if self.timestamps else None))
        yield head
        for start in range(0, len(data), _SLICE_BYTES):
            yield base64.b64encode(data[start : start + _SLICE_BYTES])
            await asyncio.sleep(0)  # one long file is no reason to keep others waiting
        yield tail

    def error_tail(self, error: PolyvoxError) -> None:
        return None


def _around_audio(audio_format: AudioFormat, words: Iterable[WordTiming] | None) -> tuple[bytes, bytes]:
    """What stands before and behind the audio, the first field of the object."""
    head, empty, tail = _caption(audio_format, b"", words).partition(b'""')
    return head + empty[:1], empty[1:] + tail


def _caption(
    audio_format: AudioFormat,
    data: bytes,
    words: Iterable[WordTiming] | None,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> bytes:
    stamps = (
        None
        if words is None
        else [
            WordTimestamp(word=word.word, start_time=round(word.start, 4), end_time=round(word.end, 4))
            for word in words
        ]
    )
    caption = Captioned(audio=base64.b64encode(data).decode(), audio_format=audio_format.media_type, timestamps=stamps)
    return json.dumps({**caption.model_dump(), **more}, ensure_ascii=False, separators=(",", ":")).encode()
