"""One step of a fit: its gradient is right, and the same with static shapes and without."""

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
from polyvox.engines.kokoro.fitting.loss import EncodedSentences, StyleLoss, _fit_length
from polyvox.engines.kokoro.fitting.scoring import SpeechScores, TargetSpeaker
from polyvox.engines.kokoro.fitting.style_fit import StyleBasis, StyleFit, padded_ids
from polyvox.models.kokoro.model import FRAME, HARMONICS

SENTENCES = ("hˈæpi ænd ɡlˈæd.", "ə sˈɔŋ.", "ðə skˈI ɪz blˈu.")
SPEAKER = TargetSpeaker(
    torch.nn.functional.normalize(torch.arange(-8.0, 8.0, dtype=torch.float64), dim=0), float(np.log(180))
)
WINDOW = 8


class SmoothScorer:
    """Scores that are smooth functions of the samples; the MOS rises with the level."""

    predicts_mos = True

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(3)
        self._matrix = torch.randn(FRAME, 16, dtype=torch.float64, generator=generator)

    def score(self, samples: torch.Tensor) -> SpeechScores:
        embeddings = (samples.unflatten(1, (-1, FRAME)) @ self._matrix).tanh().mean(dim=1)
        return SpeechScores(
            torch.nn.functional.normalize(embeddings, dim=1), 3 + samples.square().mean(dim=1).log().tanh()
        )


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
def given(kokoro, base) -> tuple[torch.Tensor, ...]:
    """The arguments of a step: two sentences are decoded and scored; of the third only prosody is predicted."""
    generator = torch.Generator().manual_seed(6)
    noise = torch.randn(2, WINDOW * FRAME, HARMONICS, generator=generator)
    coordinates = 0.1 * torch.randn(base.shape[1], dtype=torch.float64, generator=generator)
    stock_mos, mos_weight = torch.tensor([5.0, 4.0], dtype=torch.float64), torch.tensor(0.3, dtype=torch.float64)
    sentences = EncodedSentences.of(kokoro, [padded_ids(sentence) for sentence in SENTENCES]).select([0, 1, 2])
    return coordinates, mos_weight, stock_mos, noise, base[:3], *sentences


def loss_of(kokoro, basis, padded: int | None) -> StyleLoss:
    return StyleLoss(kokoro, SmoothScorer(), basis.matrix, SPEAKER, FitConfig(steps=1), padded)


@pytest.mark.long
def test_static_shapes_do_not_change_a_step(kokoro, basis, given):
    dynamic, static = (loss_of(kokoro, basis, padded) for padded in (None, 60))
    torch.testing.assert_close(static.step(*given), dynamic.step(*given), rtol=1e-8, atol=1e-10)
    coordinates, _, _, noise, *sentences = given
    torch.testing.assert_close(
        static.pitch_gradient(coordinates, *sentences),
        dynamic.pitch_gradient(coordinates, *sentences),
        rtol=1e-8,
        atol=1e-10,
    )
    torch.testing.assert_close(static.mos(noise, *sentences), dynamic.mos(noise, *sentences), rtol=1e-8, atol=1e-10)


@pytest.mark.long
def test_the_gradient_is_that_of_the_loss(kokoro, basis, given):
    """Along acoustic axes, which leave the pitch alone: no gradient passes through phases."""
    coordinates, mos_weight, stock_mos, noise, *sentences = given
    config = FitConfig(steps=1, pitch_weight=0.0)
    one = StyleLoss(kokoro, SmoothScorer(), basis.matrix, SPEAKER, config, None)
    _, new_weight, *gradient = one.step(*given)

    def loss(moved: torch.Tensor) -> float:
        similarity = one.step(moved, mos_weight, stock_mos, noise, *sentences)[0]
        mos = one.mos(noise, sentences[0] + basis.matrix @ moved, *sentences[1:])
        drop = (stock_mos - mos).clamp(min=0).mean()
        assert 0.1 < drop < 3
        return float(1 - similarity + config.weight_decay * moved.square().mean() + new_weight * drop)

    for axis in (0, 40, 100):
        shift = torch.zeros_like(coordinates)
        shift[axis] = 1e-4
        assert (loss(coordinates + shift) - loss(coordinates - shift)) / 2e-4 == pytest.approx(
            float(gradient[axis]), rel=1e-4, abs=1e-8
        )


@pytest.mark.long
def test_the_mos_weight_rises_where_the_drop_is_too_large_and_sinks_otherwise(kokoro, basis, given):
    coordinates, mos_weight, _, *rest = given
    one = loss_of(kokoro, basis, None)
    for mos, rises in ((5.0, True), (0.0, False)):
        stock_mos = torch.full((2,), mos, dtype=torch.float64)
        assert (one.step(coordinates, mos_weight, stock_mos, *rest)[1] > mos_weight) == rises
    at_most = one.step(coordinates, torch.tensor(3.0), torch.full((2,), 5.0), *rest)[1]
    at_least = one.step(coordinates, torch.tensor(0.0), torch.full((2,), 0.0), *rest)[1]
    assert (at_most, at_least) == (3.0, 0.0)


@pytest.mark.long
def test_a_captured_fit_is_the_same_and_captures_two_graphs(kokoro, base, basis):
    config = FitConfig(steps=3, sentences=SENTENCES, batch=2, window=WINDOW, pitch_steps=2, averaged=2)

    def run(replay) -> tuple[list[float], torch.Tensor]:
        fit = StyleFit(kokoro, SmoothScorer(), base, base, basis, SPEAKER, config, replay)
        return list(fit.run()), fit.offset

    poisoned = Poisoned()
    similarity, offset = run(poisoned)
    assert (poisoned.recorded, len(poisoned.calls)) == (["pitch", "step"], 2 + 3)
    eager, same = run(lambda key, work, given, idle=None: work(*given))
    assert similarity == eager
    assert torch.equal(offset, same)
    dynamic, nearly = run(None)
    assert dynamic == pytest.approx(similarity, abs=1e-6)
    torch.testing.assert_close(nearly, offset, rtol=1e-4, atol=1e-6)


@pytest.mark.long
def test_a_fit_that_cannot_be_captured_runs_eagerly_and_says_so(kokoro, base, basis):
    config = FitConfig(steps=2, sentences=SENTENCES, batch=2, window=WINDOW, pitch_steps=1, averaged=2)
    make = partial(StyleFit, kokoro, SmoothScorer(), base, base, basis, SPEAKER, config)

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


def test_rows_shorter_than_the_window_are_padded_with_their_last_value():
    rows = torch.tensor([[[1.0, 2.0, 3.0, 4.0]], [[5.0, 6.0, 7.0, 8.0]]])
    padded = _fit_length(rows, torch.tensor([4, 2]), 6)
    assert padded[:, 0].tolist() == [[1, 2, 3, 4, 4, 4], [5, 6, 6, 6, 6, 6]]
    assert _fit_length(rows, torch.tensor([4, 4]), 2)[:, 0].tolist() == [[1, 2], [5, 6]]


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
