"""One step of a fit: its gradient is right, and a captured fit is the same."""

from functools import partial

import numpy as np
import pytest
import torch
from structlog.testing import capture_logs

from helpers.replaying import Poisoned
from helpers.tiny_kokoro import TINY, tiny_kokoro
from polyvox.engines.kokoro.fitting.adam import Adam
from polyvox.engines.kokoro.fitting.config import FitConfig
from polyvox.engines.kokoro.fitting.fitter import run_captured
from polyvox.engines.kokoro.fitting.loss import StyleLoss
from polyvox.engines.kokoro.fitting.scoring import TargetSpeaker
from polyvox.engines.kokoro.fitting.style_fit import StyleBasis, StyleFit, fit_length
from polyvox.models.kokoro.model import FRAME, HARMONICS

SENTENCES = ("hˈæpi ænd ɡlˈæd.", "ə sˈɔŋ.", "ðə skˈI ɪz blˈu.")
EMBEDDING = torch.nn.functional.normalize(torch.arange(-8.0, 8.0, dtype=torch.float64), dim=0)
SPEAKER = TargetSpeaker(EMBEDDING, float(np.log(180)))
WINDOW, HALF = 8, TINY.style


class SmoothScorer:
    """Scores that are smooth functions of the samples; the MOS rises with the level."""

    predicts_mos = True

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(3)
        self._matrix = torch.randn(FRAME, 16, dtype=torch.float64, generator=generator)

    def features(self, samples: torch.Tensor) -> torch.Tensor:
        return (samples.unflatten(1, (-1, FRAME)) @ self._matrix).tanh()

    def embeddings(self, features: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(features.mean(dim=1), dim=1)

    def mos(self, samples: torch.Tensor) -> torch.Tensor:
        return 3 + samples.square().mean(dim=1).log().tanh()


@pytest.fixture(scope="module")
def kokoro():
    return tiny_kokoro()


@pytest.fixture(scope="module")
def base() -> torch.Tensor:
    return torch.randn(510, 2 * TINY.style, dtype=torch.float64, generator=torch.Generator().manual_seed(5))


@pytest.fixture(scope="module")
def basis() -> StyleBasis:
    return StyleBasis(torch.eye(2 * TINY.style, dtype=torch.float64) / 4)


@pytest.fixture(scope="module")
def given(base) -> tuple[torch.Tensor, ...]:
    """The noise, rows, defect and curves of a step with two sentences."""
    generator = torch.Generator().manual_seed(6)
    noise = torch.randn(2, WINDOW * FRAME, HARMONICS, generator=generator)
    text = torch.randn(2, TINY.width, WINDOW, dtype=torch.float64, generator=generator)
    pitch = torch.tensor([[120.0], [130.0]], dtype=torch.float64).expand(2, 2 * WINDOW)
    return noise, base[:2, :HALF], base.new_zeros(()), text, pitch, torch.ones_like(pitch)


@pytest.fixture(scope="module")
def coordinates() -> torch.Tensor:
    return 0.1 * torch.randn(HALF, dtype=torch.float64, generator=torch.Generator().manual_seed(7))


@pytest.fixture(scope="module")
def loss(kokoro, basis) -> StyleLoss:
    return StyleLoss(kokoro.waveform, SmoothScorer(), basis.halves[0], EMBEDDING, FitConfig(steps=1, mos_every=2))


@pytest.mark.long
def test_the_gradient_is_that_of_the_loss(loss, basis, given, coordinates):
    noise, rows, _, *curves = given
    mos_weight, stock_mos = torch.tensor(0.3, dtype=torch.float64), torch.tensor([5.0, 4.0], dtype=torch.float64)
    similarity, *gradient = loss.step(coordinates, *given)
    same, new_weight, *both = loss.step_with_mos(coordinates, mos_weight, stock_mos, *given)
    assert same == similarity

    def distance(moved: torch.Tensor) -> float:
        return float(1 - loss.step(moved, *given)[0] + 0.01 * moved.square().mean())

    def penalty(moved: torch.Tensor) -> float:
        mos = loss.mos(noise, rows + basis.halves[0] @ moved, *curves)
        drop = (stock_mos - mos).clamp(min=0).mean()
        assert 0.1 < drop < 3
        return float(new_weight * drop)

    for axis in (0, 40, 100):
        shift = torch.zeros_like(coordinates)
        shift[axis] = 1e-4
        slopes = [(part(coordinates + shift) - part(coordinates - shift)) / 2e-4 for part in (distance, penalty)]
        assert slopes[0] == pytest.approx(float(gradient[axis]), rel=1e-4, abs=1e-8)
        assert sum(slopes) == pytest.approx(float(both[axis]), rel=1e-4, abs=1e-8)


@pytest.mark.long
def test_with_a_defect_the_similarity_is_that_of_the_other_decoder(kokoro, basis, given, coordinates, loss):
    def later(*args: torch.Tensor) -> torch.Tensor:
        return kokoro.waveform(*args).roll(7, dims=1)

    noise, rows, _, *curves = given
    other = StyleLoss(later, SmoothScorer(), basis.halves[0], EMBEDDING, FitConfig(steps=1))
    defect = other.defect(kokoro.waveform, coordinates, noise, rows, *curves)
    expected, uncorrected = (float(each.step(coordinates, *given)[0]) for each in (loss, other))
    corrected = float(other.step(coordinates, noise, rows, defect, *curves)[0])
    assert corrected == pytest.approx(expected, abs=1e-9)
    assert abs(uncorrected - expected) > 1e-4


@pytest.mark.long
def test_the_last_steps_are_corrected_and_measure_each_sentence_once(kokoro, base, basis):
    decoded: list[int] = []

    def counted(*args: torch.Tensor) -> torch.Tensor:
        decoded.append(len(args[0]))
        return kokoro.waveform(*args)

    config = FitConfig(steps=5, corrected_steps=3, sentences=SENTENCES[:2], window=WINDOW, mos_every=9, averaged=2)
    fit = StyleFit(kokoro, counted, SmoothScorer(), base, base, basis, SPEAKER, config)
    list(fit.run())
    assert len(decoded) == 5 + 1 + 2, "steps, the MOS of the built-in voice, and two sentences' defects"


@pytest.mark.long
def test_the_mos_weight_rises_where_the_drop_is_too_large_and_sinks_otherwise(loss, given, coordinates):
    def new_weight(old: float, stock_mos: float) -> float:
        weight, mos = (torch.tensor(each, dtype=torch.float64) for each in (old, [stock_mos, stock_mos]))
        return float(loss.step_with_mos(coordinates, weight, mos, *given)[1])

    assert new_weight(0.3, 5.0) > 0.3 > new_weight(0.3, 0.0)
    assert (new_weight(3.0, 5.0), new_weight(0.0, 0.0)) == (3.0, 0.0)


@pytest.mark.long
def test_a_captured_fit_is_the_same_and_captures_two_graphs(kokoro, base, basis):
    config = FitConfig(steps=3, sentences=SENTENCES, batch=2, window=WINDOW, mos_every=2, averaged=2)

    def run(replay) -> tuple[list[float], torch.Tensor]:
        fit = StyleFit(kokoro, kokoro.waveform, SmoothScorer(), base, base, basis, SPEAKER, config, replay)
        return list(fit.run()), fit.offset

    poisoned = Poisoned()
    similarity, offset = run(poisoned)
    assert (poisoned.recorded, poisoned.calls[1]) == (["step with MOS", "step"], "step")
    assert len(poisoned.calls) == 3
    eager, same = run(None)
    assert similarity == eager
    assert torch.equal(offset, same)


@pytest.mark.long
def test_a_fit_that_cannot_be_captured_runs_eagerly_and_says_so(kokoro, base, basis):
    config = FitConfig(steps=2, sentences=SENTENCES, batch=2, window=WINDOW, pitch_steps=1, averaged=2)
    make = partial(StyleFit, kokoro, kokoro.waveform, SmoothScorer(), base, base, basis, SPEAKER, config)

    def failing(key, work, given, idle=None):
        raise RuntimeError("capture failed")

    steps: list[int] = []
    with capture_logs() as logs:
        offset = run_captured(make, lambda step, similarity: steps.append(step), lambda: failing)
    warning = "The fit could not be captured (capture failed), so it runs eagerly and more slowly."
    assert (steps, [line["event"] for line in logs]) == ([1, 2], [warning])
    eager = make(None)
    list(eager.run())
    assert torch.equal(offset, eager.offset)


def test_a_curve_shorter_than_the_window_is_padded_with_its_last_value():
    curve = torch.tensor([[5.0, 6.0, 7.0, 8.0]])
    assert fit_length(curve, 6).tolist() == [[5, 6, 7, 8, 8, 8]]
    assert fit_length(curve, 2).tolist() == [[5, 6]]


def test_adam_is_pytorchs():
    generator = torch.Generator().manual_seed(2)
    ours, theirs = torch.zeros(4), torch.zeros(4, requires_grad=True)
    adam, reference = Adam(ours, 0.9, 0.98), torch.optim.Adam([theirs], betas=(0.9, 0.98))
    for rate in (0.3, 0.2, 0.05):
        gradient = torch.randn(4, generator=generator)
        adam.step(gradient, rate)
        reference.param_groups[0]["lr"], theirs.grad = rate, gradient
        reference.step()
    torch.testing.assert_close(ours, theirs.detach())
