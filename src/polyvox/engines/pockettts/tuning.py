"""Tuning parameters of Pocket TTS, by the names of its own API."""

from pydantic import Field

from polyvox.engines.kit.tuning import Tuning


class PocketTtsTuning(Tuning):
    """Sampling and length of a request; what is not given comes from the model's configuration."""

    temperature: float | None = Field(
        None, ge=0, le=2, description="How much speech varies; 0: always the same. The models' own is 0.3."
    )
    eos_threshold: float | None = Field(
        None, ge=-20, le=20, description="Logit above which speech ends; a higher one ends it later."
    )
    frames_after_eos: int | None = Field(
        None, ge=0, le=100, description="Frames that follow the end of speech (12.5 are a second)."
    )
