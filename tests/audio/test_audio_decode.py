import io
import random
import resource
import struct
import time
from collections.abc import Callable
from fractions import Fraction

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.audio_signals import matched, tone, voice
from helpers.examples import examples
from helpers.tables import each_row
from polyvox.audio import decode as decoding
from polyvox.audio.decode import decode
from polyvox.audio.encode import AudioFormat, StreamEncoder, encode, wav_header
from polyvox.errors import AudioDecodeError
from polyvox.types import Pcm

FILES = {kind: encode(voice(0.5, 24_000), kind, 24_000) for kind in AudioFormat if kind is not AudioFormat.PCM}
LIMITS = {"max_seconds": 30.0, "max_samples": 10_000_000}


def written(pcm: Pcm, rate: int, container: str, codec: str, layout: str = "mono") -> bytes:
    file = io.BytesIO()
    with av.open(file, "w", format=container) as output:
        stream = output.add_stream(codec, rate=rate, options={"strict": "experimental"})
        stream.layout = layout
        frame = av.AudioFrame.from_ndarray(pcm.reshape(1, -1), "flt", layout)
        frame.sample_rate, frame.pts, frame.time_base = rate, 0, Fraction(1, rate)
        output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return file.getvalue()


@each_row("kind", FILES)
def test_what_is_encoded_can_be_decoded(kind: AudioFormat) -> None:
    pcm, rate = decode(FILES[kind], **LIMITS)
    assert pcm.dtype == np.float32
    assert pcm.ndim == 1
    assert rate == (48_000 if kind in (AudioFormat.OPUS, AudioFormat.WEBM) else 24_000)
    assert len(pcm) / rate == pytest.approx(0.5, abs=0.1)


@each_row(
    ("container", "codec", "least_snr"),
    [
        ("wav", "pcm_u8", 30),
        ("wav", "pcm_s16le", 80),
        ("wav", "pcm_s24le", 120),
        ("wav", "pcm_s32le", 120),
        ("wav", "pcm_f32le", 120),
        ("wav", "pcm_f64le", 120),
        ("wav", "pcm_mulaw", 30),
        ("wav", "pcm_alaw", 30),
        ("mp4", "aac", 20),
        ("matroska", "flac", 80),
    ],
)
def test_common_containers_and_codecs_are_read(container: str, codec: str, least_snr: float) -> None:
    original = voice(0.5, 16_000)
    pcm, rate = decode(written(original, 16_000, container, codec), **LIMITS)
    assert rate == 16_000
    assert matched(original, pcm).snr > least_snr


def test_stereo_stays_stereo() -> None:
    original = voice(0.5, 24_000, 2)
    pcm, _ = decode(encode(original, AudioFormat.FLAC, 24_000), **LIMITS)
    np.testing.assert_allclose(pcm, original, atol=1e-4)


def test_a_wav_stream_of_open_end_is_read_to_its_end() -> None:
    with StreamEncoder(AudioFormat.WAV, 24_000) as encoder:
        pcm, _ = decode(encoder.encode(voice(0.5, 24_000)), **LIMITS)
    assert len(pcm) == 12_000


def float_wav(samples: np.ndarray) -> bytes:
    data, width = samples.tobytes(), samples.itemsize
    shape = (b"WAVEfmt ", 16, 3, 1, 24_000, 24_000 * width, width, 8 * width)
    return struct.pack("<4sI8sIHHIIHH4sI", b"RIFF", 36, *shape, b"data", len(data)) + data


def test_floats_beyond_full_scale_are_clipped() -> None:
    pcm, _ = decode(float_wav(np.array([9.0, -9.0, 0.5] * 100, np.float32)), **LIMITS)
    assert pcm[:3].tolist() == [1.0, -1.0, 0.5]


@each_row("wild", [np.nan, np.inf, -np.inf, 1e300])
def test_floats_that_are_no_numbers_are_refused(wild: float) -> None:
    with pytest.raises(AudioDecodeError, match="NaN"):
        decode(float_wav(np.array([0.5] * 100 + [wild], np.float64)), **LIMITS)


HOSTILE: dict[str, bytes] = {
    "empty": b"",
    "text": b"This is not audio. " * 5_000,
    "zeros": bytes(100_000),
    "noise": random.Random(1).randbytes(300_000),
    "playlist": b"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile:///etc/hostname\n#EXT-X-ENDLIST\n",
    "list of files": b"ffconcat version 1.0\nfile /etc/hostname\n",
    "picture": b"\x89PNG\r\n\x1a\n" + bytes(5_000),
    "riff and no more": b"RIFF",
    "wav without samples": wav_header(24_000, 1, 0),
    "wav without a format": b"RIFF\xff\xff\xff\xffWAVEdata\x00\x01\x00\x00" + bytes(256),
    "wav of endless chunks": b"RIFF\xff\xff\xff\xffWAVE" + b"junk\0\0\0\0" * 100_000,
    "wav with a huge format": b"RIFF\xff\xff\xff\xffWAVEfmt \xf0\xff\xff\xff" + bytes(1_000),
    "tag longer than the file": b"ID3\x04\0\0\x7f\x7f\x7f\x7f" + bytes(1_000),
    "flac with a huge header": b"fLaC\x04\xff\xff\xff" + bytes(1_000),
    "mp4 with a huge box": struct.pack(">I4s8sI4s", 16, b"ftyp", b"M4A \0\0\0\0", 0x7FFFFFFF, b"moov") + bytes(1_000),
    "mp3 heads over noise": b"".join(b"\xff\xfb\x90\0" + random.Random(i).randbytes(50) for i in range(2_000)),
}


