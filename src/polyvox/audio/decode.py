"""Decoding of callers' audio: the common containers and codecs, within limits.

FFmpeg is loaded when there is something to decode: a server does that in processes of their own.
"""

import io
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from polyvox.audio.pcm import MAX_RATE, MIN_RATE
from polyvox.audio.resample import StreamResampler
from polyvox.audio.wav_tags import read_wav_tags
from polyvox.errors import AudioDecodeError
from polyvox.types import Pcm

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame
    from av.audio.stream import AudioStream
    from av.container import InputContainer

TOO_LONG = "The recording is longer than"
"""The beginning of the refusal of a recording with more seconds than allowed."""

# Containers by their first bytes at an offset. FFmpeg's own probing knows hundreds, among them playlists that
# open other files and URLs, and takes seconds on noise.
_MAGIC = (
    (0, b"fLaC", "flac"),
    (0, b"OggS", "ogg"),
    (0, b"\x1aE\xdf\xa3", "matroska"),
    (4, b"ftyp", "mov"),
    (8, b"WAVE", "wav"),
)
_CODECS = frozenset(
    "aac flac mp3 mp3float opus libopus vorbis "
    "pcm_alaw pcm_mulaw pcm_u8 pcm_s16le pcm_s16be pcm_s24le pcm_s32le pcm_f32le pcm_f64le".split()
)
_OPENING = {"codec_whitelist": ",".join(sorted(_CODECS)), "protocol_whitelist": "none", "probesize": str(1 << 20)}
_RIFF_CHUNKS = 64
_MOST_TAGS = 64
_LONGEST_TAG = 1_000
_WAV_FORMAT_BYTES = 64
_READABLE = "wav, mp3, flac, ogg, opus, webm, m4a or aac"
# No codec here needs packets of fewer samples; a forged header can make millions of them out of a small file. A few
# barren ones are normal, since encoders pad the start and recordings are cut in the middle of a frame.
_LEAST_SAMPLES = 16
_BARREN_PACKETS = 16
_BARREN_SHARE = 10

_FULL_SCALE = {"i2": 32_768.0, "i4": 2_147_483_648.0, "u1": 128.0}


def decode(data: bytes, *, max_seconds: float, max_samples: int, mono_rate: int = 0) -> tuple[Pcm, int]:
    """The samples, mono or stereo, and their rate; with `mono_rate`, mono at that rate.

    `max_samples` bounds the samples of all channels together, so that a forged rate cannot widen `max_seconds`. Both
    are checked frame by frame, before a frame is kept. A recording that breaks off is read up to the break.
    """
    import av

    if not data:
        raise AudioDecodeError("The recording is empty; send one with audio in it.")
    form = container_of(data)
    try:
        with _opened(_bare_wav(data) if form == "wav" else data, form) as container:
            frames = _frames(container, _audio_stream(container))
            return _collected(frames, max_seconds, max_samples, mono_rate)
    except av.FFmpegError as error:
        raise _unreadable() from error


def read_tags(data: bytes) -> dict[str, str]:
    """The tags of a file: those of its container, and of its first audio stream; none where it cannot be read."""
    import av

    try:
        form = container_of(data)
        if form == "wav":
            return read_wav_tags(data)
        with _opened(data, form) as container:
            streams = container.streams.audio
            tags = {**container.metadata, **(streams[0].metadata if streams else {})}
    except (av.FFmpegError, AudioDecodeError):
        return {}
    return {name[:_LONGEST_TAG]: value[:_LONGEST_TAG] for name, value in list(tags.items())[:_MOST_TAGS]}


def _opened(data: bytes, form: str) -> "InputContainer":
    import av

    return av.open(
        io.BytesIO(data),
        "r",
        format=form,
        options=dict(_OPENING),
        metadata_errors="replace",
        io_open=_refuse_to_open,
    )


def _unreadable() -> AudioDecodeError:
    return AudioDecodeError(f"The recording cannot be read; send {_READABLE}.")


def container_of(data: bytes) -> str:
    """The container by its magic bytes; nothing is decoded. AudioDecodeError if it is not audio."""
    for offset, magic, container in _MAGIC:
        if data.startswith(magic, offset):
            return container
    start = 0
    if data.startswith(b"ID3"):
        start = 10 + sum((byte & 0x7F) << shift for byte, shift in zip(data[6:10], (21, 14, 7, 0), strict=False))
    header = data[start : start + 4096].lstrip(b"\0")[:2]
    if len(header) == 2 and header[0] == 0xFF and header[1] & 0xE0 == 0xE0:
        return "aac" if header[1] & 0xF6 == 0xF0 else "mp3"
    raise _unreadable()


