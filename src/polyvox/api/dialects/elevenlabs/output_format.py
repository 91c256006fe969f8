"""ElevenLabs' names of audio formats, such as `mp3_44100_128`."""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from polyvox.audio.encode import AudioFormat
from polyvox.audio.raw_encoding import RawEncoding
from polyvox.errors import UnknownFormatError
from polyvox.service.contexts.context_encoding import EncodedEvent, encoded_context
from polyvox.service.contexts.speech_context import Flushed, SpeechContext
from polyvox.service.encoding import EncodedChunk, encoded, packed
from polyvox.service.session import Session
from polyvox.service.session_trace import encoding, mark_sent

DEFAULT_FORMAT = "mp3_44100_128"

_NAME = re.compile(r"(mp3|pcm|wav|opus|ulaw|alaw)_([1-9]\d{3,4})(?:_([1-9]\d{1,2}))?", re.ASCII)
_FORMATS = MappingProxyType({"mp3": AudioFormat.MP3, "wav": AudioFormat.WAV, "opus": AudioFormat.OPUS})
_RAW = MappingProxyType({"ulaw": RawEncoding.PCM_MULAW, "alaw": RawEncoding.PCM_ALAW})
_RATES = (8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
_MAX_KILOBITS = 320
_MEDIA_TYPES = MappingProxyType({RawEncoding.PCM_MULAW: "audio/basic", RawEncoding.PCM_ALAW: "audio/x-alaw-basic"})


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """A form of audio: `raw` samples by a law of telephone lines, or a format, with its bit rate where it has one."""

    format: AudioFormat
    sample_rate: int
    bit_rate: int | None = None
    raw: RawEncoding | None = None

    @property
    def media_type(self) -> str:
        return self.format.media_type if self.raw is None else _MEDIA_TYPES[self.raw]

    async def encoded(self, session: Session) -> AsyncGenerator[EncodedChunk]:
        """The session's chunks as encoded bytes, as one continuous stream."""
        if self.raw is None:
            async with aclosing(encoded(session, self.format, self.bit_rate)) as parts:
                async for part in parts:
                    yield part
            return
        async with aclosing(packed(session, self.media_type, self.raw.pack)) as parts:
            async for part in parts:
                yield part

    async def encoded_context(self, context: SpeechContext) -> AsyncGenerator[EncodedEvent]:
        """A context's events with its audio encoded, as one continuous stream."""
        if self.raw is None:
            async with aclosing(encoded_context(context, self.format, self.bit_rate)) as parts:
                async for part in parts:
                    yield part
            return
        async with aclosing(aiter(context)) as events:
            async for event in events:
                if isinstance(event, Flushed):
                    yield EncodedEvent(b"", flushed=event.number)
                else:
                    pack = partial(self.raw.pack, event.chunk.pcm)
                    trace = context.trace
                    yield EncodedEvent(await encoding(trace, context.executor.run(pack)), event.chunk)
                    mark_sent(trace)


def parse_output_format(name: str) -> OutputFormat:
    """The format of a name; a bit rate that is left out is the encoder's own."""
    found = _NAME.fullmatch(name)
    if found is None or int(found[2]) not in _RATES or int(found[3] or 0) > _MAX_KILOBITS:
        raise UnknownFormatError(
            f"{name[:40]!r} is not an output format; use a name such as mp3_44100_128, pcm_24000, opus_48000_64, "
            "wav_24000 or ulaw_8000.",
            field="output_format",
        )
    bit_rate = int(found[3]) * 1_000 if found[3] else None
    return OutputFormat(_FORMATS.get(found[1], AudioFormat.PCM), int(found[2]), bit_rate, _RAW.get(found[1]))
