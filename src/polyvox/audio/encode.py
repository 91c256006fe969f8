"""Audio encoders: every format as a stream that plays while it grows, or as a whole file."""

import io
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Protocol, Self, cast

import numpy as np

from polyvox.audio.mp3_delay import Mp3Trim, mp3_trim
from polyvox.audio.pcm import bounded, check_channels, check_rate, shaped, to_int16, to_pcm16
from polyvox.audio.resample import StreamResampler
from polyvox.audio.wav_tags import tag_chunks
from polyvox.errors import UnknownFormatError
from polyvox.suggestions import did_you_mean
from polyvox.types import Pcm

# FFmpeg is loaded by the formats that need it: a command that writes a server's speech as WAV does without.
if TYPE_CHECKING:
    import av
    from av.audio.stream import AudioStream
    from av.container import OutputContainer


Tags = Mapping[str, str]
"""Tags of a container; names in lower case are FFmpeg's for what containers have fields of their own for."""
NO_TAGS: Tags = MappingProxyType({})


class AudioFormat(StrEnum):
    """The output formats."""

    PCM = "pcm"
    WAV = "wav"
    MP3 = "mp3"
    OPUS = "opus"
    AAC = "aac"
    FLAC = "flac"
    WEBM = "webm"

    @property
    def media_type(self) -> str:
        return _MEDIA_TYPES[self]


_MEDIA_TYPES = {
    AudioFormat.PCM: "audio/pcm",
    AudioFormat.WAV: "audio/wav",
    AudioFormat.MP3: "audio/mpeg",
    AudioFormat.OPUS: "audio/ogg",
    AudioFormat.AAC: "audio/aac",
    AudioFormat.FLAC: "audio/flac",
    AudioFormat.WEBM: "audio/webm",
}


def parse_format(name: str, field: str = "response_format") -> AudioFormat:
    """The format of that name."""
    try:
        return AudioFormat(name.strip().lower())
    except ValueError:
        advice = did_you_mean(name, AudioFormat, f"use one of {', '.join(AudioFormat)}.")
        raise UnknownFormatError(f"{name[:40]!r} is not an audio format; {advice}", field=field) from None


@dataclass(frozen=True, slots=True)
class _Codec:
    """Encoder settings of one compressed format. `bit_rates` are for mono and stereo; no `rates` means any rate.

    `tagged_muxing` is for containers with tags; with `stream_tags` those belong to the stream, not to the container.
    """

    container: str
    codec: str
    samples: str
    rates: tuple[int, ...]
    bit_rates: tuple[int, int] | None
    options: Mapping[str, str]
    muxing: Mapping[str, str]
    live_muxing: Mapping[str, str]
    tagged_muxing: Mapping[str, str] = field(default_factory=dict)
    stream_tags: bool = False
    live_frame_seconds: float | None = None
    live_trim: Callable[[Pcm, int], Mp3Trim] | None = None

    def rate_for(self, rate: int) -> int:
        """The legal rate nearest to the wanted one, the higher of two equally near."""
        return min(self.rates, key=lambda legal: (abs(legal - rate), -legal)) if self.rates else rate


# `audio` keeps the waveform; `voip` would high-pass and sharpen speech that needs neither.
_OPUS_OPTIONS = {"application": "audio", "frame_duration": "20"}
_OPUS_RATES = (8_000, 12_000, 16_000, 24_000, 48_000)
_OPUS_BIT_RATES = (64_000, 96_000)

