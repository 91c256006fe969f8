"""Files that mean harm, made when they are needed: each small, each different in how it lies."""

import gzip
import io
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import av
import numpy as np
import numpy.typing as npt

from helpers.vowels import vowels
from polyvox.audio.encode import AudioFormat, encode, wav_header
from polyvox.types import Pcm

RATE = 24_000
SIX_HOURS = 6 * 3600


def wav(
    samples: bytes, *, codec: int = 1, channels: int = 1, rate: int = RATE, bits: int = 16, size: int | None = None
) -> bytes:
    """A WAV file whose head says what it is told to."""
    block = min(channels * bits // 8, 0xFFFF)
    form = struct.pack("<HHIIHH", codec, channels, rate, min(rate * block, 0xFFFF_FFFF), block, bits)
    length = len(samples) if size is None else size
    return b"RIFF\xff\xff\xff\xffWAVE" + chunk(b"fmt ", form) + b"data" + struct.pack("<I", length) + samples


def chunk(name: bytes, body: bytes, size: int | None = None) -> bytes:
    return name + struct.pack("<I", len(body) if size is None else size) + body


def floats(*values: float, dtype: str = "<f4") -> bytes:
    return np.resize(np.array(values, dtype), 2 * RATE).tobytes()


def box(name: bytes, body: bytes, size: int | None = None) -> bytes:
    return struct.pack(">I", len(body) + 8 if size is None else size) + name + body


FTYP = box(b"ftyp", b"M4A \0\0\0\0M4A ")


@lru_cache
def _crc_table(polynomial: int, bits: int) -> list[int]:
    top, mask = 1 << (bits - 1), (1 << bits) - 1
    table = []
    for value in range(256):
        rest = value << (bits - 8)
        for _ in range(8):
            rest = ((rest << 1) ^ polynomial if rest & top else rest << 1) & mask
        table.append(rest)
    return table


def crc(data: bytes, polynomial: int, bits: int) -> int:
    """A checksum as FLAC and Ogg count it, highest bit first."""
    table, rest, mask = _crc_table(polynomial, bits), 0, (1 << bits) - 1
    for byte in data:
        rest = ((rest << 8) & mask) ^ table[(rest >> (bits - 8)) ^ byte]
    return rest


def flac_head(rate: int, channels: int = 1, total: int = 0) -> bytes:
    packed = (rate << 44) | ((channels - 1) << 41) | (15 << 36) | total
    info = struct.pack(">HH", 65_535, 65_535) + bytes(6) + packed.to_bytes(8, "big") + bytes(16)
    return b"fLaC\x80" + len(info).to_bytes(3, "big") + info


def flac_of_silence(seconds: int, rate: int = 8_000, channels: int = 1) -> bytes:
    """Each frame of 65,535 zeros is a dozen bytes; its rate is the one of the head."""
    frames = bytearray()
    for number in range(seconds * 8_000 // 65_535 + 1):
        head = bytes((0xFF, 0xF8, 0x70, (channels - 1) << 4 | 0x08)) + chr(number).encode() + b"\xff\xfe"
        frame = head + bytes([crc(head, 0x07, 8)]) + bytes(3 * channels)
        frames += frame + crc(frame, 0x8005, 16).to_bytes(2, "big")
    return flac_head(rate, channels) + bytes(frames)


def ogg_page(body: list[bytes], sequence: int, granule: int, flags: int = 0) -> bytes:
    lacing = b"".join(b"\xff" * (len(packet) // 255) + bytes([len(packet) % 255]) for packet in body)
    head = struct.pack("<4sBBqIIIB", b"OggS", 0, flags, granule, 7, sequence, 0, len(lacing))
    page = bytearray(head + lacing + b"".join(body))
    page[22:26] = crc(bytes(page), 0x04C11DB7, 32).to_bytes(4, "little")
    return bytes(page)


def opus_head(channels: int = 1, family: int = 0) -> bytes:
    mapping = bytes([channels, 0, *range(channels)]) if family else b""
    return b"OpusHead" + struct.pack("<BBHIhB", 1, channels, 0, 48_000, 0, family) + mapping


def opus_of_silence(seconds: int) -> bytes:
    """Packets of 120 ms that say nothing, 255 to a page."""
    pages = [ogg_page([opus_head()], 0, 0, flags=2), ogg_page([b"OpusTags" + bytes(8)], 1, 0)]
    packet = b"\xfb\x06"
    for number in range(seconds * 1000 // (120 * 255) + 1):
        pages.append(ogg_page([packet] * 255, number + 2, (number + 1) * 255 * 5_760))
    return b"".join(pages)


def repeated_frames(kind: AudioFormat, size: int) -> bytes:
    """One second of silence over and over: streams of frames have no end of their own."""
    second = encode(np.zeros(RATE, np.float32), kind, RATE)
    return second * (size // len(second))


def matroska_of_silence(seconds: int) -> bytes:
    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as output:
        track = output.add_stream("pcm_s16le", rate=4_000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, seconds * 4_000), np.int16), "s16", "mono")
        frame.sample_rate, frame.time_base = 4_000, Fraction(1, 4_000)
        output.mux(track.encode(frame))
        output.mux(track.encode(None))
    return file.getvalue()


def film(sound: str | None = None) -> bytes:
    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as output:
        picture = output.add_stream("mpeg4", rate=5, width=32, height=32)
        track = output.add_stream(sound, rate=48_000, layout="mono") if sound else None
        output.mux(picture.encode(av.VideoFrame(32, 32, "yuv420p")))
        output.mux(picture.encode(None))
        if track is not None:
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 4_800), np.float32), "fltp", "mono")
            frame.sample_rate, frame.time_base = 48_000, Fraction(1, 48_000)
            output.mux(track.encode(frame))
            output.mux(track.encode(None))
    return file.getvalue()


def zip_bomb() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(2):
            archive.writestr(f"{number}.wav", bytes(4_000_000))
    return file.getvalue()


def mp4_of_claims() -> bytes:
    """A sample table that promises four thousand million entries."""
    table = box(b"stsz", struct.pack(">III", 0, 0, 0xFFFF_FFFF))
    return FTYP + box(b"moov", box(b"trak", box(b"mdia", box(b"minf", box(b"stbl", table)))))


def mp4_elsewhere() -> bytes:
    """A track whose samples are said to lie in a file of the server's."""
    entry = box(b"url ", struct.pack(">I", 0) + b"file:///etc/hostname\0")
    data = box(b"dinf", box(b"dref", struct.pack(">II", 0, 1) + entry))
    sound = box(b"stsd", struct.pack(">II", 0, 1) + box(b"mp4a", bytes(6) + b"\0\1" + bytes(20)))
    handler = box(b"hdlr", bytes(8) + b"soun" + bytes(13))
    return FTYP + box(b"moov", box(b"trak", box(b"mdia", handler + box(b"minf", data + box(b"stbl", sound)))))


def nested_boxes(depth: int) -> bytes:
    body = b""
    for _ in range(depth):
        body = box(b"moov", body)
    return FTYP + body


def noise_after(head: bytes, size: int = 200_000, seed: int = 5) -> bytes:
    return head + random.Random(seed).randbytes(size)


def padded(pcm: npt.NDArray[np.floating], gain: float = 1.0) -> Pcm:
    """Speech between two half seconds of silence."""
    return np.pad(pcm * gain, RATE // 2).astype(np.float32)


def noisy(decibels: float) -> Pcm:
    speech = padded(vowels(3.0, RATE))
    level = np.sqrt(np.square(vowels(3.0, RATE)).mean()) * 10 ** (-decibels / 20)
    return (speech + level * np.random.default_rng(2).standard_normal(len(speech))).astype(np.float32)


def flipped_stereo() -> Pcm:
    mono = vowels(3.0, RATE)
    return np.stack([mono, -mono], axis=1)


def as_wav(pcm: Pcm) -> bytes:
    return encode(np.asarray(pcm, np.float32), AudioFormat.WAV, RATE)


SECOND = bytes(2 * RATE)
SPEECH = as_wav(vowels(3.0, RATE))

NOT_AUDIO: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "one byte": lambda: b"\0",
    "text": lambda: b"This is not audio. " * 500,
    "a web page": lambda: b"<!DOCTYPE html><html><script>fetch('/v1/voices')</script></html>",
    "a drawing with a script": lambda: b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg' onload='a()'/>",
    "entities that multiply": lambda: b"<!DOCTYPE l [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'>]><svg>&b;</svg>",
    "a picture under a sound's name": lambda: b"\x89PNG\r\n\x1a\n" + bytes(5_000),
    "zip bomb": zip_bomb,
    "gzip bomb": lambda: gzip.compress(bytes(8_000_000)),
    "zlib bomb": lambda: zlib.compress(bytes(8_000_000)),
    "shell script": lambda: b"#!/bin/sh\nrm -rf /\n",
    "program": lambda: b"\x7fELF\x02\x01\x01" + bytes(5_000),
    "pickle": lambda: b"\x80\x04\x95\x1f\0\0\0\0\0\0\0\x8c\x05posix\x94\x8c\x06system\x94\x93\x94.",
    "document": lambda: b"%PDF-1.7\n" + bytes(5_000),
    "playlist of a local file": lambda: b"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile:///etc/hostname\n",
    "list of local files": lambda: b"ffconcat version 1.0\nfile /etc/hostname\n",
    "session description": lambda: b"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=audio 9 RTP/AVP 0\n",
    "noise": lambda: noise_after(b"", 300_000),
    "zeros": lambda: bytes(100_000),
    "tag longer than the file": lambda: b"ID3\x04\0\0\x7f\x7f\x7f\x7f" + bytes(1_000),
    "web page behind a tag": lambda: b"ID3\x04\0\0\0\0\0\0<html></html>",
    "riff and no more": lambda: b"RIFF",
    "film in a riff": lambda: b"RIFF\0\1\0\0AVI LIST" + bytes(2_000),
}

BROKEN: dict[str, Callable[[], bytes]] = {
    "wav cut in its head": lambda: SPEECH[:30],
    "wav without samples": lambda: wav_header(RATE, 1, 0),
    "wav without a format": lambda: b"RIFF\xff\xff\xff\xffWAVE" + chunk(b"data", SECOND),
    "wav of 0 Hz": lambda: wav(SECOND, rate=0),
    "wav of 1 Hz": lambda: wav(SECOND, rate=1),
    "wav of 10 MHz": lambda: wav(SECOND, rate=10_000_000),
    "wav of 4 GHz": lambda: wav(SECOND, rate=0xFFFF_FFFF),
    "wav of no channel": lambda: wav(SECOND, channels=0),
    "wav of 255 channels": lambda: wav(SECOND, channels=255),
    "wav of 65535 channels": lambda: wav(SECOND, channels=65_535),
    "wav of 0 bits": lambda: wav(SECOND, bits=0),
    "wav of another codec": lambda: wav(SECOND, codec=0x2000),
    "wav that claims 4 GB": lambda: wav(bytes(100), size=0xFFFF_FFF0),
    "wav with a format of 4 GB": lambda: b"RIFF\xff\xff\xff\xffWAVE" + chunk(b"fmt ", bytes(500), 0xFFFF_FFF0),
    "wav with a list of 2 GB": lambda: SPEECH[:36] + chunk(b"LIST", b"INFO" + bytes(500), 0x7FFF_FFF0) + SPEECH[36:],
    "wav of endless chunks": lambda: b"RIFF\xff\xff\xff\xffWAVE" + b"junk\0\0\0\0" * 100_000,
    "wav of NaN samples": lambda: wav(floats(0.1, np.nan), codec=3, bits=32),
    "wav of endless samples": lambda: wav(floats(0.1, np.inf, -np.inf), codec=3, bits=32),
    "wav of samples beyond measure": lambda: wav(floats(0.1, 1e300, dtype="<f8"), codec=3, bits=64),
    "archive behind a wav head": lambda: wav(b"") + zip_bomb(),
    "flac that claims 68 thousand million samples": lambda: flac_head(48_000, total=(1 << 36) - 1),
    "flac of 0 Hz": lambda: flac_of_silence(2, rate=0),
    "flac of 655 kHz": lambda: flac_of_silence(2, rate=655_350),
    "flac of 8 channels": lambda: flac_of_silence(2, channels=8),
    "flac with a head of 16 MB": lambda: b"fLaC\x04\xff\xff\xff" + bytes(1_000),
    "flac of noise": lambda: noise_after(flac_head(48_000)),
    "ogg cut in its first page": lambda: ogg_page([opus_head()], 0, 0, flags=2)[:20],
    "ogg of noise": lambda: noise_after(b"OggS"),
    "ogg whose pages lie about their length": lambda: noise_after(b"OggS\0\2" + bytes(20) + b"\xff" * 256, 2_000),
    "opus of 255 channels": lambda: ogg_page([opus_head(255, 255)], 0, 0, flags=2) + opus_of_silence(2)[47:],
    "opus of no channel": lambda: ogg_page([opus_head(0)], 0, 0, flags=2) + opus_of_silence(2)[47:],
    "opus of noise": lambda: (
        ogg_page([opus_head()], 0, 0, flags=2)
        + b"".join(ogg_page([random.Random(n).randbytes(200)] * 20, n + 1, 0) for n in range(50))
    ),
    "matroska whose head claims all": lambda: b"\x1aE\xdf\xa3\x01\xff\xff\xff\xff\xff\xff\xfe" + bytes(1_000),
    "matroska of noise": lambda: noise_after(b"\x1aE\xdf\xa3\x80\x18S\x80g\x01\xff\xff\xff\xff\xff\xff\xff"),
    "film without sound": film,
    "film with sound of another codec": lambda: film("ac3"),
    "mp4 with a box of 2 GB": lambda: FTYP + box(b"moov", bytes(1_000), 0x7FFF_FFFF),
    "mp4 of 20,000 boxes in each other": lambda: nested_boxes(20_000),
    "mp4 that claims 4 thousand million samples": mp4_of_claims,
    "mp4 whose samples lie in another file": mp4_elsewhere,
    "picture in an mp4": lambda: box(b"ftyp", b"heic\0\0\0\0mif1heic") + box(b"mdat", bytes(5_000)),
    "mp3 heads over noise": lambda: b"".join(noise_after(b"\xff\xfb\x90\0", 50, n) for n in range(2_000)),
    "aac heads over noise": lambda: b"".join(noise_after(b"\xff\xf1\x50\x80\x07\xff\xfc", 56, n) for n in range(2_000)),
}

TOO_LONG: dict[str, Callable[[], bytes]] = {
    "flac of six hours of silence": lambda: flac_of_silence(SIX_HOURS),
    "opus of six hours of silence": lambda: opus_of_silence(SIX_HOURS),
    "mp3 without an end": lambda: repeated_frames(AudioFormat.MP3, 6_000_000),
    "aac without an end": lambda: repeated_frames(AudioFormat.AAC, 2_000_000),
    "matroska of two minutes": lambda: matroska_of_silence(120),
    "wav of a forged rate": lambda: wav(bytes(9_000_000), rate=4_000),
    "speech of half a minute and more": lambda: encode(np.tile(vowels(3.0, RATE), 11), AudioFormat.FLAC, RATE),
}

USELESS: dict[str, Callable[[], bytes]] = {
    "silence": lambda: as_wav(np.zeros(3 * RATE, np.float32)),
    "an offset and nothing else": lambda: as_wav(np.full(3 * RATE, 0.5, np.float32)),
    "stereo that cancels itself": lambda: encode(flipped_stereo(), AudioFormat.WAV, RATE),
    "a tone": lambda: as_wav(0.5 * np.sin(np.arange(3 * RATE, dtype=np.float32) * 0.1)),
    "hiss": lambda: as_wav(np.random.default_rng(0).uniform(-0.3, 0.3, 3 * RATE).astype(np.float32)),
    "a single word": lambda: as_wav(padded(vowels(0.4, RATE))),
    "a moment": lambda: as_wav(vowels(0.2, RATE)),
    "speech far too quiet": lambda: as_wav(padded(vowels(3.0, RATE), 0.005)),
    "speech clipped to pieces": lambda: as_wav(np.clip(padded(vowels(3.0, RATE), 20.0), -1.0, 1.0)),
    "speech drowned in noise": lambda: as_wav(noisy(2.0)),
}

FILES = {**NOT_AUDIO, **BROKEN, **TOO_LONG, **USELESS}
