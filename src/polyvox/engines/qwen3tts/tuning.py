"""Tuning parameters of Qwen3-TTS, by the names of its own API."""

from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import Field

from polyvox.engines.kit.tuning import Tuning

if TYPE_CHECKING:
    from polyvox.engines.qwen3tts.bundle import SamplingDefaults


class Qwen3TtsTuning(Tuning):
    """Sampling and length of a request; what is not given comes from the model's `generation_config.json`."""

    temperature: float | None = Field(None, ge=0, le=2, description="Sampling temperature; 0: the likeliest code.")
    top_p: float | None = Field(None, ge=0.01, le=1, description="Probability mass that codes are sampled from.")
    top_k: int | None = Field(None, ge=0, le=2048, description="How many codes are sampled from; 0: all.")
    repetition_penalty: float | None = Field(
        None, ge=0.5, le=2, description="How much less likely a code gets that was there before; 1: not at all."
    )
    subtalker_temperature: float | None = Field(None, ge=0, le=2, description="The same for the other codes.")
    subtalker_top_p: float | None = Field(None, ge=0.01, le=1, description="The same for the other codes.")
    subtalker_top_k: int | None = Field(None, ge=0, le=2048, description="The same for the other codes.")
    max_new_tokens: int | None = Field(
        None, ge=1, le=8192, description="Most frames of a stretch of speech (12.5 are a second)."
    )

    def applied(self, defaults: "SamplingDefaults") -> "SamplingDefaults":
        """The makers' sampling with what the request changes."""
        names = ("temperature", "top_p", "top_k", "repetition_penalty")
        first = {name: value for name in names if (value := getattr(self, name)) is not None}
        following = {name: value for name in names[:3] if (value := getattr(self, f"subtalker_{name}")) is not None}
        return replace(
            defaults, first=replace(defaults.first, **first), following=replace(defaults.following, **following)
        )
