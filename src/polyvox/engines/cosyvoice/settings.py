"""CosyVoice's settings."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from polyvox.config import SettingsSection
from polyvox.types import ChunkPolicy

WHOLE_SEGMENT = 10_000
"""Tokens that no segment has."""
_MIN_HOP = 25
"""Version 1's shortest chunk: it must be longer than its overlaps at both ends."""

_V1_RELEASES = ("cosyvoice1-sft", "cosyvoice1-instruct")

Executor = Literal["auto", "eager", "cuda_graphs", "onnxruntime", "tensorrt"]
"""`eager` is PyTorch, operation by operation."""


class CosyVoiceSettings(SettingsSection):
    """`POLYVOX_COSYVOICE_…`, and a folder for each version."""

    section: ClassVar[str] = "cosyvoice"
    names: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "version1_dir": "cosyvoice1_dir",
            "version1_hop": "cosyvoice1_hop",
            "version1_end_mark": "cosyvoice1_end_mark",
            "version2_dir": "cosyvoice2_dir",
            "version3_dir": "cosyvoice3_dir",
        }
    )

    version1_dir: Path | None = Field(
        None, description="Folder of a CosyVoice 1 model; `cosyvoice1` in the folder of models where it is not set."
    )
    version1_hop: int = Field(
        100,
        ge=0,
        le=1000,
        description="Tokens of a chunk of version 1 (50 are a second), at least 25; 0: a segment is one chunk, as in "
        "the original without streaming.",
    )
    version1_end_mark: Literal["<endofprompt>", "<|endofprompt|>"] = Field(
        "<endofprompt>", description="What ends an instruction to version 1."
    )
    version2_dir: Path | None = Field(
        None, description="Folder of a CosyVoice 2 model; `cosyvoice2` in the folder of models where it is not set."
    )
    version3_dir: Path | None = Field(
        None, description="Folder of a CosyVoice 3 model; `cosyvoice3` in the folder of models where it is not set."
    )
    lm: Literal["auto", "llm", "llm.rl"] = Field(
        "auto",
        description="Language model to load; `auto`: version 3's second one, `llm.rl`, where the folder has it, else "
        "`llm`.",
    )
    device: Literal["auto", "cpu", "cuda", "mps"] = Field(
        "auto",
        description="Where CosyVoice runs; `auto`: on a GPU that works, else on the CPU. "
        "`mps`: Apple's GPU, if it passes the trial.",
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
        description="Bytes for the flow caches of all streams; 0: 60 % of the memory that is free on the GPU at start, "
        "more where `cosyvoice_streams` needs it, or half of the machine's memory. A stream that gets none is computed "
        "anew with every chunk.",
    )
    original_least: bool = Field(
        False,
        description="Let speech end as early as the original does: version 3's minimum length then has no effect.",
    )
    compile: bool = Field(
        False, description="Compile parts of the flow with PyTorch; the start takes longer, and a compiler is needed."
    )
    flow_executor: Executor = Field(
        "auto",
        description="What runs the flow of versions 2 and 3; `auto`: CUDA graphs on a GPU, PyTorch on the CPU. "
        "`onnxruntime` and `tensorrt` run graphs that `polyvox models export` wrote.",
    )
    vocoder_executor: Executor = Field("auto", description="What runs their vocoder, likewise.")
    onnx_dir: Path | None = Field(
        None,
        description="Folder with the exported graphs of each model in a folder of its name; where it is not set, they "
        "are in `onnx` in the model's folder.",
    )
    onnx_precision: Literal["float32", "int8"] = Field(
        "float32", description="Graphs of the flow that ONNX Runtime runs; `int8` is for the CPU, and less exact."
    )
    onnx_provider: Literal["auto", "cpu", "cuda", "tensorrt"] = Field(
        "auto", description="ONNX Runtime's provider; `auto`: the one of the device that CosyVoice runs on."
    )
    tensorrt_fp16: bool = Field(False, description="Let TensorRT compute in half precision.")
    tensorrt_workspace_bytes: int = Field(
        4 << 30, ge=64 << 20, description="Memory on the GPU that TensorRT may use while it builds and runs engines."
    )
    tensorrt_dir: Path | None = Field(
        None,
        description="Folder where built TensorRT engines are kept; `tensorrt` in the folder of graphs where it is not "
        "set.",
    )
    prompt_bytes: int = Field(
        0,
        ge=0,
        description="Bytes of flow caches kept for the prompts of recent voices, so that none is computed twice; 0: an "
        "eighth of those of all streams.",
    )
    streams: int = Field(
        0,
        ge=0,
        le=256,
        description="Utterances that are spoken at once; 0: as many as a GPU's memory is enough for, up to 64, or 8 "
        "on the CPU.",
    )

    def folder(self, version: int) -> Path | None:
        """The folder set for a version, or None for the default one."""
        return {1: self.version1_dir, 2: self.version2_dir, 3: self.version3_dir}[version]

    def graphs_folder(self, model_folder: Path, version: int) -> Path:
        """The folder of a model's exported graphs."""
        return model_folder / "onnx" if self.onnx_dir is None else self.onnx_dir / f"cosyvoice{version}"

    def policy(self, version: int) -> ChunkPolicy:
        """The chunk sizes of a version, in tokens."""
        if version > 1:
            return ChunkPolicy(self.first_hop, self.hop_growth, self.max_hop)
        hop = self.version1_hop or WHOLE_SEGMENT
        return ChunkPolicy(hop, 1.0, hop)

    @field_validator("version1_hop")
    @classmethod
    def _longer_than_the_overlap(cls, hop: int) -> int:
        if 0 < hop < _MIN_HOP:
            raise ValueError(f"it is 0 or at least {_MIN_HOP}")
        return hop


def installed_folder(models_dir: Path, version: int) -> Path:
    """The folder of a pulled version; of version 1 there are three models, the first that is there is taken."""
    folder = models_dir / f"cosyvoice{version}"
    others = [models_dir / name for name in _V1_RELEASES] if version == 1 else []
    return next((each for each in (folder, *others) if each.is_dir()), folder)
