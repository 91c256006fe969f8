"""Parameters of repetition-aware sampling. `runtime/sampling/` samples by them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SamplingConfig:
    """Parameters of repetition-aware sampling; the defaults are CosyVoice's."""

    top_p: float = 0.8
    top_k: int = 25
    window: int = 10
    tolerated_share: float = 0.1
    """A token that makes up at least this share of the window is resampled."""
