"""Which frames of a plan Wren decodes: those that are heard, with a margin."""

from typing import Any

import numpy as np
import pytest

from polyvox.engines.kokoro.request import ModelInput
from polyvox.engines.kokoro.wren.model import WrenModel
from polyvox.engines.kokoro.wren.plan import UtterancePlan
from polyvox.types import Pcm, Span

ITEM = ModelInput((1, 2, 3), np.zeros((1, 4), np.float32), 1.0)
#                       ^   h   I   .  $
DURATIONS = np.array([20, 10, 10, 10, 10])


class OnePlan:
    def __init__(self, energy: list[float]) -> None:
        curve = np.repeat(np.array(energy, np.float32), 2)
        nothing = np.zeros(4, np.float32)
        self._plan = UtterancePlan(np.zeros((4, 60), np.float32), curve, curve, nothing, DURATIONS)

    def plan(self, item: ModelInput) -> UtterancePlan:
        return self._plan


class Recorder:
    """A decoder that keeps what it was asked for."""

    asked: Span

    def decode(self, plan: UtterancePlan, *, within: Span) -> Pcm:
        self.asked = within
        return np.zeros(len(plan.pitch) * 300, np.float32)


@pytest.mark.parametrize(
    ("energy", "heard"),
    [
        pytest.param([-9] * 20 + [5] * 20 + [-9] * 20, (34 - 12, 80 + 8), id="silent at both ends"),
        pytest.param([-9] * 10 + [5] * 50, (20 - 12, 120), id="an onset before its phoneme"),
        pytest.param([-9] * 30 + [5] * 20 + [-2.5] * 5 + [-3.5] * 5, (34 - 12, 110 + 8), id="a soft end"),
        pytest.param([-9] * 60, (34 - 12, 120), id="nothing but silence"),
    ],
)
def test_only_what_is_heard_is_decoded(energy: list[float], heard: tuple[int, int]) -> None:
    decoder: Any = Recorder()
    WrenModel(OnePlan(energy), decoder).run(ITEM)
    assert decoder.asked == Span(*heard)
