"""Encodes a session's audio to the requested format, off the event loop."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from polyvox.audio.encode import AudioFormat, FileEncoder, StreamEncoder
from polyvox.errors import EngineError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.session import Session
from polyvox.service.session_trace import encoding, mark_sent
from polyvox.types import AudioChunk, Pcm

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EncodedChunk:
    """The bytes ready after one chunk, possibly none; `chunk` is None for those that complete the stream."""

    data: bytes
    chunk: AudioChunk | None


async def encoded(
    session: Session,
    format: AudioFormat,  # noqa: A002
    bit_rate: int | None = None,
) -> AsyncGenerator[EncodedChunk, None]:
    """Stream the session's chunks as encoded bytes. The encoder is freed however the stream ends."""
    calls = SerialCalls(session.executor)
    seal, tags = session.seal(format), session.tags(format)
    encoder = await calls.run(partial(StreamEncoder, format, session.sample_rate, session.channels, bit_rate, tags))
    try:
        async for chunk in session:
            data = await encoding(session.trace, calls.run(partial(seal.encode, encoder.encode, chunk.pcm)))
            yield EncodedChunk(data, chunk)
            if data:
                mark_sent(session.trace)
        rest = await calls.run(partial(seal.finish, encoder.finish))
        if rest:
            yield EncodedChunk(rest, None)
    finally:
        await calls.run(partial(seal.close, encoder.close))


async def packed(
    session: Session,
    format: str,  # noqa: A002
    pack: Callable[[Pcm], bytes],
    head: bytes = b"",
) -> AsyncGenerator[EncodedChunk]:
    """Stream the session's chunks by a function of their samples alone, behind a header."""
    calls, seal = SerialCalls(session.executor), session.seal(format)
    try:
        async for chunk in session:
            packing = partial(seal.encode, _behind(head, pack), chunk.pcm)
            yield EncodedChunk(await encoding(session.trace, calls.run(packing)), chunk)
            mark_sent(session.trace)
            head = b""
        await calls.run(partial(seal.finish, bytes))
    finally:
        await calls.run(seal.close)


def _behind(head: bytes, pack: Callable[[Pcm], bytes]) -> Callable[[Pcm], bytes]:
    return (lambda pcm: head + pack(pcm)) if head else pack


async def encode_whole(
    session: Session,
    format: AudioFormat,  # noqa: A002
    on_chunk: Callable[[AudioChunk], None] = lambda chunk: None,
) -> bytes:
    """Encode the whole session as one file with the right length in its header; `on_chunk` is called for each chunk.

    The session holds the file's share of the memory for whole answers until it is left.
    """
    calls = SerialCalls(session.executor)
    seal, tags = session.seal(format), session.tags(format)
    encoder = await calls.run(partial(FileEncoder, format, session.sample_rate, session.channels, tags))
    seconds = 0.0
    try:
        async for chunk in session:
            on_chunk(chunk)
            await encoding(session.trace, calls.run(partial(seal.encode, encoder.encode, chunk.pcm)))
            await session.output.grow_to(encoder.size)
            seconds += chunk.duration
            if seconds > session.max_audio_seconds:
                raise EngineError(
                    f"The engine {session.engine!r} produced over {session.max_audio_seconds:.0f} s of audio, more "
                    "than the text can take; send less text or request a stream."
                )
        return await calls.run(partial(seal.finish, encoder.finish))
    finally:
        await calls.run(partial(seal.close, encoder.close))


class SerialCalls:
    """Runs calls on one object one after the other, even when the caller of the last one was cancelled."""

    def __init__(self, executor: DeviceExecutor) -> None:
        self._executor = executor
        self._last: asyncio.Future[Any] | None = None

    async def run(self, fn: Callable[[], T]) -> T:
        if self._last is not None and not self._last.done():
            await asyncio.wait([self._last])
        call = asyncio.ensure_future(self._executor.run(fn))
        self._last = call
        return await asyncio.shield(call)
