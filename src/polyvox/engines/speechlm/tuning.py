"""Tuning parameters of the codec language model."""

from typing import Final

from pydantic import Field

from polyvox.engines.kit.tuning import Tuning

TOKENS_PER_SECOND: Final = 50
MAX_TOKENS: Final = 65_536


class SpeechLmTuning(Tuning):
    """Sampling, length and chunk sizes of a request; what is not given comes from the settings."""

    temperature: float | None = Field(None, ge=0, le=2, description="Sampling temperature; 0: the likeliest token.")
    top_p: float | None = Field(None, ge=0.01, le=1, description="Probability mass that tokens are sampled from.")
    top_k: int | None = Field(None, ge=0, le=MAX_TOKENS, description="How many tokens are sampled from; 0: all.")
    repetition_penalty: float | None = Field(
        None, ge=0.5, le=2, description="How much less likely a token gets that was there before; 1: not at all."
    )
    max_tokens: int | None = Field(
        None, ge=1, le=MAX_TOKENS, description="Most speech tokens of the whole request (50 are a second)."
    )
    playback_speed: float | None = Field(
        None, ge=1 / TOKENS_PER_SECOND, le=60, description="Seconds of audio in each chunk, all of one size."
    )
    playback_overlap_speed: float | None = Field(
        None, ge=0, le=10, description="Seconds on both sides of a chunk that are decoded with it."
    )
