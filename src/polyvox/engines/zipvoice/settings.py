"""ZipVoice's settings."""

from typing import ClassVar, Literal

from pydantic import Field

from polyvox.config import SettingsSection
from polyvox.runtime.text_workers.setting import TextWorkerCount


class ZipVoiceSettings(SettingsSection):
    """`POLYVOX_ZIPVOICE_…`, as far as it is about the engine: the dialect of the same name has settings of its own."""

    section: ClassVar[str] = "zipvoice"

    device: Literal["auto", "cpu", "cuda", "mps"] = Field(
        "auto",
        description="Where ZipVoice runs; `auto`: on a GPU that works, else on the CPU. "
        "`mps`: Apple's GPU, if it passes the trial.",
    )
    executor: Literal["torch", "onnx", "onnx-int8"] = Field(
        "torch", description="What runs ZipVoice: PyTorch, or ONNX Runtime on the CPU, in full or in 8-bit precision."
    )
    precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="Of the acoustic model in PyTorch; `auto`: float16 on a GPU, float32 on the CPU."
    )
    graph_seconds: float = Field(
        16.5,
        ge=0,
        le=30,
        description="Longest chunk, prompt included, whose steps are captured as CUDA graphs on a GPU; 0: none.",
    )
    text_workers: TextWorkerCount = None
