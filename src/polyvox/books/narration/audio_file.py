"""Audio files with chapter marks, a cover and tags, written to disk piece by piece."""

import base64
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import OutputContainer
from av.stream import Disposition

from polyvox.audio.pcm import check_channels, shaped, to_int16
from polyvox.audio.resample import StreamResampler
from polyvox.books.manuscript import Cover
from polyvox.books.pictures import picture_size
from polyvox.types import Pcm

if TYPE_CHECKING:
    from av.container.core import Chapter

_MILLISECOND: Final = Fraction(1, 1000)
_RATES: Final = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
_OPUS_RATES: Final = (8_000, 12_000, 16_000, 24_000, 48_000)
_PICTURE_CODECS: Final = {"image/jpeg": "mjpeg", "image/png": "png"}
_FRONT_COVER: Final = 3


@dataclass(frozen=True, slots=True)
class ChapterMark:
    """A chapter's title, and its first and last moment in seconds."""

    title: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class FileContents:
    """The contents of a file besides its samples."""

    tags: Mapping[str, str] = field(default_factory=dict)
    marks: Sequence[ChapterMark] = ()
    cover: Cover | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)
    """The marks of synthetic speech, by their names as tags."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Container and codec of a format; `bit_rates` are for mono and stereo, no `rates` means any."""

    container: str
    codec: str
    samples: str
    rates: tuple[int, ...] = ()
    bit_rates: tuple[int, int] | None = None
    muxing: Mapping[str, str] = field(default_factory=dict)
    coding: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    provenance_names: Mapping[str, str] = field(default_factory=dict)
    """The container's own names of marks; one that is not here keeps its name."""
    joins_provenance: bool = False
    """True if the container has no tags of other names: all marks are in the comment then."""
    picture_stream: bool = False
    comments: bool = False
    """True if tags, chapters and the picture are comments of the stream, as in Ogg."""


_LAYOUTS: Final = {
    "m4b": _Layout(
        container="mp4",
        codec="aac",
        samples="fltp",
        rates=_RATES,
        bit_rates=(64_000, 128_000),
        muxing={"movflags": "+faststart", "brand": "M4B "},
        coding={"aac_coder": "fast"},
        tags={"media_type": "2"},  # an audiobook, in Apple's list of kinds
        joins_provenance=True,
        picture_stream=True,
    ),
    "mp3": _Layout(
        container="mp3",
        codec="libmp3lame",
        samples="fltp",
        rates=_RATES,
        bit_rates=(64_000, 128_000),
        muxing={"id3v2_version": "3"},
        picture_stream=True,
    ),
    "opus": _Layout(
        container="ogg",
        codec="libopus",
        samples="flt",
        rates=_OPUS_RATES,
        bit_rates=(40_000, 80_000),
        coding={"application": "audio"},
        comments=True,
    ),
    "webm": _Layout("webm", "libopus", "flt", _OPUS_RATES, (40_000, 80_000), coding={"application": "audio"}),
    "aac": _Layout(
        "adts", "aac", "fltp", _RATES, (64_000, 128_000), muxing={"write_id3v2": "1"}, coding={"aac_coder": "fast"}
    ),
    "flac": _Layout("flac", "flac", "s16", coding={"compression_level": "5"}, picture_stream=True),
    "wav": _Layout(
        "wav",
        "pcm_s16le",
        "s16",
        muxing={"rf64": "auto"},
        provenance_names={"SOFTWARE": "ISFT", "DIGITALSOURCETYPE": "ISRC", "CONTENT_ID": "IARL", "MODEL": "IKEY"},
    ),
    "pcm": _Layout("s16le", "pcm_s16le", "s16"),
}


