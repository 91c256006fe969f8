"""The variables of the CosyVoice Ray Serve API, and the settings that they mean."""

from types import MappingProxyType

from polyvox.settings_loader import ForeignVariables

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
        }
    ),
)