_CODECS = {
    # Without the bit reservoir no frame waits for the bits of the next; the generous bit rate makes up for it.
    AudioFormat.MP3: _Codec(
        container="mp3",
        codec="libmp3lame",
        samples="fltp",
        rates=(8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000),
        bit_rates=(96_000, 128_000),
        options={"compression_level": "7", "reservoir": "0"},
        muxing={"id3v2_version": "0"},
        live_muxing={},
        tagged_muxing={"id3v2_version": "4"},
        live_trim=mp3_trim,
    ),
    # One page per frame; left alone, a page gathers a second of audio before it is written.
    AudioFormat.OPUS: _Codec(
        container="ogg",
        codec="libopus",
        samples="flt",
        rates=_OPUS_RATES,
        bit_rates=_OPUS_BIT_RATES,
        options=_OPUS_OPTIONS,
        muxing={},
        live_muxing={"page_duration": "20000"},
        stream_tags=True,
    ),
    # The plain quantiser search is the quicker one, and at this bit rate it is also the closer to the original: 40 to
    # 54 dB against 36 to 43 for the thorough one, over mono speech-like signals from 16 to 48 kHz.
    AudioFormat.AAC: _Codec(
        container="adts",
        codec="aac",
        samples="fltp",
        rates=(8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000),
        bit_rates=(96_000, 128_000),
        options={"aac_coder": "fast"},
        muxing={},
        live_muxing={},
        tagged_muxing={"write_id3v2": "1"},
    ),
    # The codec's own block, 105 ms at this level, compresses best and suits files; a stream gets blocks of 20 ms.
    AudioFormat.FLAC: _Codec(
        container="flac",
        codec="flac",
        samples="s16",
        rates=(),
        bit_rates=None,
        options={"compression_level": "5"},
        muxing={"metadata_header_padding": "0"},
        live_muxing={},
        live_frame_seconds=0.02,
    ),
    # A cluster leaves when it is complete, so it is kept short; `live` leaves the ends open, as browsers expect.
    AudioFormat.WEBM: _Codec(
        container="webm",
        codec="libopus",
        samples="flt",
        rates=_OPUS_RATES,
        bit_rates=_OPUS_BIT_RATES,
        options=_OPUS_OPTIONS,
        muxing={},
        live_muxing={"live": "1", "cluster_time_limit": "40"},
    ),
}


class _Writer(Protocol):
    """A container writer."""

    def encode(self, pcm: Pcm) -> bytes: ...

    def finish(self) -> bytes: ...

    def close(self) -> None: ...


class StreamEncoder:
    """Encodes one stream. `encode` returns whatever bytes are ready, perhaps none; `finish` returns the last.

    Samples may come in chunks of any length. `close` may be called at any time, any number of times, and frees the
    codec; a stream that is closed before `finish` simply ends there. `bit_rate` is for formats that have one; the
    codec takes the nearest that it can. `tags` stand at the head of all formats but PCM, which has no place for them.
    """

    def __init__(
        self,
        format: AudioFormat,  # noqa: A002
        sample_rate: int,
        channels: int = 1,
        bit_rate: int | None = None,
        tags: Tags = NO_TAGS,
    ) -> None:
        check_rate(sample_rate)
        self._channels = check_channels(channels)
        self._done = False
        self._writer: _Writer
        if format is AudioFormat.PCM:
            self._writer = _RawWriter()
        elif format is AudioFormat.WAV:
            self._writer = _WavWriter(sample_rate, channels, tags)
        else:
            self._writer = _CodecWriter(_CODECS[format], sample_rate, channels, bit_rate=bit_rate, tags=tags)

    def encode(self, pcm: Pcm) -> bytes:
        """Take samples; return the bytes that are ready."""
        if self._done:
            raise ValueError("the encoder is finished or closed")
        samples = shaped(pcm, self._channels)
        return self._writer.encode(samples) if len(samples) else b""

    def finish(self) -> bytes:
        """The bytes that complete the stream; empty when called again."""
        if self._done:
            return b""
        try:
            return self._writer.finish()
        finally:
            self.close()

    def close(self) -> None:
        """Free the codec."""
        self._done = True
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class FileEncoder:
    """Encodes one whole file chunk by chunk, with the true sizes and durations that a stream's header cannot know.

    Only encoded bytes are held in memory.
    """

    def __init__(
        self,
        format: AudioFormat,  # noqa: A002
        sample_rate: int,
        channels: int = 1,
        tags: Tags = NO_TAGS,
    ) -> None:
        check_rate(sample_rate)
        self._rate = sample_rate
        self._tags = tags
        self._channels = check_channels(channels)
        self._file = io.BytesIO()
        plain = format in (AudioFormat.PCM, AudioFormat.WAV)
        self._header = len(wav_header(sample_rate, channels, 0, tags)) if format is AudioFormat.WAV else 0
        self._file.write(bytes(self._header))  # filled in when the length is known, so that nothing is copied
        self._codec = None if plain else _CodecWriter(_CODECS[format], sample_rate, channels, self._file, tags=tags)

    def encode(self, pcm: Pcm) -> None:
        """Take samples."""
        samples = shaped(pcm, self._channels)
        if self._codec is None:
            self._file.write(to_pcm16(samples))
        elif len(samples):
            self._codec.encode(samples)

    def finish(self) -> bytes:
        """The whole file."""
        if self._codec is not None:
            self._codec.finish()
            self.close()
            return self._file.getvalue()
        if self._header:
            samples = self.size - self._header
            self._file.seek(0)
            self._file.write(wav_header(self._rate, self._channels, samples, self._tags))
        return self._file.getvalue()

    @property
    def size(self) -> int:
        """Bytes of the file so far."""
        return self._file.getbuffer().nbytes

    def close(self) -> None:
        """Free the codec; may be called at any time, any number of times."""
        if self._codec is not None:
            self._codec.close()


