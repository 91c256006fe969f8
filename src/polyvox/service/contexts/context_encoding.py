"""Encodes a context's audio: one encoder, and so one continuous file, from its first generation to its last."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from polyvox.audio.encode import AudioFormat, StreamEncoder
from polyvox.provenance.notary import Seal
from polyvox.service.contexts.speech_context import Flushed, SpeechContext
from polyvox.service.encoding import SerialCalls
from polyvox.service.session_trace import encoding, mark_sent
from polyvox.types import AudioChunk


@dataclass(frozen=True, slots=True)
class EncodedEvent:
    """The bytes ready after one chunk, possibly none, or the number of a flush whose audio has been given out.

    Both `chunk` and `flushed` are None for the bytes that complete the stream.
    """

    data: bytes
    chunk: AudioChunk | None = None
    flushed: int | None = None


async def encoded_context(
    context: SpeechContext,
    format: AudioFormat,  # noqa: A002
    bit_rate: int | None = None,
) -> AsyncGenerator[EncodedEvent]:
    """Stream a context's events with its audio encoded. The encoder is freed however the stream ends."""
    calls = SerialCalls(context.executor)
    encoder: StreamEncoder | None = None
    seal: Seal | None = None
    try:
        async with aclosing(aiter(context)) as events:
            async for event in events:
                if isinstance(event, Flushed):
                    yield EncodedEvent(b"", flushed=event.number)
                    continue
                chunk = event.chunk
                if encoder is None or seal is None:
                    channels = 1 if chunk.pcm.ndim == 1 else chunk.pcm.shape[1]
                    seal, tags = context.seal(format), context.tags(format)
                    start = partial(StreamEncoder, format, chunk.sample_rate, channels, bit_rate, tags)
                    encoder = await calls.run(start)
                trace = context.trace
                data = await encoding(trace, calls.run(partial(seal.encode, encoder.encode, chunk.pcm)))
                yield EncodedEvent(data, chunk)
                if data:
                    mark_sent(trace)
        if encoder is not None and seal is not None and (rest := await calls.run(partial(seal.finish, encoder.finish))):
            yield EncodedEvent(rest)
    finally:
        if encoder is not None and seal is not None:
            await calls.run(partial(seal.close, encoder.close))
