"""A session's audio in the format its caller asked for, encoded off the event loop."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from polyvox.audio.encode import AudioFormat, FileEncoder, StreamEncoder
from polyvox.errors import EngineError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.session import Session
from polyvox.types import AudioChunk

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EncodedChunk:
    """The bytes that one chunk made ready, perhaps none; `chunk` is None for those that complete the stream."""

    data: bytes
    chunk: AudioChunk | None


async def encoded(session: Session, format: AudioFormat) -> AsyncGenerator[EncodedChunk, None]:  # noqa: A002
    """The session's chunks as a stream of bytes. The encoder is freed however the stream ends."""
    calls = _InTurn(session.executor)
    encoder = await calls.run(partial(StreamEncoder, format, session.sample_rate, session.channels))
    try:
        async for chunk in session:
            yield EncodedChunk(await calls.run(partial(encoder.encode, chunk.pcm)), chunk)
        rest = await calls.run(encoder.finish)
        if rest:
            yield EncodedChunk(rest, None)
    finally:
        await calls.run(encoder.close)


async def encode_whole(
    session: Session,
    format: AudioFormat,  # noqa: A002
    on_chunk: Callable[[AudioChunk], None] = lambda chunk: None,
) -> bytes:
    """The whole session as one file, its header true to its length; `on_chunk` sees each chunk that goes in."""
    calls = _InTurn(session.executor)
    encoder = await calls.run(partial(FileEncoder, format, session.sample_rate, session.channels))
    seconds = 0.0
    try:
        async for chunk in session:
            on_chunk(chunk)
            await calls.run(partial(encoder.encode, chunk.pcm))
            seconds += chunk.duration
            if seconds > session.max_audio_seconds:
                raise EngineError(
                    f"The engine {session.engine!r} made over {session.max_audio_seconds:.0f} s of audio, more than "
                    "the text is worth; send less text or ask for a stream."
                )
        return await calls.run(encoder.finish)
    finally:
        await calls.run(encoder.close)


class _InTurn:
    """Calls on one object, one after the other, even when whoever awaited the last one has been cancelled."""

    def __init__(self, executor: DeviceExecutor) -> None:
        self._executor = executor
        self._last: asyncio.Future[Any] | None = None

    async def run(self, fn: Callable[[], T]) -> T:
        if self._last is not None and not self._last.done():
            await asyncio.wait([self._last])
        call = asyncio.ensure_future(self._executor.run(fn))
        self._last = call
        return await asyncio.shield(call)
