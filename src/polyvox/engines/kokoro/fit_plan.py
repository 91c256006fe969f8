"""How a fit proceeds."""

from dataclasses import dataclass

from polyvox.engines.kokoro.fit_texts import USUAL


@dataclass(frozen=True, slots=True)
class FitPlan:
    """How long and how broadly a fit proceeds depends on the device; the rest, as it stands here, was tuned."""

    steps: int
    seed: int = 0
    sentences: tuple[str, ...] = USUAL
    batch: int = 1
    """Sentences in one step."""
    window: int = 120
    """Frames that are heard of each sentence, three seconds of it.

    Of a longer one they are the first; behind a shorter one its silence goes on.
    """
    rate: float = 0.3
    """How far a step goes at first, in standard deviations of the built-in voices."""
    last_rate: float = 0.01
    pitch_steps: int = 12
    pitch_weight: float = 16.0
    quality_weight: float = 0.3
    """What it costs at first to fall by one point of the opinion scale behind a built-in voice."""
    quality_gain: float = 0.05
    """By how much that rises in a step for each point that the fall is deeper than allowed; it sinks likewise."""
    allowed_fall: float = 0.1
    closeness: float = 0.01
    """What it costs to lie one standard deviation away in every direction."""
    averaged: int = 15
    """Over how many of the last steps the result is taken."""
