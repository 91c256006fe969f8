"""Kokoro's settings."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Literal

from pydantic import Field

from polyvox.config import CommaList, SettingsSection
from polyvox.runtime.text_workers.setting import TextWorkerCount
from polyvox.types import ChunkPolicy

GPU_CHUNK_GROWTH = 2.5
PIECES_CHUNK_GROWTH = 2.0


class KokoroSettings(SettingsSection):
    """`POLYVOX_KOKORO_…`; the chunk sizes are older than the prefix and have none."""

    section: ClassVar[str] = "kokoro"
    names: ClassVar[Mapping[str, str]] = MappingProxyType(
        {name: name for name in ("first_chunk_phonemes", "chunk_growth", "max_chunk_phonemes")}
    )

    executor: Literal["auto", "onnx", "native"] = Field(
        "auto",
        description="What runs Kokoro: ONNX Runtime, or PyTorch (`native`); `auto`: PyTorch on a working GPU, else "
        "ONNX Runtime.",
    )
    decoder: Literal["auto", "full", "wren"] = Field(
        "auto",
        description="What the model `kokoro` decodes with: its own decoder (`full`), or a small one that costs a "
        "fraction of it on the CPU (`wren`); `auto`: `full`. The model `wren` always has the small one.",
    )
    workers: int = Field(
        1,
        ge=1,
        le=64,
        description="ONNX Runtime calls that run in parallel; unless set, the model `wren` has one for each core.",
    )
    threads: int = Field(
        0, ge=0, le=256, description="CPU threads of each such call; 0 shares the cores out, and `wren` then has one."
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="Where PyTorch runs it; `auto`: on a working GPU, else on the CPU."
    )
    precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="Precision of the decoder in PyTorch; `auto`: float16 on a GPU, float32 on the CPU."
    )
    batch: int = Field(
        0, ge=0, le=256, description="Largest batch in PyTorch, in chunks; 0: 32 on a GPU, 1 on the CPU."
    )
    graph_seconds: CommaList[float] = Field(
        [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 11.0, 14.0],
        description="Chunk lengths for which CUDA graphs are captured; empty: none.",
    )
    text_workers: TextWorkerCount = None
    weights: Path | None = Field(
        None, description="The released kokoro-v1_0.pth, for PyTorch; the installed model's weights where not set."
    )
    first_chunk_phonemes: int = Field(
        32, ge=10, le=510, description="Target length of the first chunk: short, so that audio starts soon."
    )
    chunk_growth: float = Field(
        1.4,
        ge=1.0,
        le=10.0,
        description="How many times longer each chunk may be than the one before; unless set, 2.5 on a GPU, and 2 "
        "for `wren` on ONNX Runtime.",
    )
    max_chunk_phonemes: int = Field(200, ge=20, le=510, description="Longest chunk, in phonemes.")
    voice_levels: Literal["even", "raw"] = Field(
        "even",
        description="Whether all voices are brought to one loudness, with peaks limited to -1 dB (`even`), or left as "
        "the model speaks them (`raw`).",
    )
    sentence_pause: float = Field(
        0.42,
        ge=0,
        le=3,
        description="Least silence after a sentence, a question, an exclamation or an ellipsis, in seconds at speed 1; "
        "0: the model's own, which is often none.",
    )
    clause_pause: float = Field(
        0.18,
        ge=0,
        le=3,
        description="Least silence after a colon, a semicolon or a dash, in seconds at speed 1; 0: the model's own.",
    )

    def chunk_policy(self, *, on_gpu: bool, in_pieces: bool) -> ChunkPolicy:
        """The sizes of chunks. A GPU is so far ahead of the listener that they may grow faster, and they cost less.

        Chunks that are heard in pieces are whole sentences: they need not end for audio to start.
        """
        growth = self.chunk_growth
        if "chunk_growth" not in self.model_fields_set and (on_gpu or in_pieces):
            growth = GPU_CHUNK_GROWTH if on_gpu else PIECES_CHUNK_GROWTH
        return ChunkPolicy(self.first_chunk_phonemes, growth, self.max_chunk_phonemes, in_pieces)
