"""Every knob of the server, once: its type, its default, what it does, and where its present value came from.

A value is looked for in this order: an argument of the command line, the environment (`POLYVOX_PORT`), the file
`.env`, both of these under the names of other servers (`ZIPVOICE_NUM_STEPS`, `TTS_API`), the YAML file named by
`POLYVOX_CONFIG` (or `polyvox.yaml` in the working directory), the default.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, TypeVar, cast

from pydantic import BeforeValidator, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    YamlConfigSettingsSource,
)

from polyvox.errors import InvalidRequestError

ENV_PREFIX = "POLYVOX_"


def _cache_home() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "polyvox"


def _data_home() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "polyvox"


def _split_commas(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _without_brackets(value: object) -> object:
    """A list that is written as other servers' variables write it."""
    return value.strip().removeprefix("[").removesuffix("]") if isinstance(value, str) else value


_Item = TypeVar("_Item")
_Listed = Annotated[list[_Item], NoDecode, BeforeValidator(_split_commas)]


class Settings(BaseSettings):
    """The effective settings of one process; immutable."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        env_file=".env",
        dotenv_filtering="match_prefix",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
    )

    # Doors
    host: str = Field("127.0.0.1", description="Address to bind; loopback unless you decide otherwise.")
    port: int = Field(8880, ge=0, le=65535, description="Port to bind; 0 takes a free one.")
    server: Literal["uvicorn", "granian"] = Field(
        "uvicorn", description="What speaks HTTP; granian is written in Rust."
    )
    grpc_port: int | None = Field(
        None, ge=0, le=65535, description="Port of the gRPC doors; 0 takes a free one, unset: none are opened."
    )
    grpc_max_calls: int = Field(
        0, ge=0, description="Calls for speech at once over gRPC; 0: as many as `max_sessions` and `max_queue` allow."
    )
    api_keys: _Listed[SecretStr] = Field([], description="Bearer keys; empty means that no key is asked for.")
    allowed_hosts: _Listed[str] = Field(
        [], description="Names by which a server on loopback without keys may be called, too; `*` allows all."
    )
    cors_origins: _Listed[str] = Field([], description="Origins allowed by CORS; `*` allows all.")
    max_body_bytes: int = Field(4_194_304, ge=1024, description="Largest request body that is read.")
    max_input_chars: int = Field(100_000, ge=1, description="Longest text of one request, in characters.")
    allow_voice_download: bool = Field(True, description="Whether /v1/audio/voices/combine may return the mixed voice.")

    # Models
    models_dir: Path = Field(
        default_factory=lambda: _cache_home() / "models", description="Folder of installed models."
    )
    models: _Listed[str] = Field(["kokoro"], description="Models to load when the server starts.")
    default_model: str = Field("kokoro", description="Model for requests that name none, or name one of OpenAI's.")
    default_voice: str = Field("af_heart", description="Voice for requests that name none.")
    hub_url: str = Field("https://huggingface.co", description="Hugging Face hub, or a mirror of it.")
    modelscope_url: str = Field("https://modelscope.cn", description="ModelScope's hub, or a mirror of it.")

    # Kokoro
    kokoro_executor: Literal["auto", "onnx", "native"] = Field(
        "auto",
        description="What runs Kokoro: ONNX Runtime, or PyTorch (`native`); `auto`: PyTorch on a GPU that works, else "
        "ONNX Runtime.",
    )
    kokoro_workers: int = Field(1, ge=1, le=64, description="Calls of ONNX Runtime that run side by side.")
    kokoro_threads: int = Field(0, ge=0, le=256, description="Threads of each such call; 0 shares the cores out.")
    kokoro_device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="Where PyTorch runs it; `auto`: on a GPU that works, else on the CPU."
    )
    kokoro_precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="Of its sound in PyTorch; `auto`: float16 on a GPU, float32 on the CPU."
    )
    kokoro_batch: int = Field(
        0, ge=0, le=256, description="Chunks that PyTorch speaks at once; 0: 32 on a GPU, 1 on the CPU."
    )
    kokoro_graph_seconds: Annotated[_Listed[float], BeforeValidator(_without_brackets)] = Field(
        [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 11.0, 14.0],
        description="Lengths of chunks for which a GPU's work is recorded as CUDA graphs; empty: none at all.",
    )
    kokoro_weights: Path | None = Field(
        None, description="The released kokoro-v1_0.pth, for PyTorch; the installed model's weights where not set."
    )
    first_chunk_phonemes: int = Field(
        32, ge=10, le=510, description="Aim for the first chunk: short, so that audio starts."
    )
    chunk_growth: float = Field(2.0, ge=1.0, le=10.0, description="How much longer each chunk may be than the last.")
    max_chunk_phonemes: int = Field(200, ge=20, le=510, description="Longest chunk, in phonemes.")
    espeak: str = Field("espeak-ng", description="espeak-ng program, used where it is installed.")

    # Hall
    max_sessions: int = Field(32, ge=1, description="Requests that are spoken at once.")
    max_queue: int = Field(64, ge=0, description="Requests that may wait; beyond that the answer is 429.")
    session_buffer: int = Field(
        4, ge=1, le=64, description="Chunks that wait for a slow client before its session pauses."
    )
    deadline_seconds: float = Field(600.0, gt=0, description="Longest life of one request.")
    stall_seconds: float = Field(60.0, gt=0, description="How long a client may read nothing before it is dropped.")
    drain_seconds: float = Field(30.0, ge=0, description="How long open streams may finish at shutdown.")
    dialogue_max_turns: int = Field(500, ge=1, description="Most turns of one dialogue.")
    dialogue_max_voices: int = Field(8, ge=1, le=64, description="Most voices in one dialogue.")

    # Reference recordings
    prompt_max_bytes: int = Field(
        10_485_760, ge=1024, le=33_554_432, description="Largest reference recording, in bytes."
    )
    prompt_min_seconds: float = Field(1.0, gt=0, description="Shortest reference recording, silence cut from its ends.")
    prompt_max_seconds: float = Field(
        30.0, gt=0, le=60, description="Longest reference recording, silence cut from its ends."
    )
    prompt_min_score: float = Field(
        0.3, ge=0, le=1, description="Quality below which a reference recording is refused; 0 takes all."
    )
    prompt_workers: int = Field(2, ge=1, le=64, description="Reference recordings that are read and checked at once.")
    allow_fetch: bool = Field(False, description="Whether reference recordings may be fetched by their URL.")
    fetch_allow_hosts: _Listed[str] = Field(
        [],
        description="Hosts to fetch from: `name`, `name:port` or `*.name`; empty means all, at their standard port.",
    )
    fetch_allow_http: bool = Field(False, description="Whether plain http may be fetched as well as https.")
    fetch_max_bytes: int = Field(10_485_760, ge=1024, description="Largest file that is fetched.")
    fetch_timeout_seconds: float = Field(10.0, gt=0, le=120, description="Longest fetch, redirects included.")

    allow_inline: bool = Field(True, description="Whether requests for speech may carry a reference recording.")
    recording_dirs: _Listed[Path] = Field(
        [], description="Folders whose files requests may name by their path as reference recordings; empty: none."
    )

    # Registered voices
    data_dir: Path = Field(default_factory=_data_home, description="Folder of registered voices; on a local disk.")
    max_voices: int = Field(1_000, ge=0, description="Voices that one key may register, or everyone without keys.")
    max_fits: int = Field(4, ge=0, le=100, description="Fits of voices that may run or wait; one runs at a time.")
    fit_steps: int = Field(
        0, ge=0, le=1_000, description="Steps of a fit, of which more come closer; 0: as many as suit the device."
    )
    fit_threads: int = Field(0, ge=0, le=1_024, description="CPU threads of a fit; 0 takes all cores.")
    recording_cache_bytes: int = Field(
        67_108_864, ge=0, description="Memory for recordings that were fetched, and as much for those sent inline."
    )
    recording_cache_seconds: float = Field(3_600.0, gt=0, description="How long such a recording is kept.")
    prepared_cache_bytes: int = Field(268_435_456, ge=0, description="Memory for voices that engines have prepared.")
    prepared_cache_seconds: float = Field(86_400.0, gt=0, description="How long a prepared voice is kept in memory.")
    prepared_disk_bytes: int = Field(0, ge=0, description="Disk space for prepared voices; 0 uses memory only.")
    prepared_disk_seconds: float = Field(2_592_000.0, gt=0, description="How long an unused one is kept on disk.")

    # CosyVoice
    cosyvoice2_dir: Path | None = Field(
        None, description="Folder of a CosyVoice 2 model; `cosyvoice2` in the folder of models where it is not set."
    )
    cosyvoice3_dir: Path | None = Field(
        None, description="Folder of a CosyVoice 3 model; `cosyvoice3` in the folder of models where it is not set."
    )
    cosyvoice_lm: Literal["llm", "llm.rl"] = Field(
        "llm", description="Language model to load; version 3 has a second one, `llm.rl`."
    )
    cosyvoice_device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="Where CosyVoice runs; `auto`: on a GPU that works, else on the CPU."
    )
    cosyvoice_precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="Of language model and flow; `auto`: bfloat16 on a GPU, float32 on the CPU."
    )
    cosyvoice_first_hop: int = Field(
        25, ge=5, le=100, description="Tokens of the first chunk (25 are a second); fewer start sooner."
    )
    cosyvoice_hop_growth: float = Field(2.0, ge=1, le=4, description="How much longer each chunk is than the last.")
    cosyvoice_max_hop: int = Field(100, ge=25, le=500, description="Longest chunk, in tokens.")
    cosyvoice_flow_memory: Literal["full", "window", "recompute"] = Field(
        "full",
        description="What a stream keeps: all, exactly; a window, approximately; or nothing, computing all again.",
    )
    cosyvoice_flow_window: int = Field(
        500, ge=100, le=15_000, description="Frames (50 are a second) that a window holds."
    )
    cosyvoice_flow_bytes: int = Field(
        0,
        ge=0,
        description="Memory for what all streams keep; 0: half of what is free at start on a GPU, of all else. "
        "A stream for which there is none left computes all again.",
    )
    cosyvoice_original_least: bool = Field(
        False,
        description="Let speech end as early as the original does: version 3's least length then has no effect.",
    )
    cosyvoice_compile: bool = Field(
        False, description="Compile parts of the flow with PyTorch; the start takes longer, and a compiler is needed."
    )
    cosyvoice_streams: int = Field(8, ge=1, le=256, description="Utterances whose streams are kept at once.")

    # ZipVoice
    zipvoice_device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="Where ZipVoice runs; `auto`: on a GPU that works, else on the CPU."
    )
    zipvoice_executor: Literal["torch", "onnx", "onnx-int8"] = Field(
        "torch", description="What runs ZipVoice: PyTorch, or ONNX Runtime on the CPU, in full or in 8-bit precision."
    )

    # ZipVoice's dialect
    zipvoice_model: str = Field("zipvoice", description="Model for its requests that name none.")
    zipvoice_num_steps: int = Field(8, ge=1, le=32, description="Inference steps for its requests that name none.")
    zipvoice_remove_long_silence: bool = Field(True, description="Whether long silences are cut unless asked.")
    zipvoice_speed_multiplier: float = Field(1.0, gt=0, le=4, description="Factor on the speed of its requests.")

    # Codec language model
    speechlm_dir: Path | None = Field(
        None,
        description="Folder of the language model (config.json, tokenizer.json, *.safetensors); `speechlm` in the "
        "folder of models where it is not set.",
    )
    neucodec_dir: Path | None = Field(
        None, description="Folder of NeuCodec's weights; `neucodec` in the folder of models where it is not set."
    )
    speechlm_url: str = Field(
        "", description="Server with OpenAI's completions API, such as vLLM, that runs the language model instead."
    )
    speechlm_api_key: SecretStr = Field(SecretStr(""), description="Bearer key for that server.")
    speechlm_first_token_seconds: float = Field(
        30.0, gt=0, description="How long that server may take to its first token, further attempts included."
    )
    speechlm_stall_seconds: float = Field(10.0, gt=0, description="How long that server may then send nothing.")
    speechlm_device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="Where it runs; `auto`: on a GPU that works, else on the CPU."
    )
    speechlm_precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="`auto`: bfloat16 on a GPU, float32 on the CPU."
    )
    speechlm_codec_precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="That of its codec. `auto`: float16 on a GPU where it proves close, else float32."
    )
    speechlm_cache_bytes: int = Field(
        8_589_934_592, ge=1_048_576, description="Memory for keys and values; decides how many sequences run at once."
    )
    speechlm_prefix_bytes: int = Field(
        536_870_912, ge=0, description="Memory for the beginnings of prompts of cloned voices."
    )
    speechlm_prefill_rows: int = Field(
        256, ge=16, le=16_384, description="Positions of new prompts that are read between two tokens of the others."
    )
    speechlm_speakers: _Listed[str] = Field(
        ["husein", "idayu", "jenny"], description="Speakers that the language model was trained on."
    )
    speechlm_temperature: float = Field(0.6, ge=0, le=2, description="Sampling temperature; 0: the likeliest token.")
    speechlm_repetition_penalty: float = Field(
        1.15, ge=0.5, le=2, description="How much less likely a token gets that was there before; 1: not at all."
    )
    speechlm_max_tokens: int = Field(
        3072, ge=1, le=16_384, description="Longest stretch of speech, in tokens (50 are a second)."
    )
    speechlm_first_seconds: float = Field(
        0.5, ge=0.1, le=10, description="Audio of the first chunk; less starts sooner and sounds rougher."
    )
    speechlm_chunk_growth: float = Field(2.0, ge=1, le=4, description="How much longer each chunk is than the last.")
    speechlm_max_seconds: float = Field(5.0, ge=0.1, le=60, description="Longest chunk.")
    speechlm_past_seconds: float = Field(
        3.0, ge=0.02, le=10, description="Speech before a chunk that is decoded again."
    )
    speechlm_ahead_seconds: float = Field(0.1, ge=0.02, le=2, description="Speech behind a chunk that it waits for.")
    speechlm_codec_batch: int = Field(16, ge=1, le=256, description="Chunks that are decoded at once.")
    speechlm_codec_wait: float = Field(
        1e-4, ge=0, le=0.1, description="Seconds that a chunk waits for others to be decoded with."
    )
    speechlm_graph_seconds: Annotated[_Listed[float], BeforeValidator(_without_brackets)] = Field(
        [0.5, 1.0, 2.0, 4.0, 8.0, 10.0],
        description="Lengths of chunks for which a GPU's work is recorded as CUDA graphs; empty: none at all.",
    )
    speechlm_compile: bool = Field(
        False, description="Whether torch.compile prepares the codec instead of CUDA graphs."
    )

    # The Streamable TTS API
    streamable_model: str = Field(
        "TTS-model",
        description="Name that asks for the codec language model in this dialect, and that server's name of it.",
    )
    streamable_voice: str = Field("husein", description="Voice for its requests that name none.")
    streamable_playback_speed: float = Field(
        1.5, ge=0.02, le=60, description="Seconds of audio in each chunk, for its requests that name none."
    )
    streamable_playback_overlap_speed: float = Field(
        0.2, ge=0, le=10, description="Seconds on both sides of a chunk that are decoded with it, likewise."
    )

    # Ray Serve; a model's own figures can be given in ray.yaml
    ray_min_replicas: int = Field(1, ge=0, le=1_000, description="Fewest processes of one model.")
    ray_initial_replicas: int = Field(1, ge=0, le=1_000, description="Processes of one model at the start.")
    ray_max_replicas: int = Field(2, ge=1, le=1_000, description="Most processes of one model.")
    ray_target_ongoing_requests: float = Field(
        2.0, gt=0, description="Requests that one process should have at a time; more or fewer processes follow it."
    )
    ray_max_ongoing_requests: int = Field(5, ge=1, description="Requests that one process takes at a time.")
    ray_max_queued_requests: int = Field(
        20, ge=1, description="Requests for one model that may wait for a process; beyond that the answer is 429."
    )
    ray_upscale_delay_seconds: float = Field(5.0, ge=0, description="How long a load lasts before a process is added.")
    ray_downscale_delay_seconds: float = Field(120.0, ge=0, description="How long a lull lasts before one is removed.")
    ray_gpus: float | None = Field(
        None,
        ge=0,
        description="GPUs of one process, or a share of one; unset: 1 for models that use it, if there is one.",
    )
    ray_threads: int = Field(
        0, ge=0, le=1_024, description="CPU threads of one process; 0 shares the cores out among the most processes."
    )
    ray_ingress_replicas: int = Field(1, ge=1, le=64, description="Processes that hold the doors.")
    ray_wedged_seconds: float = Field(
        60.0, gt=0, description="How long a model may make nothing while callers wait before its process is replaced."
    )
    ray_probe_seconds: float = Field(60.0, gt=0, description="How long a model may be idle before it is tried.")
    ray_health_seconds: float = Field(
        10.0,
        gt=0,
        description="How often a process is asked whether it is well; after three bad answers it is replaced.",
    )

    # Logs
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Lowest level that is logged.")
    log_format: Literal["auto", "console", "json"] = Field(
        "auto", description="`auto`: console on a terminal, else JSON."
    )
    log_file: Path | None = Field(None, description="Also log here, rotated and compressed.")
    log_file_bytes: int = Field(10_485_760, ge=4096, description="Size at which the log file rotates.")
    log_file_keep: int = Field(10, ge=1, description="Rotated log files to keep.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        yaml_settings = YamlConfigSettingsSource(settings_cls, config_file())
        names = ZipVoiceNames(settings_cls), StreamableNames(settings_cls), RayServeNames(settings_cls)
        return init_settings, env_settings, dotenv_settings, *names, yaml_settings


def _bytes_from_megabytes(value: str) -> str:
    try:
        return str(int(float(value) * 1024 * 1024))
    except (ValueError, OverflowError):
        return value


class ForeignNames(PydanticBaseSettingsSource):
    """Variables as another server names them, in the environment or in `.env`, where they map."""

    names: ClassVar[Mapping[str, str]]

    def __init__(self, settings_cls: type[BaseSettings]) -> None:
        super().__init__(settings_cls)
        env, dotenv = EnvSettingsSource(settings_cls), DotEnvSettingsSource(settings_cls)
        self.variables = {**dotenv.env_vars, **env.env_vars}

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[str | None, str, bool]:
        """The value for one field, in text."""
        return self.variables.get(self.names.get(field_name, "")), field_name, False

    def __call__(self) -> dict[str, Any]:
        fields = self.settings_cls.model_fields
        found = {name: self.get_field_value(fields[name], name)[0] for name in self.names}
        return {name: value for name, value in found.items() if value is not None}


class ZipVoiceNames(ForeignNames):
    """The variables of servers with ZipVoice's dialect."""

    names: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "default_model": "default_backend",
            "zipvoice_model": "zipvoice_model",
            "zipvoice_num_steps": "zipvoice_num_steps",
            "zipvoice_remove_long_silence": "zipvoice_remove_long_silence",
            "zipvoice_speed_multiplier": "zipvoice_speed_multiplier",
            "data_dir": "zipvoice_cache_dir",
            "prompt_max_seconds": "zipvoice_max_prompt_duration",
            "allow_fetch": "zipvoice_allow_url_download",
            "allow_inline": "zipvoice_allow_base64",
            "fetch_max_bytes": "zipvoice_max_download_size_mb",
        }
    )

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[str | None, str, bool]:
        """The value for one field, in text."""
        value, name, is_complex = super().get_field_value(field, field_name)
        if value is not None and self.names[field_name].endswith("_mb"):
            value = _bytes_from_megabytes(value)
        return value, name, is_complex


