"""Settings of Qwen3-TTS."""

from typing import ClassVar, Literal

from pydantic import Field

from polyvox.engines.kit.settings import FrameSettings


class Qwen3TtsSettings(FrameSettings):
    """`POLYVOX_QWEN3TTS_…`."""

    section: ClassVar[str] = "qwen3tts"

    precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto",
        description="Of the language model; `auto`: bfloat16 on a GPU, float32 on the CPU. The codec stays float32.",
    )
    weights: Literal["auto", "float8"] = Field(
        "auto",
        description="`float8`: linear layers compute in 8 bits on a GPU that can, faster and less exact; "
        "`auto`: as the rest.",
    )
    layout: Literal["auto", "streaming", "whole"] = Field(
        "auto",
        description="How a text that is there whole is read. `streaming`: along with the speech; `whole`: before it; "
        "`auto`: as the original does, which streams it for cloned voices.",
    )
    streams: int = Field(
        64, ge=1, le=512, description="Sentences that are spoken at once; fewer where a GPU's memory ends."
    )
    max_frames: int = Field(
        1000, ge=25, le=8192, description="Longest stretch of speech, in frames (12.5 are a second)."
    )
    prefix_bytes: int = Field(268_435_456, ge=0, description="Memory for the beginnings of prompts of voices.")
    prefill_rows: int = Field(
        512, ge=16, le=16_384, description="Positions of new prompts that are read between two frames of the others."
    )
    voice_states: int = Field(32, ge=1, le=1024, description="Cloned voices whose decoder state is kept, 5 MB each.")
