"""Tuning parameters of Chatterbox, by the names of its own API."""

from dataclasses import replace

from pydantic import Field

from polyvox.engines.chatterbox.sampling import T3Sampling
from polyvox.engines.kit.tuning import Tuning

NEUTRAL = 0.5
"""Exaggeration that neither adds nor takes."""


class ChatterboxTuning(Tuning):
    """Expression and sampling of a request; Turbo and Nano have no use for the first three."""

    exaggeration: float | None = Field(None, ge=0, le=2, description="Intensity of expression; 0.5 is neutral.")
    cfg_weight: float | None = Field(
        None, ge=0, le=2, description="How closely speech follows the text; lower is slower, and 0 keeps no accent."
    )
    min_p: float | None = Field(
        None, ge=0, le=1, description="Tokens less likely than this share of the likeliest are left out."
    )
    temperature: float | None = Field(None, ge=0, le=5, description="Sampling temperature; 0: the likeliest token.")
    top_p: float | None = Field(None, ge=0.01, le=1, description="Probability mass that tokens are sampled from.")
    top_k: int | None = Field(
        None, ge=0, le=6561, description="How many tokens Turbo and Nano sample from; 0: all of them."
    )
    repetition_penalty: float | None = Field(
        None, ge=0.5, le=3, description="How much less likely a token gets that was there before; 1: not at all."
    )

    def applied(self, defaults: T3Sampling) -> T3Sampling:
        """The makers' sampling with what the request changes."""
        names = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "cfg_weight")
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        return replace(defaults, **given)
