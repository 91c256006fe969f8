"""One step of a fit: its slope is one, and it is the same whether its shapes are known beforehand or not."""

from functools import partial

import numpy as np
import pytest
import torch
from structlog.testing import capture_logs

from helpers.replaying import Poisoned
from helpers.tiny_kokoro import TINY, tiny_kokoro
from polyvox.engines.kokoro.fit_descent import Descent
from polyvox.engines.kokoro.fit_listeners import Heard
from polyvox.engines.kokoro.fit_plan import FitPlan
from polyvox.engines.kokoro.fit_speaker import Speaker
from polyvox.engines.kokoro.fit_step import Script, Step, _held
from polyvox.engines.kokoro.fitter import recorded_run
from polyvox.engines.kokoro.fitting import Directions, Fit, line_ids
from polyvox.models.kokoro.model import FRAME, HARMONICS

SENTENCES = ("hˈæpi ænd ɡlˈæd.", "ə sˈɔŋ.", "ðə skˈI ɪz blˈu.")
SPEAKER = Speaker(
    torch.nn.functional.normalize(torch.arange(-8.0, 8.0, dtype=torch.float64), dim=0), float(np.log(180))
)
WINDOW = 8


class Ears:
    """Hear something smooth in everything, and like it loud."""

    judging = True

    def __init__(self) -> None:
        chance = torch.Generator().manual_seed(3)
        self._matrix = torch.randn(FRAME, 16, dtype=torch.float64, generator=chance)

    def hear(self, samples: torch.Tensor) -> Heard:
        heard = (samples.unflatten(1, (-1, FRAME)) @ self._matrix).tanh().mean(dim=1)
        return Heard(torch.nn.functional.normalize(heard, dim=1), 3 + samples.square().mean(dim=1).log().tanh())


@pytest.fixture(scope="module")
def kokoro():
    return tiny_kokoro()


@pytest.fixture(scope="module")
def base() -> torch.Tensor:
    return torch.randn(510, 2 * TINY.style, dtype=torch.float64, generator=torch.Generator().manual_seed(5))


@pytest.fixture(scope="module")
def directions() -> Directions:
    return Directions(torch.eye(2 * TINY.style, dtype=torch.float64) / 4)


@pytest.fixture(scope="module")
def given(kokoro, base) -> tuple[torch.Tensor, ...]:
    """What a step takes: two lines are heard, the third is only planned."""
    chance = torch.Generator().manual_seed(6)
    noise = torch.randn(2, WINDOW * FRAME, HARMONICS, generator=chance)
    place = 0.1 * torch.randn(base.shape[1], dtype=torch.float64, generator=chance)
    before, price = torch.tensor([5.0, 4.0], dtype=torch.float64), torch.tensor(0.3, dtype=torch.float64)
    lines = Script.of(kokoro, [line_ids(sentence) for sentence in SENTENCES]).lines([0, 1, 2])
    return place, price, before, noise, base[:3], *lines


def step(kokoro, directions, box: int | None) -> Step:
    return Step(kokoro, Ears(), directions.matrix, SPEAKER, FitPlan(steps=1), box)


def test_in_a_box_a_step_is_what_it_is_without(kokoro, directions, given):
    as_it_is, boxed = (step(kokoro, directions, box) for box in (None, 60))
    torch.testing.assert_close(boxed.heard(*given), as_it_is.heard(*given), rtol=1e-8, atol=1e-10)
    place, _, _, noise, *lines = given
    torch.testing.assert_close(boxed.pitched(place, *lines), as_it_is.pitched(place, *lines), rtol=1e-8, atol=1e-10)
    torch.testing.assert_close(boxed.opinions(noise, *lines), as_it_is.opinions(noise, *lines), rtol=1e-8, atol=1e-10)