class AudioFileWriter:
    """Writes one file. The same samples and contents always give the same bytes: no dates, no random numbers."""

    def __init__(self, path: Path, format: str, sample_rate: int, channels: int, contents: FileContents) -> None:  # noqa: A002
        self._layout = layout = _LAYOUTS[format]
        self._channels = check_channels(channels)
        legal = layout.rates
        self._rate = min(legal, key=lambda rate: (abs(rate - sample_rate), -rate)) if legal else sample_rate
        self._resampler = StreamResampler(sample_rate, self._rate, channels)
        self._samples = 0
        options = {"fflags": "+bitexact", **layout.muxing}
        container: OutputContainer = av.open(str(path), "w", format=layout.container, options=options)
        self._container: OutputContainer | None = container
        try:
            self._stream = self._opened(container)
            self._describe(container, contents)
        except BaseException:
            self.close()
            raise

    def write(self, pcm: Pcm) -> None:
        """Take samples."""
        self._encode(self._resampler.push(shaped(pcm, self._channels)))

    def finish(self) -> None:
        """Complete the file."""
        assert self._container is not None
        self._encode(self._resampler.finish())
        self._container.mux(self._stream.encode(None))
        self.close()

    def close(self) -> None:
        """Free the codec; may be called at any time, any number of times."""
        container, self._container = self._container, None
        if container is not None:
            container.close()

    def _opened(self, container: OutputContainer) -> AudioStream:
        layout = self._layout
        options = {"flags": "+bitexact", **layout.coding}
        stream = cast(AudioStream, container.add_stream(layout.codec, rate=self._rate, options=options))
        stream.layout = "mono" if self._channels == 1 else "stereo"
        stream.format = layout.samples
        if layout.bit_rates is not None:
            stream.bit_rate = layout.bit_rates[self._channels - 1]
        return stream

    def _describe(self, container: OutputContainer, contents: FileContents) -> None:
        all_tags = {**contents.tags, **self._layout.tags, **self._provenance(contents.provenance)}
        tags = {name: value for name, value in all_tags.items() if value}
        if self._layout.comments:
            self._stream.metadata.update({**tags, **_comments(contents)})
            return
        container.metadata.update(tags)
        container.set_chapters([_chapter(number, mark) for number, mark in enumerate(contents.marks)])
        if contents.cover is not None and self._layout.picture_stream:
            self._add_picture(container, contents.cover)

    def _provenance(self, marks: Mapping[str, str]) -> dict[str, str]:
        """The marks as tags of this container."""
        layout = self._layout
        if not layout.joins_provenance or not marks:
            return {layout.provenance_names.get(name, name): value for name, value in marks.items()}
        plain = {name: value for name, value in marks.items() if name.islower()}
        others = " ".join(f"{name}={value};" for name, value in marks.items() if name not in plain)
        return plain | {"comment": f"{plain.get('comment', '')} {others}".strip()}

    def _add_picture(self, container: OutputContainer, cover: Cover) -> None:
        width, height = picture_size(cover)
        stream = container.add_mux_stream(_PICTURE_CODECS[cover.media_type], rate=1, width=width, height=height)
        stream.disposition = Disposition.attached_pic
        container.start_encoding()
        packet = av.Packet(cover.data)
        packet.stream = stream
        packet.pts = packet.dts = 0
        packet.time_base = Fraction(1, 1)
        packet.is_keyframe = True
        container.mux(packet)

    def _encode(self, pcm: Pcm) -> None:
        assert self._container is not None
        if not len(pcm):
            return
        if self._layout.samples == "s16":
            data: Any = to_int16(pcm).reshape(1, -1)
        elif self._layout.samples == "flt":
            data = pcm.reshape(1, -1)
        else:
            data = np.ascontiguousarray(pcm.reshape(len(pcm), -1).T)
        frame = av.AudioFrame.from_ndarray(data, self._layout.samples, self._stream.layout.name)
        frame.sample_rate = self._rate
        frame.time_base = Fraction(1, self._rate)
        frame.pts = self._samples
        self._samples += len(pcm)
        self._container.mux(self._stream.encode(frame))


def _chapter(number: int, mark: ChapterMark) -> "Chapter":
    return {
        "id": number,
        "start": round(mark.start * 1000),
        "end": round(mark.end * 1000),
        "time_base": _MILLISECOND,
        "metadata": {"title": mark.title},
    }


def _comments(contents: FileContents) -> dict[str, str]:
    """Chapters and the picture as comments; FFmpeg's own chapter comments are up to half a second late."""
    comments: dict[str, str] = {}
    for number, mark in enumerate(contents.marks):
        minutes, milliseconds = divmod(round(mark.start * 1000), 60_000)
        comments[f"CHAPTER{number:03}"] = (
            f"{minutes // 60:02}:{minutes % 60:02}:{milliseconds // 1000:02}.{milliseconds % 1000:03}"
        )
        comments[f"CHAPTER{number:03}NAME"] = mark.title
    if contents.cover is not None:
        comments["METADATA_BLOCK_PICTURE"] = _picture_block(contents.cover)
    return comments


def _picture_block(cover: Cover) -> str:
    """The picture as a FLAC picture block in Base64, which is how Ogg carries one."""
    media_type = cover.media_type.encode()
    width, height = picture_size(cover)
    head = struct.pack(">II", _FRONT_COVER, len(media_type)) + media_type
    return base64.b64encode(
        head + struct.pack(">IIIIII", 0, width, height, 24, 0, len(cover.data)) + cover.data
    ).decode()
