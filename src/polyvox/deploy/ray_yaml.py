"""Writes the ray.yaml for `serve deploy`, with comments on what can be changed."""

from polyvox.config import Settings

_HEAD = """\
# Polyvox on Ray Serve. On a machine that runs Ray (`ray start --head`), deploy or change it with
#
#     serve deploy {path}
#
# and look at it with `serve status`. Polyvox and the models must be installed on every machine of the cluster.

# The HTTP address. 127.0.0.1 is reachable from this machine only; before you open it to others, set api_keys below, or
# allowed_hosts to the names by which they call it.
proxy_location: HeadOnly
http_options:
  host: &host {host}
  port: {port}
  request_timeout_s: {timeout:g}

applications:
  - name: polyvox
    route_prefix: /
    import_path: polyvox.deploy.ray:app
    args:
      # Any setting that `polyvox config` lists; the others are taken from the environment in which Ray was started.
      settings:
        models: [{models}]
        default_model: {default_model}
        default_voice: {default_voice}
        host: *host
        # api_keys: a-long-secret
        # allowed_hosts: speech.example
        # Replicas of the HTTP doors: they share the folder of voices, so keep them on one machine.
        ray_ingress_replicas: {ray_ingress_replicas}
        # A replica that produces nothing for this many seconds while requests wait is replaced.
        ray_wedged_seconds: {ray_wedged_seconds:g}
        # Seconds that open streams may take to finish when a replica stops.
        drain_seconds: {drain_seconds:g}

      # Replicas and resources of each model.
      engines:
"""

_ENGINE = """\
        {model}:
          # Replicas are added until each has about target_ongoing_requests at a time.
          min_replicas: {ray_min_replicas}
          initial_replicas: {ray_initial_replicas}
          max_replicas: {ray_max_replicas}
          target_ongoing_requests: {ray_target_ongoing_requests:g}
          upscale_delay_seconds: {ray_upscale_delay_seconds:g}
          downscale_delay_seconds: {ray_downscale_delay_seconds:g}
          # Requests that one replica serves at once, and that may wait; beyond that the response is 429.
          max_ongoing_requests: {ray_max_ongoing_requests}
          max_queued_requests: {ray_max_queued_requests}
          # CPU threads of one replica; 0 divides the cores evenly.
          threads: {ray_threads}
          # GPUs of one replica, 0.5 for half of one. Without this line: 1 for models that use a GPU, if there is one.
          {gpus}
"""


def ray_yaml(settings: Settings, path: str) -> str:
    """The text of ray.yaml for these settings."""
    values = settings.model_dump()
    head = _HEAD.format(
        **values | {"models": ", ".join(settings.models)}, path=path, timeout=settings.deadline_seconds + 60.0
    )
    gpus = "# gpus: 1" if settings.ray_gpus is None else f"gpus: {settings.ray_gpus:g}"
    return head + "".join(_ENGINE.format(**values, model=model, gpus=gpus) for model in settings.models)