def test_the_slope_is_that_of_what_is_to_become_less(kokoro, directions, given):
    """In the directions of the sound's colour, which leave the pitch alone: through phases nothing is learned."""
    place, price, before, noise, *lines = given
    plan = FitPlan(steps=1, pitch_weight=0.0)
    one = Step(kokoro, Ears(), directions.matrix, SPEAKER, plan, None)
    _, dearer, *slope = one.heard(*given)

    def loss(moved: torch.Tensor) -> float:
        likeness = one.heard(moved, price, before, noise, *lines)[0]
        opinions = one.opinions(noise, lines[0] + directions.matrix @ moved, *lines[1:])
        fall = (before - opinions).clamp(min=0).mean()
        assert 0.1 < fall < 3
        return float(1 - likeness + plan.closeness * moved.square().mean() + dearer * fall)

    for axis in (0, 40, 100):
        shift = torch.zeros_like(place)
        shift[axis] = 1e-4
        assert (loss(place + shift) - loss(place - shift)) / 2e-4 == pytest.approx(
            float(slope[axis]), rel=1e-4, abs=1e-8
        )


def test_a_deeper_fall_than_allowed_makes_falling_dearer_and_none_cheaper(kokoro, directions, given):
    place, price, _, *rest = given
    one = step(kokoro, directions, None)
    for opinion, dearer in ((5.0, True), (0.0, False)):
        before = torch.full((2,), opinion, dtype=torch.float64)
        assert (one.heard(place, price, before, *rest)[1] > price) == dearer
    at_most = one.heard(place, torch.tensor(3.0), torch.full((2,), 5.0), *rest)[1]
    at_least = one.heard(place, torch.tensor(0.0), torch.full((2,), 0.0), *rest)[1]
    assert (at_most, at_least) == (3.0, 0.0)


def test_a_recorded_fit_is_the_same_and_records_two_works(kokoro, base, directions):
    plan = FitPlan(steps=5, sentences=SENTENCES, batch=2, window=WINDOW, pitch_steps=3, averaged=2)

    def run(replay) -> tuple[list[float], torch.Tensor]:
        fit = Fit(kokoro, Ears(), base, base, directions, SPEAKER, plan, replay)
        return list(fit.run()), fit.offset

    poisoned = Poisoned()
    likeness, offset = run(poisoned)
    assert (poisoned.recorded, len(poisoned.calls)) == (["pitched", "heard"], 3 + 5)
    plainly, same = run(lambda key, work, given, idle=None: work(*given))
    assert likeness == plainly
    assert torch.equal(offset, same)
    unboxed, nearly = run(None)
    assert unboxed == pytest.approx(likeness, abs=1e-6)
    torch.testing.assert_close(nearly, offset, rtol=1e-4, atol=1e-6)


def test_a_fit_that_cannot_be_recorded_runs_unrecorded_and_says_so(kokoro, base, directions):
    plan = FitPlan(steps=2, sentences=SENTENCES, batch=2, window=WINDOW, pitch_steps=1, averaged=2)
    begun = partial(Fit, kokoro, Ears(), base, base, directions, SPEAKER, plan)

    def failing(key, work, given, idle=None):
        raise RuntimeError("capture failed")

    told: list[int] = []
    with capture_logs() as logs:
        offset = recorded_run(begun, lambda step, likeness: told.append(step), lambda: failing)
    assert (told, [line["error"] for line in logs]) == ([1, 2], ["capture failed"])
    plain = begun(None)
    list(plain.run())
    assert torch.equal(offset, plain.offset)


def test_what_is_shorter_than_the_window_goes_on_as_it_was_last():
    rows = torch.tensor([[[1.0, 2.0, 3.0, 4.0]], [[5.0, 6.0, 7.0, 8.0]]])
    held = _held(rows, torch.tensor([4, 2]), 6)
    assert held[:, 0].tolist() == [[1, 2, 3, 4, 4, 4], [5, 6, 6, 6, 6, 6]]
    assert _held(rows, torch.tensor([4, 4]), 2)[:, 0].tolist() == [[1, 2], [5, 6]]


def test_a_descent_goes_where_adam_goes():
    generator = torch.Generator().manual_seed(2)
    ours, theirs = torch.zeros(4), torch.zeros(4, requires_grad=True)
    descent, adam = Descent(ours, 0.9, 0.98), torch.optim.Adam([theirs], betas=(0.9, 0.98))
    for rate in (0.3, 0.2, 0.05):
        slope = torch.randn(4, generator=generator)
        descent.step(slope, rate)
        adam.param_groups[0]["lr"], theirs.grad = rate, slope
        adam.step()
    torch.testing.assert_close(ours, theirs.detach())
