"""The variables of Kokoro-FastAPI, and the settings that they mean."""

from collections.abc import Mapping
from types import MappingProxyType

from polyvox.settings_loader import ForeignVariables, is_on


def _devices(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Without a GPU both of that server's models run on the CPU; with one, `auto` finds it."""
    on_cpu = not is_on(variables.get("use_gpu", "true")) or variables.get("device_type", "").strip().lower() == "cpu"
    return {"kokoro_device": "cpu", "zipvoice_device": "cpu"} if on_cpu else {}


KOKORO_VARIABLES = ForeignVariables(
    "Kokoro-FastAPI's",
    MappingProxyType({"default_voice": "default_voice"}),
    derive=_devices,
    ignored=frozenset(
        (
            "default_voice_code",
            "output_dir",
            "output_dir_size_limit_mb",
            "temp_file_dir",
            "voices_dir",
            "allow_local_voice_saving",
            "target_min_tokens",
            "target_max_tokens",
            "absolute_max_tokens",
            "gap_trim_ms",
            "enable_web_player",
            "web_player_path",
            "cors_enabled",
        )
    ),
)
