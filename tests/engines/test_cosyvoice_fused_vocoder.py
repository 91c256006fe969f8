"""The vocoder's fused activation: used where it passes a test, and left where it does not."""

from functools import partial

import pytest
import torch
from structlog.testing import capture_logs

from helpers.cosyvoice_golden import causal_hift, hift
from polyvox.engines.cosyvoice.decoder.fused_vocoder import fuse_activation
from polyvox.engines.cosyvoice.decoder.self_test import deviation, stream_samples


@pytest.fixture(params=[2, 3])
def vocoder(request):
    return hift() if request.param == 2 else causal_hift()


@pytest.fixture
def samples(vocoder):
    bins, generator = vocoder.config.filter.bins, torch.Generator().manual_seed(1)
    return partial(stream_samples, vocoder, [torch.randn(1, bins, count, generator=generator) for count in (16, 12)])


def snake(samples, alpha, eps):
    return samples + (samples * alpha[:, None]).sin().square() / (alpha[:, None] + eps)


@pytest.mark.long
@torch.inference_mode()
def test_a_kernel_that_agrees_is_used_and_one_that_errs_or_fails_is_not(vocoder, samples):
    calls = []

    def counted(*given):
        calls.append(given)
        return snake(*given)

    def broken(*_):
        raise RuntimeError("no such instruction")

    exact = samples()
    for kernel in (lambda rows, alpha, eps: 1.1 * snake(rows, alpha, eps), broken):
        with capture_logs() as logs:
            fuse_activation(vocoder, kernel, samples)
        assert "without it" in logs[-1]["event"]
        assert torch.equal(samples(), exact)
    fuse_activation(vocoder, counted, samples)
    calls.clear()
    assert deviation(samples(), exact) <= 1e-6
    assert calls
    vocoder.filter.use_kernel(None)
