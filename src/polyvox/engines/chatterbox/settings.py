"""Settings of Chatterbox."""

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from polyvox.engines.kit.settings import FamilySettings
from polyvox.types import ChunkPolicy

_WHOLE_SEGMENT = 10_000
"""Tokens that no segment has."""


class ChatterboxSettings(FamilySettings):
    """`POLYVOX_CHATTERBOX_…`."""

    section: ClassVar[str] = "chatterbox"

    t3_files: dict[str, str] = Field(
        default_factory=dict,
        description="The file of the language model in a model's folder, by the model's name, as JSON, such as "
        '`{"chatterbox-multilingual": "t3_pt_br.safetensors"}`; else the newest release that is there.',
    )
    s3gen_files: dict[str, str] = Field(
        default_factory=dict,
        description="The file of the audio decoder, likewise, such as `s3gen_v3.safetensors`.",
    )
    precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="Of language model and flow; `auto`: bfloat16 on a GPU, float32 on the CPU."
    )
    decoding: Literal["stream", "whole"] = Field(
        "stream",
        description="`stream`: audio begins while the speech is generated, and attention looks no further than a block "
        "of a second; `whole`: each segment is decoded when its last token is there, with full attention, as the "
        "original does.",
    )
    first_hop: int = Field(
        25, ge=5, le=100, description="Tokens of the first chunk (25 are a second); fewer start sooner."
    )
    hop_growth: float = Field(2.0, ge=1, le=4, description="How much longer each chunk is than the last.")
    max_hop: int = Field(100, ge=25, le=500, description="Longest chunk, in tokens.")
    meanflow_steps: int = Field(2, ge=1, le=8, description="Steps of the flow of Turbo and Nano.")
    flow_bytes: int = Field(
        0,
        ge=0,
        description="Bytes for the flow caches of all streams; 0: 60 % of the memory that is free on the GPU at start, "
        "or half of the machine's memory. A stream that gets none is computed anew with every chunk.",
    )
    streams: int = Field(
        0,
        ge=0,
        le=256,
        description="Sentences that are spoken at once; 0: as many as a GPU's memory is enough for, up to 64, or 8 on "
        "the CPU.",
    )
    prefill_rows: int = Field(
        1024, ge=16, le=16_384, description="Positions of new prompts that are read between two tokens of the others."
    )
    prefix_bytes: int = Field(268_435_456, ge=0, description="Memory for the beginnings of prompts of voices.")

    @property
    def policy(self) -> ChunkPolicy:
        """Chunk sizes in tokens."""
        if self.decoding == "whole":
            return ChunkPolicy(_WHOLE_SEGMENT, 1.0, _WHOLE_SEGMENT)
        return ChunkPolicy(self.first_hop, self.hop_growth, max(self.first_hop, self.max_hop))

    @field_validator("t3_files", "s3gen_files")
    @classmethod
    def _plain_names(cls, files: dict[str, str]) -> dict[str, str]:
        for name in files.values():
            if Path(name).name != name or not name.endswith((".safetensors", ".pt")):
                raise ValueError(f"{name!r} is not the name of a .safetensors or .pt file in the model's folder")
        return files
