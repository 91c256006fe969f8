"""RawEncoding: how single samples are written where no codec is involved, bare or in a WAV file."""

import struct
from enum import StrEnum

from polyvox.audio.companding import alaw, mulaw
from polyvox.audio.encode import NO_TAGS, Tags, wav_header
from polyvox.audio.pcm import bounded, to_pcm16
from polyvox.audio.wav_tags import tag_chunks
from polyvox.types import Pcm

_FLOAT, _ALAW, _MULAW = 3, 6, 7  # format tags of WAV files
_OPEN_END = 0x7FFFF000
"""Size of samples whose number is not known, the same that `wav_header` writes."""


class RawEncoding(StrEnum):
    """Encodings of a sample by FFmpeg's names, which other services use too."""

    PCM_S16LE = "pcm_s16le"
    PCM_F32LE = "pcm_f32le"
    PCM_MULAW = "pcm_mulaw"
    PCM_ALAW = "pcm_alaw"

    @property
    def sample_bytes(self) -> int:
        return {RawEncoding.PCM_S16LE: 2, RawEncoding.PCM_F32LE: 4}.get(self, 1)

    def pack(self, pcm: Pcm) -> bytes:
        """The samples as bytes, channels interleaved."""
        if self is RawEncoding.PCM_S16LE:
            return to_pcm16(pcm)
        if self is RawEncoding.PCM_F32LE:
            return bounded(pcm).astype("<f4").tobytes()
        return mulaw(pcm) if self is RawEncoding.PCM_MULAW else alaw(pcm)

    def wav_header(self, sample_rate: int, channels: int, tags: Tags = NO_TAGS) -> bytes:
        """The header before the samples of a WAV stream, whose length is not known yet."""
        if self is RawEncoding.PCM_S16LE:
            return wav_header(sample_rate, channels, None, tags)
        tag = {RawEncoding.PCM_F32LE: _FLOAT, RawEncoding.PCM_ALAW: _ALAW}.get(self, _MULAW)
        frame_bytes = self.sample_bytes * channels
        # Formats other than 16-bit PCM have an extension, here an empty one, and a chunk with the number of frames.
        before_samples = struct.pack(
            "<4sIHHIIHHH4sII",
            b"fmt ",
            18,
            tag,
            channels,
            sample_rate,
            sample_rate * frame_bytes,
            frame_bytes,
            8 * self.sample_bytes,
            0,
            b"fact",
            4,
            _OPEN_END // frame_bytes,
        ) + tag_chunks(tags)
        return (
            struct.pack("<4sI4s", b"RIFF", 4 + len(before_samples) + 8 + _OPEN_END, b"WAVE")
            + before_samples
            + struct.pack("<4sI", b"data", _OPEN_END)
        )