def _bare_wav(data: bytes) -> bytes:
    """The format and the samples alone: for other chunks FFmpeg allocates what their headers claim, up to 2 GB."""
    position, described = 12, b""
    for _ in range(_RIFF_CHUNKS):
        name, size = data[position : position + 4], int.from_bytes(data[position + 4 : position + 8], "little")
        body = position + 8
        if name == b"fmt ":
            described = data[body : body + min(size, _WAV_FORMAT_BYTES)]
        elif name == b"data" and described:
            samples = data[body : body + size] if size else data[body:]
            sizes = len(described).to_bytes(4, "little"), len(samples).to_bytes(4, "little")
            return b"RIFF\xff\xff\xff\xffWAVEfmt " + sizes[0] + described + b"data" + sizes[1] + samples
        position = body + size + size % 2
    raise _unreadable()


def _refuse_to_open(url: str, flags: int, options: Mapping[str, str]) -> NoReturn:
    raise AudioDecodeError("The recording refers to another file; send one that holds its audio itself.")


def _audio_stream(container: "InputContainer") -> "AudioStream":
    """The first audio stream, once its declared shape has been checked; pictures beside it do not matter."""
    if not container.streams.audio:
        raise AudioDecodeError("The file has no audio in it; send a recording.")
    stream = container.streams.audio[0]
    context = stream.codec_context
    if context is None or context.name not in _CODECS:
        raise _unreadable()
    _check_shape(context.sample_rate, context.channels)
    context.thread_count = 1
    return stream


def _check_shape(rate: int, channels: int) -> None:
    if not MIN_RATE <= rate <= MAX_RATE:
        raise AudioDecodeError(f"The recording's rate is {rate} Hz; send one from {MIN_RATE} to {MAX_RATE} Hz.")
    if channels not in (1, 2):
        raise AudioDecodeError(f"The recording has {channels} channels; send mono or stereo.")


def _frames(container: "InputContainer", stream: "AudioStream") -> Iterator["AudioFrame"]:
    """All frames that decode; refuses a file with too many packets that do not."""
    import av

    barren = 0
    for count, packet in enumerate(container.demux(stream)):
        try:
            frames = [frame for frame in packet.decode() if isinstance(frame, av.AudioFrame)]
        except av.InvalidDataError:
            frames = []
        barren += sum(frame.samples for frame in frames) < _LEAST_SAMPLES
        if barren > _BARREN_PACKETS + count // _BARREN_SHARE:
            raise _unreadable()
        yield from frames


def _collected(frames: Iterator["AudioFrame"], max_seconds: float, max_samples: int, mono_rate: int) -> tuple[Pcm, int]:
    parts: list[Pcm] = []
    rate = channels = length = 0
    reducer: StreamResampler | None = None
    for frame in frames:
        shape = (frame.sample_rate, frame.layout.nb_channels)
        if not parts:
            rate, channels = shape
            _check_shape(rate, channels)
            reducer = StreamResampler(rate, mono_rate) if mono_rate else None
        elif shape != (rate, channels):
            raise AudioDecodeError("The recording changes its rate or channels on the way; send one that does not.")
        length += frame.samples
        if length > max_seconds * rate:
            raise AudioDecodeError(f"{TOO_LONG} {max_seconds:g} seconds; send a shorter one.")
        if length * channels > max_samples:
            raise AudioDecodeError(f"The recording has more than {max_samples} samples; send a shorter one.")
        samples = _as_float(frame)
        parts.append(samples if reducer is None else reducer.push(_mono(samples)))
    if not parts:
        raise _unreadable()
    if reducer is None:
        return np.concatenate(parts), rate
    return np.clip(np.concatenate([*parts, reducer.finish()]), -1.0, 1.0), mono_rate


def _mono(samples: Pcm) -> Pcm:
    return samples if samples.ndim == 1 else samples.mean(axis=1, dtype=np.float32)


def _as_float(frame: "AudioFrame") -> Pcm:
    """The frame's samples in [-1, 1], shape [n] or [n, 2]."""
    channels = frame.layout.nb_channels
    raw = frame.to_ndarray()
    interleaved = raw.T if frame.format.is_planar else raw.reshape(-1, channels)
    with np.errstate(over="ignore"):
        samples = interleaved.astype(np.float32)
    if not np.isfinite(samples).all():
        raise AudioDecodeError("The recording holds NaN or infinite samples; send one that is not damaged.")
    if raw.dtype.kind != "f":
        full_scale = _FULL_SCALE[raw.dtype.str[1:]]
        samples = (samples - (128.0 if raw.dtype.kind == "u" else 0.0)) / np.float32(full_scale)
    return np.clip(samples[:, 0] if channels == 1 else samples, -1.0, 1.0)
