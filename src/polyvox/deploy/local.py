"""Ray Serve on this machine or on the cluster of RAY_ADDRESS, for the lifetime of this process."""

import json
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType
from urllib.error import HTTPError
from urllib.request import urlopen

import structlog

from polyvox.api.middleware.hosts import check_exposure
from polyvox.config import Settings
from polyvox.deploy.fit import fitted
from polyvox.deploy.plan import EngineArgs, plans_for
from polyvox.engines.catalog import Catalog
from polyvox.errors import InvalidRequestError, UnavailableError
from polyvox.extras import RAY

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_READY_SECONDS = 30.0
_TIMEOUT_MARGIN_SECONDS = 60.0
_CLOSE_SECONDS = 15.0
_ENVIRONMENT = MappingProxyType(
    {
        "RAY_USAGE_STATS_ENABLED": "0",  # no telemetry unless the operator asks for it
        "RAY_worker_niceness": "0",  # Ray would run workers at a lower priority
        "RAY_SERVE_LOG_TO_STDERR": "0",  # the lines of its controller and proxy are in its files
        "RAY_COLOR_PREFIX": "0",
    }
)
"""Of Ray, unless the operator has set others."""


def serve_on_ray(settings: Settings, catalog: Catalog) -> None:
    """Serve until SIGINT or SIGTERM. The port is checked first, so that a second server fails at once."""
    if settings.grpc_port is not None:
        raise InvalidRequestError(
            "Ray Serve has no gRPC here; remove the setting grpc_port, or serve without --ray.", field="grpc_port"
        )
    check_exposure(settings)
    stopped = threading.Event()
    settings = settings.model_copy(update={"port": free_port(settings.host, settings.port)})
    with cluster() as own, application(settings, catalog, ends_with_cluster=own) as url:
        for number in (signal.SIGINT, signal.SIGTERM):  # not earlier: Ray sets its own when it starts
            signal.signal(number, lambda *_: stopped.set())
        print(f"Polyvox speaks at {url} on Ray Serve (Ctrl-C stops it).", flush=True)
        stopped.wait()


@contextmanager
def cluster() -> Iterator[bool]:
    """A connection to Ray: to the cluster of RAY_ADDRESS, or to one of its own that ends with this process.

    Yields True for one of its own.
    """
    RAY.check()
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    import ray

    # It says that it uses its token, as it does unless told otherwise.
    logging.getLogger("ray._private.authentication.authentication_token_setup").setLevel(logging.ERROR)
    address = os.environ.get("RAY_ADDRESS", "local")
    own = address == "local"
    try:
        ray.init(address=address, include_dashboard=False if own else None, logging_level=logging.WARNING)
    except Exception as error:  # Ray raises no narrower class for a node that does not start
        raise UnavailableError(f"Ray did not start: {error}") from error
    try:
        yield own
    finally:
        ray.shutdown()


@contextmanager
def application(
    settings: Settings,
    catalog: Catalog,
    args: Mapping[str, EngineArgs] | None = None,
    *,
    ends_with_cluster: bool = False,
) -> Iterator[str]:
    """Deploy the application and yield its URL. A cluster keeps the port of the first.

    The doors drain when the block ends, and then the application is deleted. One that `ends_with_cluster` is not:
    Ray's proxy would answer 404 until the cluster ends, and so the doors answer 503.
    """
    from ray import serve
    from ray.serve.config import HTTPOptions
    from ray.serve.schema import LoggingConfig

    from polyvox.deploy.ray import INGRESS, NAME, build, cluster_resources

    logging.getLogger("ray.serve").setLevel(logging.WARNING)
    resources = cluster_resources()
    plans, notes = fitted(plans_for(settings, args or {}, resources, catalog), resources)
    for note in notes:
        print(note, flush=True)
    timeout = settings.deadline_seconds + _TIMEOUT_MARGIN_SECONDS
    options = HTTPOptions(host=settings.host, port=settings.port, request_timeout_s=timeout)
    serve.start(http_options=options, logging_config=LoggingConfig(enable_access_log=False))
    try:
        _deployed(partial(serve.run, build(settings, catalog, plans), name=NAME, route_prefix="/"))
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        url = f"http://{host}:{settings.port}"
        _check_ready(url, settings.default_model)
        try:
            yield url
        finally:
            _close(INGRESS, settings.drain_seconds + _CLOSE_SECONDS)
            for plan in plans if ends_with_cluster else ():
                _close(plan.model, _CLOSE_SECONDS)
    finally:
        if not ends_with_cluster:
            serve.delete(NAME)


def _close(deployment: str, seconds: float) -> None:
    """Let every process of a deployment close what it holds, while it can still be called."""
    from ray import serve
    from ray.serve.exceptions import RayServeException

    from polyvox.deploy.ray import NAME

    try:
        closing = serve.get_deployment_handle(deployment, NAME).broadcast("close")
        closing.results(timeout_s=seconds, return_exceptions=True)
    except (RayServeException, TimeoutError) as error:
        log.warning("deployment does not close", deployment=deployment, reason=str(error))


def free_port(host: str, port: int = 0) -> int:
    """The port, or a free one for 0; UnavailableError where it is taken."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        with socket.create_server((host, port), family=family) as listener:
            return int(listener.getsockname()[1])
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnavailableError(
            f"Cannot listen on {host} port {port}: {reason}; choose another with --host or --port."
        ) from error


def _deployed(deploy: Callable[[], object]) -> None:
    try:
        deploy()
    except RuntimeError as error:
        raise UnavailableError(f"Ray Serve could not deploy the application: {error}") from error


def _check_ready(url: str, default_model: str) -> None:
    """Raise if the default model is not available, in place of serving 503."""
    try:
        with urlopen(f"{url}/ready", timeout=_READY_SECONDS):  # noqa: S310 - our own server
            return
    except HTTPError as error:
        reasons = json.loads(error.read()).get("reasons", {})
        message = reasons.get(default_model) or reasons.get("server") or f"The server answers {error.code}."
        raise UnavailableError(message) from error