class StreamableNames(ForeignNames):
    """The variables of the Streamable TTS API."""

    names: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "speechlm_url": "tts_api",
            "streamable_model": "model_name",
            "streamable_voice": "default_speaker",
            "speechlm_speakers": "speakers",
            "speechlm_temperature": "default_temperature",
            "speechlm_repetition_penalty": "default_repetition_penalty",
            "speechlm_max_tokens": "default_max_tokens",
            "streamable_playback_speed": "default_playback_speed",
            "streamable_playback_overlap_speed": "default_playback_overlap_speed",
            "speechlm_codec_batch": "max_batch_size",
            "speechlm_codec_wait": "microsleep",
            "speechlm_graph_seconds": "cuda_graph_batch",
            "speechlm_compile": "torch_compile",
        }
    )

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[str | None, str, bool]:
        """The value for one field, in text. Without dynamic batching every chunk is a batch of its own."""
        value, name, is_complex = super().get_field_value(field, field_name)
        batching = (self.variables.get("dynamic_batching") or "").strip().lower()
        if field_name == "speechlm_codec_batch" and batching == "false":
            value = "1"
        return value, name, is_complex


class RayServeNames(ForeignNames):
    """The variables of the CosyVoice Ray Serve API."""

    names: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "port": "serve_port",
            "ray_min_replicas": "min_replicas",
            "ray_initial_replicas": "initial_replicas",
            "ray_max_replicas": "max_replicas",
            "ray_target_ongoing_requests": "target_ongoing_requests",
            "ray_max_ongoing_requests": "max_ongoing_requests_per_replica",
            "ray_max_queued_requests": "max_queued_requests_deployment",
        }
    )


