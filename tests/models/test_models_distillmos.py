"""Distill-MOS in PyTorch against its ONNX graph."""

from pathlib import Path

import numpy as np
import pytest
import torch

from polyvox.audio.decode import decode
from polyvox.audio.resample import resampled
from polyvox.bundles.listener_weights import read_campplus, read_distillmos
from polyvox.errors import BundleError
from polyvox.evaluate import distillmos
from polyvox.models.listeners.distillmos import WINDOW, DistillMosConfig, load_distillmos

pytestmark = pytest.mark.slow

RECORDING = Path(__file__).parents[1] / "recordings/librivox_a.flac"


@pytest.fixture(scope="module")
def reader() -> np.ndarray:
    pcm, rate = decode(RECORDING.read_bytes(), max_seconds=10, max_samples=10**6)
    return resampled(pcm.reshape(len(pcm), -1)[:, 0], rate, 16_000)


@pytest.fixture(scope="module")
def network(installed):
    return load_distillmos(DistillMosConfig(), read_distillmos(installed("distillmos").file("model.onnx")))


def test_its_score_is_that_of_its_graph(installed, network, reader):
    graph = distillmos.DistillMos(installed("distillmos"))
    whole = np.resize(reader, WINDOW)
    for pcm, tolerance in ((whole, 0.01), (reader, 0.03), (reader[:16_000], 0.03)):
        score = float(network(torch.from_numpy(pcm)[None])[0])
        assert score == pytest.approx(graph.score(pcm, 16_000), abs=tolerance)


def test_a_step_along_the_gradient_improves_the_score_of_noisy_speech(network, reader):
    noise = 0.02 * torch.randn(len(reader), generator=torch.Generator().manual_seed(0))
    pcm = (torch.from_numpy(reader) + noise)[None].requires_grad_()
    before = network(pcm)[0]
    (gradient,) = torch.autograd.grad(before, pcm)
    assert network(pcm + 0.01 * gradient / gradient.norm())[0] > before


def test_another_networks_graph_is_refused(installed):
    with pytest.raises(BundleError, match="Distill-MOS"):
        read_distillmos(installed("campplus").file("model.onnx"))
    with pytest.raises(BundleError, match="CAM"):
        read_campplus(installed("distillmos").file("model.onnx"))
