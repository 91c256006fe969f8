"""OutputFormat: the audio that a request asks for."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from polyvox.api.requests.fields import Integer, RequestBody
from polyvox.audio.encode import AudioFormat
from polyvox.audio.raw_encoding import RawEncoding
from polyvox.service.encoding import EncodedChunk, encoded, packed
from polyvox.service.session import Session
from polyvox.types import Pcm

_RAW_TYPES = {
    RawEncoding.PCM_S16LE: "audio/pcm",
    RawEncoding.PCM_F32LE: "audio/x-raw; encoding=pcm_f32le",
    RawEncoding.PCM_MULAW: "audio/PCMU",
    RawEncoding.PCM_ALAW: "audio/PCMA",
}


class OutputFormat(RequestBody):
    """Container, encoding and sample rate of the audio."""

    container: Literal["raw", "wav", "mp3"] = Field(description="`raw` is samples and nothing else.")
    encoding: RawEncoding | None = Field(None, description="Of the samples in `raw` and `wav`.")
    sample_rate: Integer = Field(44_100, ge=8_000, le=48_000)
    bit_rate: Integer | None = Field(None, ge=8_000, le=320_000, description="Of `mp3`, in bits per second.")

    @model_validator(mode="after")
    def _has_an_encoding(self) -> Self:
        if self.container != "mp3" and self.encoding is None:
            names = ", ".join(RawEncoding)
            raise PydanticCustomError(
                "encoding", "needs an 'encoding' for this container: one of {names}", {"names": names}
            )
        return self

    @property
    def media_type(self) -> str:
        if self.container == "mp3":
            return AudioFormat.MP3.media_type
        return AudioFormat.WAV.media_type if self.container == "wav" else _RAW_TYPES[self.samples]

    @property
    def samples(self) -> RawEncoding:
        """The encoding of samples in `raw` and `wav`."""
        return self.encoding or RawEncoding.PCM_S16LE

    def pack(self, pcm: Pcm) -> bytes:
        """Samples without a container; always mono, which is all that the dialect knows."""
        return self.samples.pack(pcm if pcm.ndim == 1 else np.mean(pcm, axis=1, dtype=np.float32))

    async def encoded(self, session: Session) -> AsyncGenerator[EncodedChunk]:
        """The session's audio in this format."""
        if self.container == "mp3":
            async with aclosing(encoded(session, AudioFormat.MP3, self.bit_rate)) as parts:
                async for part in parts:
                    yield part
            return
        is_wav = self.container == "wav"
        head = self.samples.wav_header(session.sample_rate, 1, session.tags(AudioFormat.WAV)) if is_wav else b""
        async with aclosing(packed(session, self.media_type, self.pack, head)) as parts:
            async for part in parts:
                yield part
