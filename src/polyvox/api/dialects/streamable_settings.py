"""Settings of the Streamable TTS API's dialect, and that server's variables."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from pydantic import Field

from polyvox.config import Settings, SettingsSection
from polyvox.settings_loader import ForeignVariables

STREAMABLE_MODEL = "speechlm"
"""The model that the dialect's own name of a model stands for."""


class StreamableSettings(SettingsSection):
    """Defaults of this dialect; some are the engine's too, under the same names."""

    section: ClassVar[str] = "streamable"

    model: str = Field(
        "TTS-model",
        description="Name that asks for the codec language model in this dialect, and that server's name of it.",
    )
    voice: str = Field("husein", description="Voice for its requests that name none.")
    playback_speed: float = Field(
        1.5, ge=0.02, le=60, description="Seconds of audio in each chunk, for its requests that name none."
    )
    playback_overlap_speed: float = Field(
        0.2,
        ge=0,
        le=10,
        description="Seconds on both sides of a chunk that are decoded with it, for its requests that name none.",
    )


_OWN_VARIABLES = frozenset(("default_speaker", "speakers", "default_playback_speed", "default_playback_overlap_speed"))
"""Variables that no other server has; `MODEL_NAME` many have."""


def _derived(variables: Mapping[str, str]) -> Mapping[str, str]:
    """That server has one model, and without dynamic batching every chunk is a batch of its own."""
    batching = variables.get("dynamic_batching", "").strip().lower()
    batch = {"speechlm_codec_batch": "1"} if batching == "false" else {}
    name, usual = variables.get("model_name"), StreamableSettings.model_fields["model"].default
    by_name = name is not None and (name == usual or bool(_OWN_VARIABLES & variables.keys()))
    default = variables.get("default_model")
    if "polyvox_models" in variables:
        return batch
    if "tts_api" in variables or by_name or (default is not None and default == (name or usual)):
        return batch | {"models": STREAMABLE_MODEL, "default_model": STREAMABLE_MODEL}
    return batch


def _settled(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The dialect's name of its model may be the default model's."""
    usual = StreamableSettings.model_fields["model"].default
    if values.get("default_model") != values.get("streamable_model", usual):
        return {}
    models = values.get("models", Settings.model_fields["models"].get_default(call_default_factory=True))
    loaded = [name.strip() for name in models.split(",")] if isinstance(models, str) else list(models)
    return {"default_model": STREAMABLE_MODEL, "models": list(dict.fromkeys((*loaded, STREAMABLE_MODEL)))}


_VLLM = "it is an option of the language model's own server"
_CHUNKS = "chunks are decoded with their context and join without a seam"
_LEVELS = "the level is the model's own; send `volume_multiplier` with the request"
_RULES = "texts are read out by rules; there is no mode `llm`"
_CONTEXT = "a context of WS /v1/realtime/speech keeps one voice over many texts"
_TRACES = "set POLYVOX_OTLP_ENDPOINT and POLYVOX_TRACE_SAMPLE_RATIO"
_DUMMY = "no canned tokens are replayed; without TTS_API the language model runs in this process"

STREAMABLE_VARIABLES = ForeignVariables(
    "the Streamable TTS API's",
    MappingProxyType(
        {
            "speechlm_url": "tts_api",
            "speechlm_api_key": "tts_api_key",
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
            "speechlm_device": "device",
        }
    ),
    derive=_derived,
    derived=MappingProxyType({"default_model": "default_model", "dynamic_batching": "speechlm_codec_batch"}),
    settle=_settled,
    ignored=MappingProxyType(
        {
            "debug_audio": "set POLYVOX_CHUNK_LOG",
            "sentry_dsn": "errors are in the log and in /metrics",
            "stt_model": _VLLM,
            "gpu_mem_util": _VLLM,
            "lm_max_model_len": _VLLM,
            "stream_crossfade": _CHUNKS,
            "crossfade_ms": _CHUNKS,
            "stream_chunk_growth": "under the name `speechlm` chunks grow by POLYVOX_SPEECHLM_CHUNK_GROWTH",
            "stream_max_chunk_s": "under the name `speechlm` chunks last up to POLYVOX_SPEECHLM_MAX_SECONDS",
            "stream_past_context_s": "under the name `speechlm` it is POLYVOX_SPEECHLM_PAST_SECONDS",
            "stream_normalize": _LEVELS,
            "target_rms_db": _LEVELS,
            "max_gain_db": _LEVELS,
            "gain_slew_db": _LEVELS,
            "default_speaking_rate": "send `speaking_rate` with the request",
            "default_normalize_malaysian": "send `normalize_malaysian` with the request",
            "default_normalizer_mode": _RULES,
            "openai_base_url": _RULES,
            "openai_api_key": _RULES,
            "openai_model_name": _RULES,
            "openai_timeout": _RULES,
            "batch_timeout": "set POLYVOX_DEADLINE_SECONDS",
            "context_store": _CONTEXT,
            "context_store_dir": _CONTEXT,
            "context_max_s": _CONTEXT,
            "context_ttl_s": _CONTEXT,
            "context_min_gen_tokens": _CONTEXT,
            "enable_tracing_spans": _TRACES,
            "tracing_spans_require_exporter": _TRACES,
            "trace_asgi_message_spans": _TRACES,
            "otlp_endpoint": _TRACES,
            "jaeger_host": _TRACES,
            "enable_console_span_exporter": _TRACES,
            "disconnect_poll_s": "a client that hangs up is noticed at once",
            "dummy_tokens_file": _DUMMY,
            "dummy_repeat": _DUMMY,
            "dummy_token_delay": _DUMMY,
        }
    ),
    shared=frozenset(
        (
            "device",
            "sentry_dsn",
            "stt_model",
            "gpu_mem_util",
            "openai_base_url",
            "openai_api_key",
            "openai_model_name",
            "openai_timeout",
            "batch_timeout",
            "otlp_endpoint",
            "jaeger_host",
            "enable_console_span_exporter",
        )
    ),
)