def encode(pcm: Pcm, format: AudioFormat, sample_rate: int, tags: Tags = NO_TAGS) -> bytes:  # noqa: A002
    """A whole file at once."""
    encoder = FileEncoder(format, sample_rate, 1 if pcm.ndim == 1 else pcm.shape[1], tags)
    try:
        encoder.encode(pcm)
        return encoder.finish()
    finally:
        encoder.close()


_OPEN_END = 0x7FFFF000
"""Size of samples whose number is not known, as sox writes it. Readers of signed numbers take it, too, and FFmpeg warns
of the largest possible size and of none, but not of this one."""


def wav_header(sample_rate: int, channels: int, data_bytes: int | None, tags: Tags = NO_TAGS) -> bytes:
    """Everything before 16-bit samples; with None for their number, sizes that say "until the stream ends".

    It has 44 bytes without tags. Tags stand before the samples in files, too: clients have been seen to play whatever
    follows the samples.
    """
    chunks = tag_chunks(tags)
    more = 36 + len(chunks)
    data_size = _OPEN_END if data_bytes is None or data_bytes + more > 0xFFFFFFFF else data_bytes
    frame_bytes = 2 * channels
    head = struct.pack(
        "<4sI4s4sIHHIIHH",
        b"RIFF",
        data_size + more,
        b"WAVE",
        b"fmt ",
        16,
        1,
        channels,
        sample_rate,
        sample_rate * frame_bytes,
        frame_bytes,
        16,
    )
    return head + chunks + struct.pack("<4sI", b"data", data_size)


class _RawWriter:
    def encode(self, pcm: Pcm) -> bytes:
        return to_pcm16(pcm)

    def finish(self) -> bytes:
        return b""

    def close(self) -> None:
        """Nothing is held."""


class _WavWriter:
    """The header waits for the first samples, so that a stream which fails before them has sent nothing."""

    def __init__(self, sample_rate: int, channels: int, tags: Tags) -> None:
        self._rate = sample_rate
        self._channels = channels
        self._tags = tags
        self._started = False

    def encode(self, pcm: Pcm) -> bytes:
        header = b"" if self._started else wav_header(self._rate, self._channels, None, self._tags)
        self._started = True
        return header + to_pcm16(pcm)

    def finish(self) -> bytes:
        return b"" if self._started else wav_header(self._rate, self._channels, 0, self._tags)

    def close(self) -> None:
        """Nothing is held."""


