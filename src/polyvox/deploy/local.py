"""Ray Serve on this machine or on the cluster of RAY_ADDRESS, for the lifetime of this process."""

import json
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from urllib.error import HTTPError
from urllib.request import urlopen

from polyvox.api.middleware.hosts import check_exposure
from polyvox.config import Settings
from polyvox.deploy.fit import fitted
from polyvox.deploy.plan import EngineArgs, plans_for
from polyvox.engines.catalog import Catalog
from polyvox.errors import InvalidRequestError, UnavailableError
from polyvox.extras import RAY

_READY_SECONDS = 30.0
_TIMEOUT_MARGIN_SECONDS = 60.0


def serve_on_ray(settings: Settings, catalog: Catalog) -> None:
    """Serve until SIGINT or SIGTERM. The port is checked first, so that a second server fails at once."""
    if settings.grpc_port is not None:
        raise InvalidRequestError(
            "Ray Serve has no gRPC here; remove the setting grpc_port, or serve without --ray.", field="grpc_port"
        )
    check_exposure(settings)
    stopped = threading.Event()
    settings = settings.model_copy(update={"port": free_port(settings.host, settings.port)})
    with cluster(), application(settings, catalog) as url:
        for number in (signal.SIGINT, signal.SIGTERM):  # not earlier: Ray sets its own when it starts
            signal.signal(number, lambda *_: stopped.set())
        print(f"Polyvox speaks at {url} on Ray Serve (Ctrl-C stops it).", flush=True)
        stopped.wait()


@contextmanager
def cluster() -> Iterator[None]:
    """A connection to Ray: to the cluster of RAY_ADDRESS, or to a local one that ends with this process."""
    RAY.check()
    import ray

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no telemetry unless the operator asks for it
    os.environ.setdefault("RAY_worker_niceness", "0")  # Ray would run workers at a lower priority
    address = os.environ.get("RAY_ADDRESS", "local")
    try:
        ray.init(address=address, include_dashboard=False if address == "local" else None)
    except Exception as error:  # Ray raises no narrower class for a node that does not start
        raise UnavailableError(f"Ray did not start: {error}") from error
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def application(
    settings: Settings,
    catalog: Catalog,
    args: Mapping[str, EngineArgs] | None = None,
) -> Iterator[str]:
    """Deploy the application and yield its URL; it is deleted with the block. A cluster keeps the port of the first."""
    from ray import serve
    from ray.serve.config import HTTPOptions

    from polyvox.deploy.ray import NAME, build, cluster_resources

    resources = cluster_resources()
    plans, notes = fitted(plans_for(settings, args or {}, resources, catalog), resources)
    for note in notes:
        print(note, flush=True)
    timeout = settings.deadline_seconds + _TIMEOUT_MARGIN_SECONDS
    serve.start(http_options=HTTPOptions(host=settings.host, port=settings.port, request_timeout_s=timeout))
    try:
        _deployed(partial(serve.run, build(settings, catalog, plans), name=NAME, route_prefix="/"))
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        url = f"http://{host}:{settings.port}"
        _check_ready(url, settings.default_model)
        yield url
    finally:
        serve.delete(NAME)


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
