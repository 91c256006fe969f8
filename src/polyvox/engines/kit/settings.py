"""Settings that families of models share."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from polyvox.config import Settings, SettingsSection
from polyvox.types import ChunkPolicy


class FamilySettings(SettingsSection):
    """Base of a family with several models: their folders, and where they run."""

    dirs: dict[str, Path] = Field(
        default_factory=dict,
        description="Folders of models by their names, as JSON; a model that is not in it is in the folder of models, "
        "under its name.",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="Where it runs; `auto`: on a GPU that works, else on the CPU."
    )
    precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="Of the language model; `auto`: bfloat16 on a GPU, float32 on the CPU."
    )
    graphs: bool = Field(True, description="Capture a GPU's work as CUDA graphs; the start takes longer.")

    def folder(self, model: str, models_dir: Path) -> Path:
        """The folder of a model."""
        return self.dirs.get(model) or models_dir / model

    @classmethod
    def locate(cls, model: str, settings: Settings) -> Path | None:
        """The folder that the settings name for a model, if any."""
        return settings.section(cls).dirs.get(model)


class FrameSettings(FamilySettings):
    """Base of a family whose language model generates frames, a few of which make a chunk."""

    first_frames: int = Field(1, ge=1, le=25, description="Frames of the first chunk; fewer start sooner.")
    chunk_growth: float = Field(2.0, ge=1, le=4, description="How much longer each chunk is than the last.")
    most_frames: int = Field(8, ge=1, le=64, description="Frames of the longest chunk.")

    @property
    def policy(self) -> ChunkPolicy:
        """The sizes of chunks, in frames."""
        return ChunkPolicy(self.first_frames, self.chunk_growth, max(self.first_frames, self.most_frames))
