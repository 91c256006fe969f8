"""Settings of the codec language model."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Literal

from pydantic import Field, SecretStr

from polyvox.config import CommaList, Settings, SettingsSection
from polyvox.types import Voice

NAME = "speechlm"
LANGUAGES = frozenset({"ms", "en", "zh"})


class SpeechLmSettings(SettingsSection):
    """`POLYVOX_SPEECHLM_…`, and what the engine shares with the Streamable TTS API, which named it first."""

    section: ClassVar[str] = NAME
    names: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "neucodec_dir": "neucodec_dir",
            "remote_model": "streamable_model",
            "playback_speed": "streamable_playback_speed",
            "playback_overlap_speed": "streamable_playback_overlap_speed",
        }
    )

    dir: Path | None = Field(
        None,
        description="Folder of the language model (config.json, tokenizer.json, *.safetensors); `speechlm` in the "
        "folder of models where it is not set.",
    )
    neucodec_dir: Path | None = Field(
        None, description="Folder of NeuCodec's weights; `neucodec` in the folder of models where it is not set."
    )
    url: str = Field(
        "", description="Server with OpenAI's completions API, such as vLLM, that runs the language model instead."
    )
    api_key: SecretStr = Field(SecretStr(""), description="Bearer key for that server.")
    first_token_seconds: float = Field(
        30.0, gt=0, description="How long that server may take to its first token, further attempts included."
    )
    stall_seconds: float = Field(10.0, gt=0, description="How long that server may then send nothing.")
    device: Literal["auto", "cpu", "cuda", "mps"] = Field(
        "auto",
        description="Where it runs; `auto`: on a GPU that works, else on the CPU. "
        "`mps`: Apple's GPU, if it passes the trial.",
    )
    precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="`auto`: bfloat16 on a GPU, float32 on the CPU."
    )
    weights: Literal["auto", "float8"] = Field(
        "auto",
        description="`float8`: linear layers compute in 8 bits on a GPU that can, faster and less exact; "
        "`auto`: as the rest.",
    )
    codec_precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="That of its codec. `auto`: float16 on a GPU where it proves close, else float32."
    )
    cache_bytes: int = Field(
        8_589_934_592, ge=1_048_576, description="Memory for keys and values; decides how many sequences run at once."
    )
    prefix_bytes: int = Field(536_870_912, ge=0, description="Memory for the beginnings of prompts of cloned voices.")
    prefill_rows: int = Field(
        256, ge=16, le=16_384, description="Positions of new prompts that are read between two tokens of the others."
    )
    speakers: CommaList[str] = Field(
        ["husein", "idayu", "jenny"], description="Speakers that the language model was trained on."
    )
    temperature: float = Field(0.6, ge=0, le=2, description="Sampling temperature; 0: the likeliest token.")
    repetition_penalty: float = Field(
        1.15, ge=0.5, le=2, description="How much less likely a token gets that was there before; 1: not at all."
    )
    max_tokens: int = Field(
        3072, ge=1, le=16_384, description="Longest stretch of speech, in tokens (50 are a second)."
    )
    first_seconds: float = Field(
        0.5, ge=0.1, le=10, description="Audio of the first chunk; less starts sooner and sounds rougher."
    )
    chunk_growth: float = Field(2.0, ge=1, le=4, description="How much longer each chunk is than the last.")
    max_seconds: float = Field(5.0, ge=0.1, le=60, description="Longest chunk.")
    past_seconds: float = Field(3.0, ge=0.02, le=10, description="Speech before a chunk that is decoded again.")
    ahead_seconds: float = Field(0.1, ge=0.02, le=2, description="Speech behind a chunk that it waits for.")
    codec_batch: int = Field(16, ge=1, le=256, description="Chunks that are decoded at once.")
    codec_wait: float = Field(
        1e-4, ge=0, le=0.1, description="Seconds that a chunk waits for others to be decoded with."
    )
    graph_seconds: CommaList[float] = Field(
        [0.6, 1.0, 2.0, 4.0, 6.0, 8.2, 10.0],
        description="Lengths of chunks, with the speech around them, for which a GPU's work is captured as CUDA "
        "graphs; empty: none at all.",
    )
    compile: bool = Field(False, description="Whether torch.compile prepares the codec instead of CUDA graphs.")
    remote_model: str = Field("TTS-model", description="The model's name on that server.")
    playback_speed: float = Field(
        1.5, ge=0.02, le=60, description="Seconds of audio in each chunk, for its requests that name none."
    )
    playback_overlap_speed: float = Field(
        0.2, ge=0, le=10, description="Seconds on both sides of a chunk that are decoded with it, likewise."
    )


def built_in_voices(_: str, settings: Settings) -> Sequence[Voice]:
    """The speakers that the settings name."""
    speakers = settings.section(SpeechLmSettings).speakers
    return [Voice(id=name, name=name.capitalize(), language="ms") for name in speakers]
