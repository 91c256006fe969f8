"""How a request wants to be spoken, beyond its words and its voice."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from polyvox.engines.zipvoice.mel import TARGET_RMS
from polyvox.engines.zipvoice.variants import Variant
from polyvox.errors import InvalidRequestError

MAX_STEPS = 32


@dataclass(frozen=True, slots=True)
class Manner:
    """The knobs of the family, within their limits."""

    steps: int
    guidance: float
    shift: float
    remove_long_silence: bool
    chunk_seconds: float
    target_rms: float


def manner_of(tuning: Mapping[str, float], variant: Variant) -> Manner:
    """What a request asks for, and the model's own habits for what it does not mention; other names are not ours."""
    steps = _within(tuning, "num_steps", variant.steps, 1, MAX_STEPS)
    if steps != int(steps):
        raise InvalidRequestError(f"num_steps must be a whole number, not {steps:g}.", field="num_steps")
    return Manner(
        steps=int(steps),
        guidance=_within(tuning, "guidance_scale", variant.guidance, 0.0, 10.0),
        shift=_within(tuning, "t_shift", 0.5, 0.05, 1.0),
        remove_long_silence=bool(_within(tuning, "remove_long_silence", 0.0, 0.0, 1.0)),
        chunk_seconds=min(variant.max_chunk_seconds, _within(tuning, "max_duration", 100.0, 1.0, 1000.0)),
        target_rms=_within(tuning, "target_rms", TARGET_RMS, 0.001, 0.5),
    )


def _within(tuning: Mapping[str, float], name: str, default: float, low: float, high: float) -> float:
    value = tuning.get(name, default)
    if not (math.isfinite(value) and low <= value <= high):
        raise InvalidRequestError(f"{name} must lie between {low:g} and {high:g}, not {value:g}.", field=name)
    return value
