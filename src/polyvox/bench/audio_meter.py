"""Seconds of audio in an answer as it arrives: headers of files are not audio, and codecs are decoded."""

import struct
from typing import Protocol

from polyvox.errors import ApiError

_SAMPLE_BYTES = 2
_MAX_HEADER_BYTES = 65_536


class AudioMeter(Protocol):
    """Measures one answer."""

    def seconds(self, data: bytes) -> float:
        """Seconds of audio that this piece of the answer completes; ApiError where it holds none."""


class SampleMeter:
    """16-bit samples, with the header of a WAV file before them or without one, whatever the pieces are."""

    def __init__(self, sample_rate: int, channels: int = 1) -> None:
        self._bytes_per_second = sample_rate * channels * _SAMPLE_BYTES
        self._head = b""
        self._in_samples = False

    def seconds(self, data: bytes) -> float:
        if not self._in_samples:
            data = self._after_header(data)
        return len(data) / self._bytes_per_second

    def _after_header(self, data: bytes) -> bytes:
        """The samples among the pieces so far."""
        self._head += data
        if not b"RIFF".startswith(self._head[:4]) and not self._head.startswith(b"RIFF"):
            self._in_samples = True
            return self._head
        place = 12
        while len(self._head) >= place + 8:
            kind, size = struct.unpack_from("<4sI", self._head, place)
            if kind == b"data":
                self._in_samples = True
                return self._head[place + 8 :]
            if kind == b"fmt " and len(self._head) >= place + 20:
                self._bytes_per_second = max(1, *struct.unpack_from("<I", self._head, place + 16))
            place += 8 + size + size % 2
        if len(self._head) > _MAX_HEADER_BYTES:
            raise ApiError("The answer is a WAV file without samples.", status=200)
        return b""


_ID3_HEAD = 10


class Mp3Meter:
    """MP3, decoded frame by frame, behind the tag with which it may begin."""

    def __init__(self) -> None:
        from av import CodecContext

        self._decoder = CodecContext.create("mp3", "r")
        self._head: bytes | None = b""
        """The bytes so far, until it is known whether they are a tag's."""

    def _untagged(self, data: bytes) -> bytes:
        if self._head is None:
            return data
        self._head += data
        if len(self._head) < _ID3_HEAD:
            return b""
        length = 0
        if self._head.startswith(b"ID3"):
            for seven_bits in self._head[6:_ID3_HEAD]:
                length = length << 7 | seven_bits & 0x7F
            length += _ID3_HEAD
        if len(self._head) < length:
            return b""
        rest, self._head = self._head[length:], None
        return rest

    def seconds(self, data: bytes) -> float:
        from av import FFmpegError
        from av.audio.frame import AudioFrame

        data = self._untagged(data)
        if not data:
            return 0.0
        total = 0.0
        for packet in self._decoder.parse(data):
            try:
                frames = self._decoder.decode(packet)
            except FFmpegError as error:
                raise ApiError(f"The answer is no MP3: {error}.", status=200) from error
            total += sum(frame.samples / frame.sample_rate for frame in frames if isinstance(frame, AudioFrame))
        return total


def meter_for(media_type: str, sample_rate: int, channels: int) -> AudioMeter:
    """The meter for an answer, by its headers."""
    if media_type.partition(";")[0].strip().lower() in ("audio/mpeg", "audio/mp3"):
        return Mp3Meter()
    return SampleMeter(sample_rate, channels)
