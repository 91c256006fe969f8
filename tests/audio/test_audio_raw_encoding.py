"""Raw encodings, bare and in WAV streams, as FFmpeg reads them."""

import io

import av
import numpy as np

from helpers.tables import each_row
from polyvox.audio.raw_encoding import RawEncoding
from polyvox.types import Pcm


def tone(channels: int = 1) -> Pcm:
    wave = (0.5 * np.sin(np.arange(8_000) * 2 * np.pi * 440 / 8_000)).astype(np.float32)
    return wave if channels == 1 else np.stack([wave, -wave], axis=1)


def read(data: bytes) -> tuple[str, int, int, Pcm]:
    """Codec, rate, channels and samples of a file."""
    with av.open(io.BytesIO(data), "r") as container:
        stream = container.streams.audio[0]
        frames = [frame.to_ndarray() for frame in container.decode(stream)]
        pcm = np.concatenate(frames, axis=1)
        scale = 32_768.0 if pcm.dtype == np.int16 else 1.0
        samples = pcm.astype(np.float32).reshape(-1, stream.channels) / np.float32(scale)
        return stream.codec_context.name, stream.rate, stream.channels, samples


@each_row("channels", [1, 2])
@each_row("encoding", RawEncoding)
def test_a_wav_stream_is_read_back_with_its_samples(encoding: RawEncoding, channels: int) -> None:
    pcm = tone(channels)
    codec, rate, found, samples = read(encoding.wav_header(8_000, channels) + encoding.pack(pcm))
    assert (codec, rate, found) == (encoding.value, 8_000, channels)
    assert samples.shape == (8_000, channels)
    assert np.abs(samples - pcm.reshape(-1, channels)).max() < (0.02 if "law" in encoding else 1e-4)


@each_row("encoding", RawEncoding)
def test_a_sample_takes_as_many_bytes_as_it_says(encoding: RawEncoding) -> None:
    assert len(encoding.pack(tone())) == 8_000 * encoding.sample_bytes


def test_floats_are_the_samples_themselves_within_full_scale() -> None:
    pcm = np.array([0.25, -0.5, 3.0, np.nan], np.float32)
    assert np.frombuffer(RawEncoding.PCM_F32LE.pack(pcm), "<f4").tolist() == [0.25, -0.5, 1.0, 0.0]
