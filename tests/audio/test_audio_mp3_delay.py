"""MP3 streams begin with the speech's own silence, not with the encoder's on top of it."""

import io

import av
import numpy as np

from helpers.tables import each_row
from polyvox.audio.encode import AudioFormat, StreamEncoder
from polyvox.audio.mp3_delay import DELAY, Mp3Trim, mp3_trim

RATE = 24_000


def hum(seconds: float, quiet_seconds: float, channels: int = 1) -> np.ndarray:
    """A chord whose loudness sets in at once, after a silence that is not quite one."""
    time = np.arange(round(seconds * RATE)) / RATE
    sound = sum(np.sin(2 * np.pi * hertz * time) for hertz in (220.0, 557.0, 1_310.0)) / 9
    quiet = np.random.default_rng(1).uniform(-1e-3, 1e-3, round(quiet_seconds * RATE))
    pcm = np.concatenate((quiet, sound)).astype(np.float32)
    return pcm if channels == 1 else np.stack([pcm] * channels, axis=1)


def streamed(pcm: np.ndarray, pieces: int = 5) -> np.ndarray:
    """What a player makes of the stream."""
    encoder = StreamEncoder(AudioFormat.MP3, RATE, 1 if pcm.ndim == 1 else pcm.shape[1])
    data = b"".join(encoder.encode(piece) for piece in np.array_split(pcm, pieces)) + encoder.finish()
    with av.open(io.BytesIO(data), format="mp3") as container:
        return np.concatenate([frame.to_ndarray()[0] for frame in container.decode(audio=0)])


@each_row("channels", [1, 2])
@each_row("seconds", [0.5, 0.7123, 1.1007, 1.31])
def test_speech_that_starts_quietly_lasts_as_long_as_its_samples(seconds, channels):
    pcm = hum(seconds, 0.04, channels)
    heard = streamed(pcm)
    assert 0 <= len(heard) - len(pcm) <= 0.03 * RATE


def test_every_sample_stands_in_its_place_and_sounds_as_it_did():
    pcm = hum(1.0, 0.04)
    heard = streamed(pcm)[: len(pcm)]
    error = np.sqrt(np.mean((heard - pcm) ** 2)) / np.sqrt(np.mean(pcm**2))
    assert error < 0.1


def test_speech_that_starts_at_once_loses_nothing():
    pcm = hum(1.0, 0.0)
    heard = streamed(pcm)[DELAY : DELAY + len(pcm)]
    assert np.sqrt(np.mean((heard - pcm) ** 2)) / np.sqrt(np.mean(pcm**2)) < 0.1


@each_row(
    ("quiet", "rate", "lead"),
    [
        (0, 24_000, Mp3Trim(0, 0)),
        (199, 24_000, Mp3Trim(0, 0)),
        (200, 24_000, Mp3Trim(0, 1)),
        (500, 24_000, Mp3Trim(300, 1)),
        (729, 24_000, Mp3Trim(529, 1)),
        (50_000, 24_000, Mp3Trim(529, 1)),
        (500, 48_000, Mp3Trim(300, 0)),
        (50_000, 48_000, Mp3Trim(1_105, 0)),
    ],
)
def test_no_more_is_left_out_than_is_quiet_or_than_is_added(quiet, rate, lead):
    loud = np.full(3_000, 0.1, np.float32)
    assert mp3_trim(np.concatenate((np.zeros(quiet, np.float32), loud)), rate) == lead


@each_row("length", [1, 100, 300, 700])
def test_a_whisper_of_a_stream_is_still_one(length):
    assert len(streamed(np.zeros(length, np.float32), pieces=1)) > 0
