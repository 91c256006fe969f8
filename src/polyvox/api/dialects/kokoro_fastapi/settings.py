"""The variables of Kokoro-FastAPI, and the settings that they mean."""

import json
from collections.abc import Mapping
from types import MappingProxyType

from polyvox.settings_loader import ForeignVariables, is_on

_SECONDS_AN_HOUR = 3_600
_LOG_LEVELS = MappingProxyType({"trace": "debug", "success": "info", "critical": "error"})
"""Levels of that server's log that have another name here."""

_FILES = "finished files are kept in memory, up to POLYVOX_MAX_DOWNLOAD_BYTES"
_CHUNKS = "set POLYVOX_FIRST_CHUNK_PHONEMES, POLYVOX_CHUNK_GROWTH and POLYVOX_MAX_CHUNK_PHONEMES"
_PAUSES = "set POLYVOX_KOKORO_SENTENCE_PAUSE and POLYVOX_KOKORO_CLAUSE_PAUSE"
_MODELS = "`polyvox models pull kokoro` installs the model with its voices, in POLYVOX_MODELS_DIR"
_NOTHING = "nothing takes its place"


def _derived(variables: Mapping[str, str]) -> Mapping[str, str]:
    readers = (_devices, _origins, _log_level, _download_seconds, _refused_tags)
    return {name: value for reader in readers for name, value in reader(variables).items()}


def _devices(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Without a GPU both of that server's models run on the CPU; with one, `auto` finds it."""
    on_cpu = not is_on(variables.get("use_gpu", "true")) or variables.get("device_type", "").strip().lower() == "cpu"
    return {"kokoro_device": "cpu", "zipvoice_device": "cpu"} if on_cpu else {}


def _origins(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Origins are a list in JSON there; the switch for CORS goes before them."""
    if not is_on(variables.get("cors_enabled", "true")):
        return {"cors_origins": "[]"}
    text = variables.get("cors_origins")
    if text is None:
        return {}
    try:
        origins = json.loads(text)
    except json.JSONDecodeError:
        return {"cors_origins": text}
    return {"cors_origins": ",".join(map(str, origins)) if isinstance(origins, list) else text}


def _log_level(variables: Mapping[str, str]) -> Mapping[str, str]:
    level = variables.get("api_log_level", "").strip().lower()
    return {"log_level": _LOG_LEVELS.get(level, level)} if level else {}


def _download_seconds(variables: Mapping[str, str]) -> Mapping[str, str]:
    hours = variables.get("max_temp_dir_age_hours")
    if hours is None:
        return {}
    try:
        return {"download_seconds": str(float(hours) * _SECONDS_AN_HOUR)}
    except ValueError:
        return {"download_seconds": hours}


def _refused_tags(variables: Mapping[str, str]) -> Mapping[str, str]:
    switch = variables.get("enable_voice_tags")
    return {} if switch is None else {"refuse_voice_tags": "false" if is_on(switch) else "true"}


KOKORO_VARIABLES = ForeignVariables(
    "Kokoro-FastAPI's",
    MappingProxyType(
        {
            "default_voice": "default_voice",
            "host": "host",
            "port": "port",
            "allow_unload": "allow_dev_unload",
            "enable_debug": "enable_debug_endpoints",
            "allow_ssml": "enable_ssml",
            "max_input_chars": "max_input_length",
            "max_pause_seconds": "max_total_pause_s",
            "max_downloads": "max_temp_dir_count",
            "studio": "enable_web_player",
        }
    ),
    derive=_derived,
    derived=MappingProxyType(
        {
            "use_gpu": "kokoro_device",
            "device_type": "kokoro_device",
            "cors_enabled": "cors_origins",
            "cors_origins": "cors_origins",
            "api_log_level": "log_level",
            "max_temp_dir_age_hours": "download_seconds",
            "enable_voice_tags": "refuse_voice_tags",
        }
    ),
    ignored=MappingProxyType(
        {
            "default_voice_code": "send `lang_code` with the request",
            "default_volume_multiplier": "send `volume_multiplier` with the request",
            "advanced_text_normalization": "send `normalization_options` with the request",
            "voice_weight_normalization": "the weights of a mix always add up to 1",
            "allow_local_voice_saving": "POST /v1/voices with `mix` keeps it; see POLYVOX_ALLOW_VOICE_DOWNLOAD too",
            "max_pause_duration_s": "one pause lasts up to 60 s, and all of a text up to POLYVOX_MAX_PAUSE_SECONDS",
            "ssml_max_depth": "SSML may have 32 elements inside each other",
            "model_auto_unload_timeout_seconds": "models that a request loads go by POLYVOX_MODEL_IDLE_SECONDS",
            "model_dir": _MODELS,
            "voices_dir": "keep its voice packs: polyvox voices import-packs FOLDER",
            "model_repo_id": _MODELS,
            "model_version": _MODELS,
            "download_model": _MODELS,
            "output_dir": _FILES,
            "output_dir_size_limit_mb": _FILES,
            "temp_file_dir": _FILES,
            "max_temp_dir_size_mb": _FILES,
            "target_min_tokens": _CHUNKS,
            "target_max_tokens": _CHUNKS,
            "absolute_max_tokens": _CHUNKS,
            "gap_trim_ms": _PAUSES,
            "dynamic_gap_trim_padding_ms": _PAUSES,
            "dynamic_gap_trim_padding_char_multiplier": _PAUSES,
            "sample_rate": "send `sample_rate` with the request",
            "web_concurrency": "one process speaks many requests at once; `polyvox serve --workers` has several",
            "web_player_path": "the Studio comes with the package",
            "enable_miopen": _NOTHING,
            "api_title": _NOTHING,
            "api_description": _NOTHING,
            "api_version": _NOTHING,
        }
    ),
    shared=frozenset(
        (
            "host",
            "port",
            "cors_enabled",
            "cors_origins",
            "max_input_length",
            "model_dir",
            "voices_dir",
            "output_dir",
            "sample_rate",
            "web_concurrency",
            "api_title",
            "api_description",
            "api_version",
        )
    ),
)
