"""Losses of Wren's training: distances of feature maps, weights by frequency, and discriminators of a band."""

import math

import pytest

torch = pytest.importorskip("torch")

from polyvox.models.kokoro.wren_source import SAMPLE_RATE  # noqa: E402
from training.wren.discriminators import SpectrogramDiscriminator  # noqa: E402
from training.wren.losses import SpectralLoss, perceptual_weights, relative_l1  # noqa: E402

SAMPLES = 4096


def tone(hertz: float):
    return 0.1 * torch.sin(2 * math.pi * hertz / SAMPLE_RATE * torch.arange(SAMPLES))[None]


def test_relative_l1_is_the_distance_over_the_norm() -> None:
    predicted = torch.tensor([[1.0, -2.0], [0.5, 4.0]], requires_grad=True)
    target = torch.tensor([[2.0, -2.0], [-1.5, 0.0]])
    distance = relative_l1(predicted, target)
    plain = (predicted - target).abs().mean() / (target.abs().mean() + 1e-3)
    assert torch.allclose(distance, plain)
    (gradient,) = torch.autograd.grad(3 * distance, predicted)
    (expected,) = torch.autograd.grad(3 * plain, predicted)
    assert torch.allclose(gradient, expected)


def test_relative_l1_of_bfloat16_is_summed_in_float32() -> None:
    target = torch.full((400, 300), 0.01, dtype=torch.bfloat16)
    predicted = (2 * target).requires_grad_()
    distance = relative_l1(predicted, target)
    assert distance.dtype == torch.float32
    assert distance.item() == pytest.approx(0.01 / 0.011, rel=0.01)
    (gradient,) = torch.autograd.grad(distance, predicted)
    assert gradient.dtype == torch.bfloat16
    assert float(gradient.float().sum()) == pytest.approx(1 / 0.011, rel=0.02)


def test_perceptual_weights_favour_low_frequencies_and_keep_the_mean() -> None:
    weights = perceptual_weights(1024)
    assert float(weights.mean()) == pytest.approx(1)
    assert bool((weights.diff() < 0).all())


def best_gain(loss: SpectralLoss) -> float:
    """Gain in decibels at which noise comes nearest to other noise of the same distribution."""
    generator = torch.Generator().manual_seed(1)
    ours, theirs = 0.1 * torch.randn(2, 4, 4 * SAMPLES, generator=generator)
    return min((0.5 * step - 4 for step in range(13)), key=lambda gain: float(loss(ours * 10 ** (gain / 20), theirs)))


@pytest.mark.long
def test_the_balanced_loss_is_least_at_the_right_level_of_noise() -> None:
    assert best_gain(SpectralLoss(balanced=False)) <= -1
    assert abs(best_gain(SpectralLoss())) <= 0.5


def test_a_band_discriminator_hears_only_its_band() -> None:
    torch.manual_seed(2)
    discriminator = SpectrogramDiscriminator(512, 4, (1_000, 5_000))
    silence = torch.zeros(1, SAMPLES)
    (silent, low, inside) = (logits for logits, _ in discriminator(silence, tone(300.0), tone(2_500.0)))
    assert (inside - silent).abs().max().item() > 4 * (low - silent).abs().max().item()
