"""Who speaks: first with a small network that nobody trained, then with the real one."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from helpers import kokoro_recordings
from helpers.kokoro_recordings import spoken
from helpers.random_networks import campplus_weights
from polyvox.audio.decode import decode
from polyvox.audio.resample import resampled
from polyvox.bundles.manifest import manifest_named
from polyvox.bundles.onnx_graphs.campplus import campplus_graph
from polyvox.bundles.validate import Bundle
from polyvox.errors import AudioDecodeError
from polyvox.types import Pcm
from polyvox.voices.recognition.similarity import SAME_SPEAKER, SpeakerEncoder, similarity

TESTS = Path(__file__).parents[2]
RATE = 16_000


def noise(seconds: float, seed: int = 0, rate: int = RATE) -> Pcm:
    return 0.1 * np.random.default_rng(seed).standard_normal(round(seconds * rate)).astype(np.float32)


@pytest.fixture(scope="module")
def untrained(tmp_path_factory) -> SpeakerEncoder:
    folder = tmp_path_factory.mktemp("campplus")
    (folder / "model.onnx").write_bytes(campplus_graph(campplus_weights()))
    return SpeakerEncoder(Bundle(manifest_named("campplus"), folder))


@pytest.mark.long
def test_an_embedding_is_192_figures_of_unit_length(untrained):
    embedding = untrained.embed(noise(1.0), RATE)
    assert embedding.shape == (192,)
    assert embedding.dtype == np.float32
    assert np.linalg.norm(embedding) == pytest.approx(1.0, abs=1e-6)


def test_the_same_recording_gives_the_same_embedding(untrained):
    np.testing.assert_array_equal(untrained.embed(noise(1.0), RATE), untrained.embed(noise(1.0), RATE))


def test_stereo_is_mixed_down_to_the_mean_of_its_channels(untrained):
    left, right = noise(1.0, seed=1), noise(1.0, seed=2)
    stereo = untrained.embed(np.stack((left, right), axis=1), RATE)
    np.testing.assert_allclose(stereo, untrained.embed((left + right) / 2, RATE), atol=1e-5)


@pytest.mark.long
def test_a_long_recording_is_embedded_in_windows_weighted_by_their_length(untrained):
    first, second = noise(25.0, seed=1), noise(25.0, seed=2)
    apart = untrained.embed(first, RATE) + untrained.embed(second, RATE)
    together = untrained.embed(np.concatenate((first, second)), RATE)
    np.testing.assert_allclose(together, apart / np.linalg.norm(apart), atol=1e-5)


@pytest.mark.parametrize(
    ("pcm", "complaint"),
    [
        (noise(0.49), "shorter than 0.5 s"),
        (np.zeros(0, np.float32), "shorter than 0.5 s"),
        (np.zeros(RATE, np.float32), "silent"),
        (np.full(RATE, np.nan, np.float32), "NaN"),
        (np.full(RATE, np.inf, np.float32), "NaN"),
    ],
)
def test_what_holds_no_voice_is_refused(untrained, pcm, complaint):
    with pytest.raises(AudioDecodeError, match=complaint):
        untrained.embed(pcm, RATE)


def test_similarity_is_the_cosine():
    east, north = np.eye(192, dtype=np.float32)[:2]
    assert similarity(east, east) == 1.0
    assert similarity(east, north) == 0.0
    assert similarity(east, -east) == -1.0
    assert similarity(east, (east + north) / np.float32(np.sqrt(2))) == pytest.approx(np.sqrt(0.5))


@pytest.fixture(scope="module")
def encoder(installed: Callable[[str], Bundle]) -> SpeakerEncoder:
    return SpeakerEncoder(installed("campplus"))


def librivox(name: str) -> tuple[Pcm, int]:
    return decode((TESTS / "recordings" / f"librivox_{name}.flac").read_bytes(), max_seconds=10, max_samples=10**6)


@pytest.mark.slow
def test_embeddings_are_those_of_the_published_network(encoder):
    """`listeners.npz` holds what the network gives in PyTorch for the features in `kaldi_fbank.npz`."""
    golden = TESTS / "golden" / "frontend"
    with np.load(golden / "kaldi_fbank.npz") as recording, np.load(golden / "listeners.npz") as listeners:
        expected = listeners["campplus"] / np.linalg.norm(listeners["campplus"])
        np.testing.assert_allclose(encoder.embed(recording["wav16k"], RATE), expected, atol=1e-4)


@pytest.mark.slow
def test_one_reader_is_recognised_at_any_rate(encoder):
    one, other = (encoder.embed(*librivox(name)) for name in ("a", "b"))
    assert similarity(one, other) > SAME_SPEAKER
    pcm, rate = librivox("a")
    assert similarity(encoder.embed(resampled(pcm, rate, 48_000), 48_000), one) > 0.99


@pytest.mark.slow
def test_voices_of_an_engine_are_told_apart(encoder):
    heart, heart_again, adam, adam_again = (
        encoder.embed(spoken(sentence, voice), kokoro_recordings.RATE)
        for voice in ("af_heart", "am_adam")
        for sentence in ("glue", "hours")
    )
    human = encoder.embed(*librivox("a"))
    assert similarity(heart, heart_again) > SAME_SPEAKER
    assert similarity(adam, adam_again) > SAME_SPEAKER
    for stranger in (adam, adam_again, human):
        assert similarity(heart, stranger) < SAME_SPEAKER
