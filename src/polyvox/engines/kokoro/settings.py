"""Kokoro's settings."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Literal

from pydantic import Field

from polyvox.config import CommaList, SettingsSection


class KokoroSettings(SettingsSection):
    """`POLYVOX_KOKORO_…`; the chunk sizes are older than the prefix and go without it."""

    section: ClassVar[str] = "kokoro"
    names: ClassVar[Mapping[str, str]] = MappingProxyType(
        {name: name for name in ("first_chunk_phonemes", "chunk_growth", "max_chunk_phonemes")}
    )

    executor: Literal["auto", "onnx", "native"] = Field(
        "auto",
        description="What runs Kokoro: ONNX Runtime, or PyTorch (`native`); `auto`: PyTorch on a GPU that works, else "
        "ONNX Runtime.",
    )
    workers: int = Field(1, ge=1, le=64, description="Calls of ONNX Runtime that run side by side.")
    threads: int = Field(0, ge=0, le=256, description="Threads of each such call; 0 shares the cores out.")
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="Where PyTorch runs it; `auto`: on a GPU that works, else on the CPU."
    )
    precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="Of its sound in PyTorch; `auto`: float16 on a GPU, float32 on the CPU."
    )
    batch: int = Field(0, ge=0, le=256, description="Chunks that PyTorch speaks at once; 0: 32 on a GPU, 1 on the CPU.")
    graph_seconds: CommaList[float] = Field(
        [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 11.0, 14.0],
        description="Lengths of chunks for which a GPU's work is recorded as CUDA graphs; empty: none at all.",
    )
    weights: Path | None = Field(
        None, description="The released kokoro-v1_0.pth, for PyTorch; the installed model's weights where not set."
    )
    first_chunk_phonemes: int = Field(
        32, ge=10, le=510, description="Aim for the first chunk: short, so that audio starts."
    )
    chunk_growth: float = Field(2.0, ge=1.0, le=10.0, description="How much longer each chunk may be than the last.")
    max_chunk_phonemes: int = Field(200, ge=20, le=510, description="Longest chunk, in phonemes.")
