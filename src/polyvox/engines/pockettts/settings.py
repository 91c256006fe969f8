"""Settings of Pocket TTS."""

from typing import ClassVar, Literal

from pydantic import Field

from polyvox.engines.kit.settings import FrameSettings


class PocketTtsSettings(FrameSettings):
    """`POLYVOX_POCKETTTS_…`."""

    section: ClassVar[str] = "pockettts"

    precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto",
        description="Of the language model on a GPU; `auto`: bfloat16. Its head and the codec stay float32.",
    )
    weights: Literal["auto", "int8", "float32"] = Field(
        "auto",
        description="Of the linear layers on the CPU; `auto`: 8 bits. `float32` is exact, and twice as slow.",
    )
    executor: Literal["auto", "onnx", "torch"] = Field(
        "auto", description="What computes on the CPU; `auto`: ONNX Runtime, which is the faster one."
    )
    threads: int = Field(1, ge=1, le=64, description="Threads of the language model, and as many of the codec.")
    streams: int = Field(8, ge=1, le=512, description="Sentences that are spoken at once.")
    steps: int = Field(1, ge=1, le=64, description="Steps of the flow head for each frame, where it knows steps.")
    voice_states: int = Field(16, ge=1, le=1024, description="Ready voices that are kept in memory, 6 MB each.")
