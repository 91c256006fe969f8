"""The variables of the CosyVoice Ray Serve API, and the settings that they mean."""

from types import MappingProxyType

from polyvox.settings_loader import ForeignVariables

_MODEL = "COSYVOICE_MODEL_DIR names the folder of a model, COSYVOICE_MODEL_ID its repository"

RAYSERVE_VARIABLES = ForeignVariables(
    "the CosyVoice Ray Serve API's",
    MappingProxyType(
        {
            "port": "serve_port",
            "ray_min_replicas": "min_replicas",
            "ray_initial_replicas": "initial_replicas",
            "ray_max_replicas": "max_replicas",
            "ray_target_ongoing_requests": "target_ongoing_requests",
            "ray_max_ongoing_requests": "max_ongoing_requests_per_replica",
            "ray_max_queued_requests": "max_queued_requests_deployment",
            "ray_gpus": "num_gpus_per_replica",
            "ray_health_seconds": "health_check_period_s",
            "drain_seconds": "graceful_shutdown_timeout_s",
        }
    ),
    ignored=MappingProxyType(
        {
            "cosyvoice_model_dir_name": _MODEL,
            "cosyvoice_model_revision": _MODEL,
            "health_check_timeout_s": "a process is replaced after three bad answers; set POLYVOX_RAY_HEALTH_SECONDS",
            "graceful_shutdown_wait_loop_s": "open streams are followed all the time; set POLYVOX_DRAIN_SECONDS",
        }
    ),
)
"""`COSYVOICE_MODEL_ID` and `COSYVOICE_MODEL_DIR` are read by `polyvox serve`, as its option `--model_dir`."""
