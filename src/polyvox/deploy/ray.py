"""The server on Ray Serve: one deployment with all HTTP doors, and one for each model.

ray.yaml names `polyvox.deploy.ray:app`; `build` is for Python code.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import ray
import structlog
from fastapi import FastAPI
from ray import serve
from ray.serve import Application
from ray.serve.config import AutoscalingConfig, BackpressureConfig
from ray.serve.handle import DeploymentHandle
from ray.serve.schema import LoggingConfig

from polyvox.api import admin
from polyvox.api.app import create_app
from polyvox.api.middleware.hosts import check_exposure, names_to_answer
from polyvox.config import Settings
from polyvox.deploy.drain_gate import Drain, DrainGate
from polyvox.deploy.fit import fitted
from polyvox.deploy.merged_metrics import merged
from polyvox.deploy.messages import EngineProfile
from polyvox.deploy.plan import ClusterResources, DeployArgs, EnginePlan, ingress_settings, plans_for, replica_settings
from polyvox.deploy.ray_transport import RayTransport
from polyvox.deploy.remote_engine import RemoteEngine, ReplicaLostError, remote_engine
from polyvox.deploy.replica import EngineReplica
from polyvox.engines.base import Engine
from polyvox.engines.catalog import Catalog
from polyvox.engines.spec import EngineSpec
from polyvox.errors import InvalidRequestError, PolyvoxError, UnavailableError
from polyvox.installation import settings_loader
from polyvox.service.registry.registry import Registry
from polyvox.service.speech import SpeechService
from polyvox.service.telemetry.logs import configure_logging
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.telemetry.tracer_choice import open_tracer
from polyvox.types import EngineLocation

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

NAME = "polyvox"
INGRESS = "doors"

_VOICES_BY_REPLICA = 256
_START_TIMEOUT_SECONDS = 120.0
_POLL_SECONDS = 15.0
_EXTRA_REQUESTS = 256
_SCRAPE_SECONDS = 5.0
_HEALTH_TIMEOUT_SECONDS = 30.0
"""A healthy replica may answer late on a machine short of cores; a stuck engine is found by `check_health` itself."""

# Between doors and engines, chunks go over gRPC without a thread in between. Only then does a slow reader slow the
# engine down: Ray's object streams, and the queues between its threads, are unbounded.
_DIRECT = MappingProxyType(
    {
        "RAY_SERVE_USE_GRPC_BY_DEFAULT": "1",
        "RAY_SERVE_RUN_ROUTER_IN_SEPARATE_LOOP": "0",
        "RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD": "0",
        "RAY_SERVE_LOG_TO_STDERR": "1",
    }
)

# Each session has a log line of its own, and Serve's own lines are of no use to those who start the server.
_QUIET = LoggingConfig(enable_access_log=False, log_level="WARNING")


class ServedEngine(EngineReplica):
    """A replica of one model. Voices are multiplexed models, so that Serve routes requests to replicas with them."""

    async def __init__(self, plan: EnginePlan, settings: Settings, spec: EngineSpec) -> None:  # type: ignore[misc]
        configure_logging(settings)
        context = ray.get_runtime_context()
        place = EngineLocation(actor=context.get_actor_id(), node=context.get_node_id())
        gpus, tracer = [str(gpu) for gpu in ray.get_gpu_ids()], open_tracer(settings, _ignore_dropped)
        super().__init__(plan.model, settings, spec, gpus, place, tracer=tracer)
        await self.start()

    async def __del__(self) -> None:
        await self.close()

    @serve.multiplexed(max_num_models_per_replica=_VOICES_BY_REPLICA)  # type: ignore[untyped-decorator]
    async def hold(self, digest: str) -> str:
        return digest


def _ignore_dropped(reason: str, count: int) -> None:
    """A replica has no metrics; its log says that spans are lost."""


class Ingress:
    """All HTTP doors. Ready when the default model is; other models join as they load."""

    async def __init__(  # type: ignore[misc]
        self, settings: Settings, known: Sequence[str], handles: Mapping[str, DeploymentHandle[Any]]
    ) -> None:
        configure_logging(settings)
        self._transports = {model: RayTransport(model, handle) for model, handle in handles.items()}
        self._profiles: dict[str, EngineProfile] = {}
        self._engines: dict[str, RemoteEngine] = {}
        self._watching: list[asyncio.Task[None]] = []
        factories = {model: partial(self._engine, model) for model in known}
        self._registry = Registry(settings, factories)
        metrics = Metrics()
        tracer = open_tracer(settings, metrics.spans_dropped)
        self._service = SpeechService(settings, self._registry, metrics, tracer)
        self._drain = Drain()
        self._described = {model: asyncio.Event() for model in handles}
        self._following = [asyncio.create_task(self._follow(model)) for model in handles]
        await self._described[settings.default_model].wait()
        await asyncio.wait(self._following, timeout=_START_TIMEOUT_SECONDS)

    def __serve_build_asgi_app__(self) -> FastAPI:
        settings = self._service.settings
        app = create_app(self._service, allowed_hosts=names_to_answer(settings))
        app.add_middleware(DrainGate, drain=self._drain, refusals=app.state.refusals)
        if settings.ray_ingress_replicas > 1:
            app.state.exposition = self._exposition_of_all
        return app

    async def close(self) -> None:
        """Refuse new requests with 503, let those under way finish, and close; the process still answers."""
        await self._drain.run(self._service.settings.drain_seconds)

    async def exposition(self) -> tuple[str, str]:
        """The id of this process, and its metrics."""
        replica = serve.get_replica_context().replica_id.unique_id
        return replica, (await admin.exposition(self._service)).decode()

    async def _exposition_of_all(self) -> bytes:
        """The metrics of every door process that answers; a scrape reaches any one of them."""
        context = serve.get_replica_context()
        doors = serve.get_deployment_handle(context.deployment, context.app_name)
        asked = doors.broadcast("exposition")
        try:
            answers = await asked.results_async(timeout_s=_SCRAPE_SECONDS, return_exceptions=True)
        except TimeoutError:
            log.warning("door processes do not answer; the metrics are those of one", seconds=_SCRAPE_SECONDS)
            answers = [await self.exposition()]
        return merged(dict(answer for answer in answers if isinstance(answer, tuple)))

    async def __del__(self) -> None:
        for task in (*self._following, *self._watching):
            task.cancel()

    def _engine(self, model: str, settings: Settings) -> Engine:
        profile = self._profiles.get(model)
        if profile is None:
            raise UnavailableError(f"The model {model!r} is still loading; try again in a moment.", retry=True)
        if profile.reason:
            raise UnavailableError(profile.reason)
        engine = self._engines[model] = remote_engine(profile, self._transports[model])
        return engine

    async def _follow(self, model: str) -> None:
        """Poll a model for its profile until it is available."""
        while True:
            try:
                profile = await self._transports[model].ask_when_started("describe")
            except (ReplicaLostError, PolyvoxError) as error:
                log.warning("model does not answer", model=model, reason=str(error))
            else:
                assert isinstance(profile, EngineProfile)
                self._profiles[model] = profile
                await self._registry.retry_start(model, self._service.metrics.batch)
                self._described[model].set()
                if not profile.reason:
                    if profile.obstacle is not None:
                        self._watching.append(asyncio.create_task(self._watch(model)))
                    return
            await asyncio.sleep(_POLL_SECONDS)

    async def _watch(self, model: str) -> None:
        """Poll a model for what keeps it from speaking, which may come and go."""
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            try:
                await self._engines[model].refresh()
            except PolyvoxError as error:
                log.warning("model does not answer", model=model, reason=error.message)


def build(settings: Settings, catalog: Catalog, plans: list[EnginePlan]) -> Application:
    """The application for these models; the catalog's engines must be installed on every machine."""
    served = {plan.model: _engine_deployment(plan, settings, catalog.spec(plan.model)) for plan in plans}
    doors = ingress_settings(settings, plans)
    deployment = serve.deployment(serve.ingress()(Ingress)).options(
        name=INGRESS,
        num_replicas=settings.ray_ingress_replicas,
        max_ongoing_requests=doors.max_sessions + doors.max_queue + _EXTRA_REQUESTS,
        backpressure_config=BackpressureConfig(status_code=429, retry_after_s=1.0),
        graceful_shutdown_timeout_s=settings.drain_seconds + 10.0,
        logging_config=_QUIET,
        ray_actor_options={"num_cpus": 0, "runtime_env": {"env_vars": dict(_DIRECT)}},
    )
    return deployment.bind(doors, sorted(catalog.factories), served)


