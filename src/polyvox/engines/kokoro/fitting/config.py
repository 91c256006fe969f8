"""Hyperparameters of a fit."""

from dataclasses import dataclass

from polyvox.engines.kokoro.fitting.sentences import TRAINING


@dataclass(frozen=True, slots=True)
class FitConfig:
    """Steps and batch size depend on the device; the other defaults were tuned."""

    steps: int
    seed: int = 0
    sentences: tuple[str, ...] = TRAINING
    batch: int = 1
    """Sentences in one step."""
    window: int = 120
    """Frames of each sentence that are decoded and scored: three seconds.

    A longer sentence is cut there; behind a shorter one its final silence goes on.
    """
    learning_rate: float = 0.3
    """At first, in standard deviations of the built-in voices; decays along a cosine."""
    final_learning_rate: float = 0.01
    pitch_steps: int = 12
    pitch_weight: float = 16.0
    mos_weight: float = 0.3
    """Initial weight of the drop in MOS against a built-in voice, for one point."""
    mos_weight_rate: float = 0.05
    """Change of that weight in a step for each point by which the drop exceeds, or falls short of, the allowed one."""
    allowed_mos_drop: float = 0.1
    weight_decay: float = 0.01
    """Loss at one standard deviation away from the start in every direction."""
    averaged: int = 15
    """The result is the mean over this many last steps."""
