"""CosyVoice's settings."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Literal

from pydantic import Field

from polyvox.config import SettingsSection


class CosyVoiceSettings(SettingsSection):
    """`POLYVOX_COSYVOICE_…`, and a folder for each version."""

    section: ClassVar[str] = "cosyvoice"
    names: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"version2_dir": "cosyvoice2_dir", "version3_dir": "cosyvoice3_dir"}
    )

    version2_dir: Path | None = Field(
        None, description="Folder of a CosyVoice 2 model; `cosyvoice2` in the folder of models where it is not set."
    )
    version3_dir: Path | None = Field(
        None, description="Folder of a CosyVoice 3 model; `cosyvoice3` in the folder of models where it is not set."
    )
    lm: Literal["llm", "llm.rl"] = Field(
        "llm", description="Language model to load; version 3 has a second one, `llm.rl`."
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="Where CosyVoice runs; `auto`: on a GPU that works, else on the CPU."
    )
    precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="Of language model and flow; `auto`: bfloat16 on a GPU, float32 on the CPU."
    )
    first_hop: int = Field(
        25, ge=5, le=100, description="Tokens of the first chunk (25 are a second); fewer start sooner."
    )
    hop_growth: float = Field(2.0, ge=1, le=4, description="How much longer each chunk is than the last.")
    max_hop: int = Field(100, ge=25, le=500, description="Longest chunk, in tokens.")
    flow_memory: Literal["full", "window", "recompute"] = Field(
        "full",
        description="Cache of the flow in each stream: `full` (exact), `window` (approximate) or `recompute` (none).",
    )
    flow_window: int = Field(500, ge=100, le=15_000, description="Frames of the window (50 are a second).")
    flow_bytes: int = Field(
        0,
        ge=0,
        description="Bytes for the flow caches of all streams; 0: half of the memory that is free on the GPU at start, "
        "or half of the machine's memory. A stream that gets none is computed anew with every chunk.",
    )
    original_least: bool = Field(
        False,
        description="Let speech end as early as the original does: version 3's minimum length then has no effect.",
    )
    compile: bool = Field(
        False, description="Compile parts of the flow with PyTorch; the start takes longer, and a compiler is needed."
    )
    streams: int = Field(8, ge=1, le=256, description="Utterances that are spoken at once.")

    def folder(self, version: int) -> Path | None:
        """The folder set for a version, or None for the default one."""
        return self.version2_dir if version == 2 else self.version3_dir