def _engine_deployment(plan: EnginePlan, settings: Settings, spec: EngineSpec) -> Application:
    threads = {"OMP_NUM_THREADS": str(plan.threads)}
    deployment = serve.deployment(ServedEngine).options(
        name=plan.model,
        max_ongoing_requests=plan.max_ongoing_requests,
        max_queued_requests=plan.max_queued_requests,
        autoscaling_config=AutoscalingConfig(
            min_replicas=plan.min_replicas,
            initial_replicas=plan.initial_replicas,
            max_replicas=plan.max_replicas,
            target_ongoing_requests=plan.target_ongoing_requests,
            upscale_delay_s=plan.upscale_delay_seconds,
            downscale_delay_s=plan.downscale_delay_seconds,
        ),
        health_check_period_s=settings.ray_health_seconds,
        health_check_timeout_s=max(settings.ray_health_seconds, _HEALTH_TIMEOUT_SECONDS),
        graceful_shutdown_timeout_s=settings.drain_seconds + 10.0,
        logging_config=_QUIET,
        ray_actor_options={
            "num_cpus": plan.reserved_cpus,
            "num_gpus": plan.gpus,
            "runtime_env": {"env_vars": dict(_DIRECT) | threads},
        },
    )
    return deployment.bind(plan, replica_settings(settings, plan, spec), spec)


def cluster_resources() -> ClusterResources:
    """CPUs and GPUs of the cluster."""
    resources = ray.cluster_resources()
    return ClusterResources(cpus=max(1, int(resources.get("CPU", 1))), gpus=resources.get("GPU", 0.0))


def app(args: DeployArgs) -> Application:
    """The application for the arguments in ray.yaml; other settings come from the environment of the cluster."""
    catalog = Catalog.installed()
    settings = settings_loader(catalog).load(**args.settings)
    check_exposure(settings)
    resources = cluster_resources()
    plans = plans_for(settings, args.engines, resources, catalog)
    try:
        _, notes = fitted(plans, resources)
    except InvalidRequestError as error:
        notes = [error.message]
    for note in notes:  # a cluster may grow, so that nothing is taken away
        log.warning("the cluster is too small as it is now", reason=note)
    return build(settings, catalog, plans)
