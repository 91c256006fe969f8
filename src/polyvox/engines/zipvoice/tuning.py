"""ZipVoice's tuning parameters, and a request's options once a model's defaults have filled them in."""

from dataclasses import dataclass

from pydantic import Field

from polyvox.engines.kit.tuning import Tuning
from polyvox.engines.zipvoice.variants import TARGET_RMS, Variant

MAX_STEPS = 32
_TIME_SHIFT = 0.5


@dataclass(frozen=True, slots=True)
class ZipVoiceOptions:
    """The options of one request."""

    steps: int
    guidance: float
    shift: float
    remove_long_silence: bool
    chunk_seconds: float
    target_rms: float


class ZipVoiceTuning(Tuning):
    """Tuning parameters of the family."""

    num_steps: int | None = Field(None, ge=1, le=MAX_STEPS, description="Steps of the flow's solver.")
    guidance_scale: float | None = Field(None, ge=0.0, le=10.0, description="Scale of classifier-free guidance.")
    t_shift: float | None = Field(None, ge=0.05, le=1.0, description="Time shift; below 1 the first steps are short.")
    remove_long_silence: float | None = Field(None, ge=0.0, le=1.0, description="Not 0: cut long silences.")
    max_duration: float | None = Field(None, ge=1.0, le=1000.0, description="Seconds of the longest chunk.")
    target_rms: float | None = Field(None, ge=0.001, le=0.5, description="RMS that softer prompts are raised to.")

    def resolve(self, variant: Variant) -> ZipVoiceOptions:
        """The options, with the model's defaults for parameters that were not given."""
        longest = variant.max_chunk_seconds
        return ZipVoiceOptions(
            steps=variant.steps if self.num_steps is None else self.num_steps,
            guidance=variant.guidance if self.guidance_scale is None else self.guidance_scale,
            shift=_TIME_SHIFT if self.t_shift is None else self.t_shift,
            remove_long_silence=bool(self.remove_long_silence),
            chunk_seconds=longest if self.max_duration is None else min(longest, self.max_duration),
            target_rms=TARGET_RMS if self.target_rms is None else self.target_rms,
        )
