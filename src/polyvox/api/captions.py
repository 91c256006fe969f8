"""Speech with word timings, as JSON in Kokoro-FastAPI's shape."""

import base64
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass

from polyvox.api.schemas import Captioned, WordTimestamp
from polyvox.audio.encode import AudioFormat
from polyvox.errors import PolyvoxError
from polyvox.service.encoding import encode_whole, encoded
from polyvox.service.session import Session
from polyvox.types import WordTiming


@dataclass(frozen=True, slots=True)
class CaptionStream:
    """One JSON object a line, each with a part of the audio and the words spoken in it."""

    format: AudioFormat
    timestamps: bool
    media_type = "application/json"  # as Kokoro-FastAPI labels it, though it is one object a line
    buffered = False

    async def parts(self, session: Session) -> AsyncGenerator[bytes]:
        waiting: list[WordTiming] = []  # an encoder may hold a chunk's audio back; its words then wait with it
        async with aclosing(encoded(session, self.format)) as parts:
            async for part in parts:
                waiting.extend(part.chunk.words if part.chunk else ())
                if part.data:
                    yield _caption(self.format, part.data, waiting if self.timestamps else None) + b"\n"
                    waiting.clear()

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
        yield _caption(self.format, data, words if self.timestamps else None)

    def error_tail(self, error: PolyvoxError) -> None:
        return None


def _caption(audio_format: AudioFormat, data: bytes, words: Iterable[WordTiming] | None) -> bytes:
    stamps = (
        None
        if words is None
        else [
            WordTimestamp(word=word.word, start_time=round(word.start, 4), end_time=round(word.end, 4))
            for word in words
        ]
    )
    caption = Captioned(audio=base64.b64encode(data).decode(), audio_format=audio_format.media_type, timestamps=stamps)
    return caption.model_dump_json().encode()