@each_row("data", HOSTILE.values())
def test_what_is_not_a_recording_is_refused_quickly(data: bytes) -> None:
    started = time.process_time()
    with pytest.raises(AudioDecodeError, match=r"send .*\.$"):
        decode(data, **LIMITS)
    assert time.process_time() - started < 0.5


@each_row("kind", FILES)
def test_a_recording_cut_in_its_head_is_refused_and_one_cut_later_is_read_so_far(kind: AudioFormat) -> None:
    with StreamEncoder(kind, 24_000) as encoder:
        whole = encoder.encode(voice(0.5, 24_000)) + encoder.finish()
    for length in (1, 4, 12, 20):
        with pytest.raises(AudioDecodeError):
            decode(whole[:length], **LIMITS)
    pcm, rate = decode(whole[: len(whole) // 2], **LIMITS)
    assert len(pcm) / rate == pytest.approx(0.25, abs=0.1)


@pytest.mark.long
@given(st.sampled_from(list(FILES)), st.data())
@examples(100)
def test_damage_never_raises_anything_else(kind: AudioFormat, data: st.DataObject) -> None:
    damaged = bytearray(FILES[kind])
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, min(len(damaged) - 1, 500)))
        damage = data.draw(st.binary(min_size=1, max_size=8) | st.just(b"\x7f\xff\xff\xff"))
        damaged[at : at + len(damage)] = damage
    try:
        pcm, rate = decode(bytes(damaged), **LIMITS)
    except AudioDecodeError:
        return
    assert len(pcm) <= 30 * rate
    assert np.abs(pcm).max(initial=0) <= 1


@pytest.mark.parametrize("kind", [AudioFormat.OPUS, AudioFormat.FLAC, AudioFormat.WEBM])
@pytest.mark.parametrize(
    ("limits", "complaint"),
    [
        ({"max_seconds": 2.0, "max_samples": 10_000_000}, "longer than 2 seconds"),
        ({"max_seconds": 1_000.0, "max_samples": 50_000}, "more than 50000 samples"),
    ],
    ids=["seconds", "samples"],
)
def test_long_silence_in_few_bytes_is_stopped_while_it_unfolds(
    kind: AudioFormat, limits: dict[str, float], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[int] = []
    convert: Callable[[av.AudioFrame], Pcm] = decoding._as_float
    monkeypatch.setattr(decoding, "_as_float", lambda frame: (kept.append(frame.samples), convert(frame))[1])
    bomb = encode(np.zeros(10 * 24_000, np.float32), kind, 24_000)
    with pytest.raises(AudioDecodeError, match=complaint):
        decode(bomb, **limits)
    assert sum(kept) <= 2 * 48_000


def test_both_channels_count_towards_the_samples() -> None:
    stereo = encode(voice(0.5, 24_000, 2), AudioFormat.WAV, 24_000)
    assert len(decode(stereo, max_seconds=1, max_samples=24_000)[0]) == 12_000
    with pytest.raises(AudioDecodeError, match="samples"):
        decode(stereo, max_seconds=1, max_samples=23_999)


@each_row(
    ("rate", "channels", "complaint"),
    [
        (0, 1, "cannot be read"),
        (100, 1, "100 Hz"),
        (800_000, 1, "800000 Hz"),
        (24_000, 0, "0 channels"),
        (24_000, 6, "6 channels"),
    ],
)
def test_absurd_rates_and_channels_are_refused(rate: int, channels: int, complaint: str) -> None:
    head = bytearray(wav_header(24_000, 1, 24_000))
    struct.pack_into("<HI", head, 22, channels, rate)
    struct.pack_into("<H", head, 32, 2 * channels)
    with pytest.raises(AudioDecodeError, match=complaint):
        decode(bytes(head) + bytes(24_000), **LIMITS)


def test_a_film_without_sound_is_refused() -> None:
    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as output:
        stream = output.add_stream("mpeg4", rate=5, width=32, height=32)
        output.mux(stream.encode(av.VideoFrame(32, 32, "yuv420p")))
        output.mux(stream.encode(None))
    with pytest.raises(AudioDecodeError, match="no audio"):
        decode(file.getvalue(), **LIMITS)


def test_a_codec_that_is_not_listed_is_refused() -> None:
    with pytest.raises(AudioDecodeError, match="cannot be read"):
        decode(written(tone(0.5, 48_000, 440), 48_000, "matroska", "ac3"), **LIMITS)


def test_a_chunk_that_claims_gigabytes_takes_none() -> None:
    samples = encode(voice(0.1, 24_000), AudioFormat.WAV, 24_000)
    claim = b"LIST\x1a\x00\x00\x80INFOISFT\x0e\x7f\x00\x7f" + bytes(1_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(AudioDecodeError):
        decode(samples[:36] + claim + samples[36:], **LIMITS)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