def config_file() -> Path:
    """The YAML file that applies, whether or not it exists."""
    return Path(os.environ.get(f"{ENV_PREFIX}CONFIG") or "polyvox.yaml")


def load(**arguments: object) -> Settings:
    """Read the settings; arguments that are None count as not given."""
    given = {name: value for name, value in arguments.items() if value is not None}
    named = os.environ.get(f"{ENV_PREFIX}CONFIG")
    if named and not Path(named).is_file():
        raise InvalidRequestError(f"{ENV_PREFIX}CONFIG names {named!r}, which is not a file.", field="config")
    try:
        return Settings(**cast(dict[str, Any], given))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidRequestError(f"Setting {name!r}: {first['msg']}.", field=name) from error


@dataclass(frozen=True, slots=True)
class Origin:
    """One setting as it stands: name, value (secrets hidden), source and meaning."""

    name: str
    value: object
    source: str
    description: str


def origins(settings: Settings) -> Iterator[Origin]:
    """Where each effective value came from, in the order of the class."""
    sources: dict[str, PydanticBaseSettingsSource] = {
        "environment": EnvSettingsSource(Settings),
        ".env": DotEnvSettingsSource(Settings),
        "ZipVoice's names": ZipVoiceNames(Settings),
        "the Streamable TTS API's names": StreamableNames(Settings),
        "the CosyVoice Ray Serve API's names": RayServeNames(Settings),
        str(config_file()): YamlConfigSettingsSource(Settings, config_file()),
    }
    found = {label: source() for label, source in sources.items()}
    without_arguments = load()
    values = settings.model_dump(mode="json")
    for name, info in Settings.model_fields.items():
        source = next((label for label, data in found.items() if name in data), "default")
        if getattr(settings, name) != getattr(without_arguments, name):
            source = "command line"
        yield Origin(name, values[name], source, info.description or "")
