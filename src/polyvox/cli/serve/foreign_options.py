"""Options of `polyvox serve` as CosyVoice's own servers and the scripts around them spell them."""

import logging
from collections.abc import Mapping
from typing import Any, get_args

from polyvox.config import ENV_PREFIX, Settings, SettingsSection
from polyvox.engines.catalog import Catalog
from polyvox.errors import InvalidRequestError

GRPC_PORT = 50_000
"""The port of CosyVoice's gRPC server where none is given."""

_TENSORRT = "tensorrt"

# The standard library's: the server sets its logs up only when it has all settings.
log = logging.getLogger(__name__)


def grpc_ports(port: int | None, grpc_port: int | None) -> dict[str, Any]:
    """The ports with `--grpc`, for which `--port` is that of gRPC; `http_beside_grpc` gives HTTP its own."""
    if grpc_port is not None:
        raise InvalidRequestError("With --grpc, --port is the gRPC port; leave out --grpc-port.", field="grpc")
    return {"port": None, "grpc_port": GRPC_PORT if port is None else port}


def http_beside_grpc(settings: Settings) -> Settings:
    """The settings for `--grpc`: HTTP has the port that they name, else any free one, as the original opens none."""
    return settings if "port" in settings.model_fields_set else settings.model_copy(update={"port": 0})


def in_half_precision(settings: Settings, catalog: Catalog) -> Settings:
    """The settings for `--fp16`: the default model in 16-bit floats, where it can be."""
    model = settings.default_model
    changed = catalog.spec(model).in_half_precision(settings) if model in catalog.factories else None
    if changed is None:
        log.warning("--fp16 has no effect: the model %s has no setting for its precision", model)
        return settings
    return changed


def name_tensorrt(settings: Settings, catalog: Catalog) -> None:
    """Log which settings turn on what `--load_trt` asks for, which needs graphs that were exported before."""
    model = settings.default_model
    section = catalog.spec(model).settings if model in catalog.factories else None
    executors = [] if section is None else _executors(section, _TENSORRT)
    if executors:
        variables = " and ".join(f"{ENV_PREFIX}{name.upper()}={_TENSORRT}" for name in executors)
        log.warning("--load_trt has no effect: run `polyvox models export %s`, then set %s", model, variables)
    else:
        log.warning("--load_trt has no effect: the model %s does not run in TensorRT", model)


def _executors(section: type[SettingsSection], value: str) -> list[str]:
    """The settings of what executes a network that have this value among their choices."""
    fields = {field: get_args(info.annotation) for field, info in section.model_fields.items()}
    names = section.setting_names()
    return [names[field] for field, choices in fields.items() if field.endswith("executor") and value in choices]


def name_without_effect(options: Mapping[str, object]) -> None:
    """Log each option that was given and changes nothing here."""
    for option, value in options.items():
        if value not in (None, False):
            log.warning("%s has no effect: Polyvox chooses by itself what executes a network on this machine", option)
