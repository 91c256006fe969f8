"""Settings of the ZipVoice dialect, and the variables of the servers that it stands in for."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from pydantic import Field

from polyvox.config import SettingsSection
from polyvox.settings_loader import ForeignVariables, is_on

_FAMILY = "zipvoice"
"""That server's name for all of ZipVoice's models, and of its backend."""


_TRANSCRIPTS = "`polyvox models pull moonshine-base` installs what transcribes a recording without `prompt_text`"
_ONNX = "POLYVOX_ZIPVOICE_EXECUTOR=onnx runs ZipVoice with ONNX Runtime on the CPU"
_CUDA_GRAPHS = "on a GPU ZipVoice runs in CUDA graphs; see POLYVOX_ZIPVOICE_GRAPH_SECONDS"
_QUALITY = "set POLYVOX_PROMPT_MIN_SCORE"


class ZipVoiceApiSettings(SettingsSection):
    """Defaults of this dialect; the engine of the same name has settings of its own."""

    section: ClassVar[str] = "zipvoice_api"
    names: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "model": "zipvoice_model",
            "num_steps": "zipvoice_num_steps",
            "remove_long_silence": "zipvoice_remove_long_silence",
            "speed_multiplier": "zipvoice_speed_multiplier",
        }
    )

    model: str = Field("zipvoice", description="Model for its requests that name none.")
    num_steps: int = Field(8, ge=1, le=32, description="Inference steps for its requests that name none.")
    remove_long_silence: bool = Field(True, description="Whether long silences are cut unless asked.")
    speed_multiplier: float = Field(1.0, gt=0, le=4, description="Factor on the speed of its requests.")


def _derived(variables: Mapping[str, str]) -> Mapping[str, str]:
    return {**_bytes_from_megabytes(variables), **_models(variables)}


def _models(variables: Mapping[str, str]) -> Mapping[str, str]:
    """The models that the switches of that server ask for, which are on unless set, and the default among them."""
    variant, backend = variables.get("zipvoice_model", _FAMILY), variables.get("default_backend")
    default = variant if backend == _FAMILY else backend
    switches = {"kokoro": "enable_kokoro", variant: "enable_zipvoice"}
    if "polyvox_models" in variables or not variables.keys() & switches.values():
        return {} if default is None else {"default_model": default, "models": ",".join({"kokoro": 0, default: 0})}
    enabled = [model for model, switch in switches.items() if is_on(variables.get(switch, "true"))]
    return {"models": ",".join(enabled), "default_model": default or enabled[0]} if enabled else {}


def _bytes_from_megabytes(variables: Mapping[str, str]) -> Mapping[str, str]:
    value = variables.get("zipvoice_max_download_size_mb")
    if value is None:
        return {}
    try:
        return {"fetch_max_bytes": str(int(float(value) * 1024 * 1024))}
    except (ValueError, OverflowError):
        return {"fetch_max_bytes": value}


ZIPVOICE_VARIABLES = ForeignVariables(
    "ZipVoice's",
    MappingProxyType(
        {
            "zipvoice_model": "zipvoice_model",
            "zipvoice_num_steps": "zipvoice_num_steps",
            "zipvoice_remove_long_silence": "zipvoice_remove_long_silence",
            "zipvoice_speed_multiplier": "zipvoice_speed_multiplier",
            "host": "host",
            "port": "port",
            "data_dir": "zipvoice_cache_dir",
            "prompt_max_seconds": "zipvoice_max_prompt_duration",
            "allow_fetch": "zipvoice_allow_url_download",
            "allow_inline": "zipvoice_allow_base64",
        }
    ),
    derive=_derived,
    derived=MappingProxyType(
        {
            "default_backend": "default_model",
            "enable_kokoro": "models",
            "enable_zipvoice": "models",
            "zipvoice_max_download_size_mb": "fetch_max_bytes",
        }
    ),
    ignored=MappingProxyType(
        {
            "enable_auto_transcription": _TRANSCRIPTS,
            "auto_transcribe_on_upload": _TRANSCRIPTS,
            "whisper_model_size": _TRANSCRIPTS,
            "whisper_device": _TRANSCRIPTS,
            "enable_onnx": _ONNX,
            "onnx_cache_dir": _ONNX,
            "onnx_num_threads": _ONNX,
            "onnx_inter_op_threads": _ONNX,
            "onnx_execution_mode": _ONNX,
            "onnx_optimization_level": _ONNX,
            "enable_tensorrt": _CUDA_GRAPHS,
            "tensorrt_cache_dir": _CUDA_GRAPHS,
            "enable_smart_tuning": "POST /v1/zipvoice/tune returns recommendations",
            "enable_quality_detection": _QUALITY,
            "quality_threshold": _QUALITY,
            "enable_intelligent_caching": "set POLYVOX_RECORDING_CACHE_BYTES and POLYVOX_PREPARED_CACHE_BYTES",
        }
    ),
    shared=frozenset(("host", "port", "whisper_model_size", "whisper_device")),
)
