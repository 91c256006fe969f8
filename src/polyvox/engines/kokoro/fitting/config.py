"""Hyperparameters of a fit."""

from dataclasses import dataclass

from polyvox.engines.kokoro.fitting.sentences import TRAINING


@dataclass(frozen=True, slots=True)
class FitConfig:
    """Steps, batch size and the cost of a step depend on the device; the other defaults were tuned."""

    steps: int
    seed: int = 0
    sentences: tuple[str, ...] = TRAINING
    corrected_steps: int = 0
    """The last steps, in which the decoder's features are corrected by the difference to those of Kokoro's own one."""
    batch: int = 1
    """Sentences in one step."""
    window: int = 120
    """Frames of each sentence that are decoded and scored: three seconds.

    A longer sentence is cut there; behind a shorter one its final silence goes on.
    """
    learning_rate: float = 0.3
    """At first, in standard deviations of the built-in voices; decays along a cosine."""
    final_learning_rate: float = 0.01
    pitch_steps: int = 3
    mos_every: int = 1
    """The MOS is predicted in every so many steps."""
    mos_weight: float = 0.3
    """Initial weight of the drop in MOS against a built-in voice, for one point."""
    mos_weight_rate: float = 0.05
    """Change of that weight in a step for each point by which the drop exceeds, or falls short of, the allowed one."""
    allowed_mos_drop: float = 0.1
    weight_decay: float = 0.01
    """Loss at one standard deviation away from the start in every direction."""
    averaged: int = 15
    """The result is the mean over this many last steps."""
