"""CAM++ in PyTorch against its ONNX graph, and its front end against the one in NumPy."""

import platform
from pathlib import Path

import numpy as np
import pytest
import torch

from helpers.random_networks import BLOCKS, GROWTH, HEAD, INNER, WIDTH, campplus_weights
from polyvox.audio.decode import decode
from polyvox.audio.features import kaldi_fbank
from polyvox.audio.resample import resampled
from polyvox.bundles.listener_weights import read_campplus
from polyvox.bundles.manifest import manifest_named
from polyvox.bundles.onnx_graphs.campplus import campplus_graph
from polyvox.bundles.validate import Bundle
from polyvox.errors import BundleError
from polyvox.models.listeners.campplus import CampPlus, CampPlusConfig, load_campplus
from polyvox.models.listeners.fbank import Fbank, Resampler
from polyvox.models.loading import WeightsError
from polyvox.voices.recognition.similarity import SpeakerEncoder

TESTS = Path(__file__).parents[1]
RATE = 16_000
SMALL = CampPlusConfig(head=HEAD, width=WIDTH, inner=INNER, growth=GROWTH, context=2, blocks=BLOCKS)


def noise(seconds: float, seed: int = 0) -> np.ndarray:
    return 0.1 * np.random.default_rng(seed).standard_normal(round(seconds * RATE)).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("campplus")
    (folder / "model.onnx").write_bytes(campplus_graph(campplus_weights()))
    return folder


@pytest.fixture(scope="module")
def untrained(folder) -> CampPlus:
    return load_campplus(SMALL, read_campplus(folder / "model.onnx"))


@pytest.mark.long
@pytest.mark.parametrize("seconds", [0.6, 2.0, 4.7])
def test_it_embeds_as_its_graph_does(folder, untrained, seconds):
    graph = SpeakerEncoder(Bundle(manifest_named("campplus"), folder))
    pcm = noise(seconds)
    embedding = untrained(Fbank(RATE)(torch.from_numpy(pcm)[None]))[0]
    np.testing.assert_allclose(embedding.numpy(), graph.embed(pcm, RATE), atol=1e-4)


@pytest.mark.long
def test_recordings_of_one_length_embed_together_as_alone(untrained):
    pcm = torch.from_numpy(np.stack((noise(1.0, 1), noise(1.0, 2))))
    fbank = Fbank(RATE)
    together = untrained(fbank(pcm))
    alone = torch.cat([untrained(fbank(row[None])) for row in pcm])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)


def test_features_are_kaldis_with_their_mean_removed():
    pcm = noise(1.0)
    wanted = kaldi_fbank(pcm, RATE)
    np.testing.assert_allclose(
        Fbank(RATE)(torch.from_numpy(pcm)[None])[0].numpy(), wanted - wanted.mean(axis=0), atol=1e-3
    )


def test_resampling_keeps_what_is_below_nyquist_and_drops_the_rest():
    time = np.arange(24_000, dtype=np.float32) / 24_000
    low, high = np.sin(2 * np.pi * 1_000 * time), np.sin(2 * np.pi * 9_500 * time)
    resampler = Resampler(24_000, RATE)
    kept = resampler(torch.from_numpy(low + high)[None])[0].numpy()
    assert len(kept) == RATE
    inner = slice(200, -200)
    np.testing.assert_allclose(kept[inner], resampled(low, 24_000, RATE)[inner], atol=5e-3)


def test_the_cutoff_is_that_of_the_resampler_of_recordings():
    pcm = 0.1 * np.random.default_rng(0).standard_normal(24_000).astype(np.float32)
    inner = slice(500, -500)
    ours = Resampler(24_000, RATE)(torch.from_numpy(pcm)[None])[0].numpy()[inner]
    theirs = resampled(pcm, 24_000, RATE)[inner]
    assert np.square(theirs).sum() > 10**4.5 * np.square(ours - theirs).sum()


def test_a_graph_that_is_not_campplus_is_refused(tmp_path):
    broken = tmp_path / "model.onnx"
    broken.write_bytes(b"not a graph")
    with pytest.raises(BundleError, match="fetch it again"):
        read_campplus(broken)
    broken.write_bytes(b"")
    with pytest.raises(BundleError, match="not the graph of CAM"):
        read_campplus(broken)


def test_weights_of_another_size_are_refused(folder):
    with pytest.raises(WeightsError, match="wrong shape"):
        load_campplus(CampPlusConfig(), read_campplus(folder / "model.onnx"))


@pytest.fixture(scope="module")
def reader() -> torch.Tensor:
    flac = (TESTS / "recordings/librivox_a.flac").read_bytes()
    pcm, rate = decode(flac, max_seconds=10, max_samples=10**6)
    return torch.from_numpy(resampled(pcm.reshape(len(pcm), -1)[:, 0], rate, RATE))


@pytest.mark.slow
def test_the_real_network_embeds_a_reader_as_its_graph_does(installed, reader):
    bundle = installed("campplus")
    network = load_campplus(CampPlusConfig(), read_campplus(bundle.file("model.onnx")))
    embedding = network(Fbank(RATE)(reader[None]))[0]
    np.testing.assert_allclose(embedding.numpy(), SpeakerEncoder(bundle).embed(reader.numpy(), RATE), atol=1e-4)


@pytest.mark.slow
def test_a_step_along_the_gradient_makes_one_recording_more_like_another(installed, reader):
    network = load_campplus(CampPlusConfig(), read_campplus(installed("campplus").file("model.onnx")))
    fbank = Fbank(RATE)
    aim = network(fbank(reader[None]))
    pcm = torch.from_numpy(noise(1.0))[None].requires_grad_()
    before = (network(fbank(pcm)) * aim).sum()
    (gradient,) = torch.autograd.grad(before, pcm)
    after = (network(fbank(pcm + 0.1 * gradient / gradient.norm())) * aim).sum()
    assert after > before + 1e-3


@pytest.mark.slow
def test_its_gradients_are_deterministic(installed):
    """A fit of many steps amplifies small differences. Bit-identical where that has been observed."""
    tolerance = 0.0 if platform.machine() == "x86_64" else 1e-5
    network = load_campplus(CampPlusConfig(), read_campplus(installed("campplus").file("model.onnx")))
    features = torch.randn(1, 298, 80, generator=torch.Generator().manual_seed(0)).requires_grad_()
    first, *others = (torch.autograd.grad(network(features).sum(), features)[0] for _ in range(4))
    assert max((gradient - first).abs().max() / first.abs().max() for gradient in others) <= tolerance
