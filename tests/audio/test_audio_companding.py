"""G.711 bytes against the decoders of FFmpeg."""

from typing import cast

import av
import numpy as np
from av.audio.codeccontext import AudioCodecContext

from helpers.tables import each_row
from polyvox.audio.companding import alaw, mulaw
from polyvox.types import Pcm

ENCODERS = {"pcm_mulaw": mulaw, "pcm_alaw": alaw}


def decoded(codec: str, data: bytes) -> Pcm:
    """The samples that FFmpeg reads from the bytes."""
    decoder = cast(AudioCodecContext, av.CodecContext.create(codec, "r"))
    decoder.sample_rate, decoder.layout = 8_000, "mono"
    frames = [frame.to_ndarray().reshape(-1) for frame in decoder.decode(av.Packet(data))]
    return np.concatenate(frames).astype(np.float32) / np.float32(32_768)


@each_row("codec", ENCODERS)
def test_every_byte_comes_back_from_the_sample_that_it_stands_for(codec: str) -> None:
    codes = bytes(range(256))
    again = ENCODERS[codec](decoded(codec, codes))
    different = [code for code, other in zip(codes, again, strict=True) if code != other]
    assert different == ([0x7F] if codec == "pcm_mulaw" else [])  # mu-law has a negative zero, which samples have not


@each_row("codec", ENCODERS)
def test_every_sample_is_within_its_quantisation_step(codec: str) -> None:
    samples = np.arange(-32_768, 32_768, dtype=np.int32)
    pcm = samples.astype(np.float32) / np.float32(32_768)
    error = np.abs(decoded(codec, ENCODERS[codec](pcm)) - pcm) * 32_768
    # Sixteen steps to each octave: half a step is at most 1/32 of the value, with a floor near silence.
    assert (error <= np.abs(samples) / 32 + 16).all()


def test_known_bytes_of_the_recommendation() -> None:
    pcm = np.array([0.0, 1.0, -1.0], np.float32)
    assert mulaw(pcm) == bytes([0xFF, 0x80, 0x00])
    assert alaw(pcm) == bytes([0xD5, 0xAA, 0x2A])


def test_what_is_beyond_full_scale_or_no_number_does_not_wrap() -> None:
    pcm = np.array([7.0, -7.0, np.nan], np.float32)
    assert mulaw(pcm) == bytes([0x80, 0x00, 0xFF])
    assert alaw(pcm) == bytes([0xAA, 0x2A, 0xD5])


def test_stereo_is_interleaved() -> None:
    pcm = np.array([[0.0, 1.0], [-1.0, 0.0]], np.float32)
    assert mulaw(pcm) == bytes([0xFF, 0x80, 0x00, 0xFF])