class _Sink:
    """The output of a muxer. It has no `seek`, so the muxer does not rewrite anything."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(data)
        return len(data)

    def take(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        return data


class _CodecWriter:
    """Drives one encoder and one muxer, into a stream that is handed on or into a file."""

    def __init__(
        self,
        codec: _Codec,
        sample_rate: int,
        channels: int,
        file: io.BytesIO | None = None,
        bit_rate: int | None = None,
        tags: Tags = NO_TAGS,
    ) -> None:
        import av

        self._codec = codec
        self._bit_rate = bit_rate
        self._layout = "mono" if channels == 1 else "stereo"
        self._rate = codec.rate_for(sample_rate)
        self._resampler = StreamResampler(sample_rate, self._rate, channels)
        self._samples = 0
        self._trim = codec.live_trim if file is None else None
        self._frames_to_drop = 0
        self._sink = _Sink()
        # Without bitexact, muxers draw random serial numbers; the same audio must give the same bytes.
        muxing = {"fflags": "+bitexact", "flush_packets": "1", **codec.muxing}
        if file is None:
            muxing |= codec.live_muxing
        if tags:
            muxing |= codec.tagged_muxing
        container = av.open(self._sink if file is None else file, "w", format=codec.container, options=muxing)
        self._stream = self._opened(container, live=file is None)
        (self._stream if codec.stream_tags else container).metadata.update(tags)
        self._container: OutputContainer | None = container

    def _opened(self, container: "OutputContainer", *, live: bool) -> "AudioStream":
        codec = self._codec
        options = {"flags": "+bitexact", **codec.options}
        if live and codec.live_frame_seconds is not None:
            options["frame_size"] = str(round(codec.live_frame_seconds * self._rate))
        stream = cast("AudioStream", container.add_stream(codec.codec, rate=self._rate, options=options))
        stream.layout = self._layout
        stream.format = codec.samples
        if codec.bit_rates is not None:
            stream.bit_rate = self._bit_rate or codec.bit_rates[0 if self._layout == "mono" else 1]
        return stream

    def encode(self, pcm: Pcm) -> bytes:
        self._write(self._resampler.push(bounded(pcm)))
        return self._sink.take()

    def finish(self) -> bytes:
        assert self._container is not None
        self._write(self._resampler.finish())
        self._container.start_encoding()
        self._mux(self._stream.encode(None))
        self.close()
        return self._sink.take()

    def close(self) -> None:
        """Closing the container writes its trailer, if it ever began, and frees the codec."""
        if self._container is not None:
            self._container.close()
            self._container = None

    def _write(self, pcm: Pcm) -> None:
        if len(pcm) and self._trim is not None:
            trim, self._trim = self._trim(pcm, self._rate), None
            pcm, self._frames_to_drop = pcm[trim.samples :], trim.frames
        if len(pcm):
            self._mux(self._stream.encode(self._frame(pcm)))

    def _mux(self, packets: "list[av.Packet[AudioStream]]") -> None:
        assert self._container is not None
        kept = packets[self._frames_to_drop :]
        self._frames_to_drop -= len(packets) - len(kept)
        self._container.mux(kept)

    def _frame(self, pcm: Pcm) -> "av.AudioFrame":
        import av

        if self._codec.samples == "s16":
            frame = av.AudioFrame.from_ndarray(to_int16(pcm).reshape(1, -1), "s16", self._layout)
        elif self._codec.samples == "flt":
            frame = av.AudioFrame.from_ndarray(pcm.reshape(1, -1), "flt", self._layout)
        else:
            planes = np.ascontiguousarray(pcm.reshape(len(pcm), -1).T)
            frame = av.AudioFrame.from_ndarray(planes, self._codec.samples, self._layout)
        frame.sample_rate = self._rate
        frame.time_base = Fraction(1, self._rate)
        frame.pts = self._samples
        self._samples += len(pcm)
        return frame
