"""The server on Ray Serve: one deployment with all HTTP doors, and one for each model.

`polyvox.deploy.ray:app` is what ray.yaml names; `build` is the same for programs.
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

from polyvox.api.app import create_app
from polyvox.config import Settings
from polyvox.deploy.line import ServeLine
from polyvox.deploy.plan import DeployArgs, EnginePlan, Machines, ingress_settings, plans_for, replica_settings
from polyvox.deploy.remote_engine import ReplicaLostError, remote_engine
from polyvox.deploy.replica import EngineReplica
from polyvox.deploy.wire import Profile
from polyvox.engines.base import Engine
from polyvox.engines.catalog import Catalog
from polyvox.engines.spec import EngineSpec
from polyvox.errors import PolyvoxError, UnavailableError
from polyvox.installation import settings_loader
from polyvox.service.logs import configure_logging
from polyvox.service.metrics import Metrics
from polyvox.service.registry import Registry
from polyvox.service.speech import SpeechService

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

NAME = "polyvox"
INGRESS = "doors"

_VOICES_BY_REPLICA = 256
_PATIENCE_SECONDS = 120.0
_AGAIN_SECONDS = 15.0
_BESIDES_SPEECH = 256
_HEALTH_PATIENCE_SECONDS = 30.0
"""On a machine that is short of cores a good answer takes a while; an engine that hangs is told by a bad one."""

# Between doors and engines, chunks go over gRPC and no thread stands in between. Only then does a listener who reads
# slowly slow the engine down: Ray's object streams, and the queues between its threads, have no bound.
_DIRECT = MappingProxyType(
    {
        "RAY_SERVE_USE_GRPC_BY_DEFAULT": "1",
        "RAY_SERVE_RUN_ROUTER_IN_SEPARATE_LOOP": "0",
        "RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD": "0",
    }
)

# Each session has a line of its own in the log.
_QUIET = LoggingConfig(enable_access_log=False)


class ServedEngine(EngineReplica):
    """A replica of one model. Voices count as multiplexed models, so that Serve finds those that it holds again."""

    async def __init__(self, plan: EnginePlan, settings: Settings, spec: EngineSpec) -> None:  # type: ignore[misc]
        configure_logging(settings)
        super().__init__(plan.model, settings, spec, [str(gpu) for gpu in ray.get_gpu_ids()])
        await self.start()

    async def __del__(self) -> None:
        await self.close()

    @serve.multiplexed(max_num_models_per_replica=_VOICES_BY_REPLICA)  # type: ignore[untyped-decorator]
    async def hold(self, digest: str) -> str:
        return digest


class Ingress:
    """All HTTP doors. It opens when the default model speaks; one that takes longer joins when it is there."""

    async def __init__(  # type: ignore[misc]
        self, settings: Settings, known: Sequence[str], handles: Mapping[str, DeploymentHandle[Any]]
    ) -> None:
        configure_logging(settings)
        self._lines = {model: ServeLine(model, handle) for model, handle in handles.items()}
        self._profiles: dict[str, Profile] = {}
        factories = {model: partial(self._engine, model) for model in known}
        self._registry = Registry(settings, factories)
        self._service = SpeechService(settings, self._registry, Metrics())
        self._answered = {model: asyncio.Event() for model in handles}
        self._following = [asyncio.create_task(self._follow(model)) for model in handles]
        await self._answered[settings.default_model].wait()
        await asyncio.wait(self._following, timeout=_PATIENCE_SECONDS)

    def __serve_build_asgi_app__(self) -> FastAPI:
        return create_app(self._service)

    async def __del__(self) -> None:
        for task in self._following:
            task.cancel()

    def _engine(self, model: str, settings: Settings) -> Engine:
        profile = self._profiles.get(model)
        if profile is None:
            raise UnavailableError(f"The model {model!r} is still loading; try again in a moment.")
        if profile.reason:
            raise UnavailableError(profile.reason)
        return remote_engine(profile, self._lines[model])

    async def _follow(self, model: str) -> None:
        """Ask a model what it can do until it can speak."""
        while True:
            try:
                profile = await self._lines[model].ask("describe")
            except (ReplicaLostError, PolyvoxError) as error:
                log.warning("model does not answer", model=model, reason=str(error))
            else:
                assert isinstance(profile, Profile)
                self._profiles[model] = profile
                await self._registry.start_again(model, self._service.metrics.batch)
                self._answered[model].set()
                if not profile.reason:
                    return
            await asyncio.sleep(_AGAIN_SECONDS)


def build(settings: Settings, catalog: Catalog, plans: list[EnginePlan]) -> Application:
    """The application for these models; the catalog's engines must be importable on every machine."""
    served = {plan.model: _engine_deployment(plan, settings, catalog.spec(plan.model)) for plan in plans}
    doors = ingress_settings(settings, plans)
    deployment = serve.deployment(serve.ingress()(Ingress)).options(
        name=INGRESS,
        num_replicas=settings.ray_ingress_replicas,
        max_ongoing_requests=doors.max_sessions + doors.max_queue + _BESIDES_SPEECH,
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
        health_check_timeout_s=max(settings.ray_health_seconds, _HEALTH_PATIENCE_SECONDS),
        graceful_shutdown_timeout_s=settings.drain_seconds + 10.0,
        logging_config=_QUIET,
        ray_actor_options={
            "num_cpus": plan.threads,
            "num_gpus": plan.gpus,
            "runtime_env": {"env_vars": dict(_DIRECT) | threads},
        },
    )
    return deployment.bind(plan, replica_settings(settings, plan, spec), spec)


def machines() -> Machines:
    """What the cluster has."""
    resources = ray.cluster_resources()
    return Machines(cpus=max(1, int(resources.get("CPU", 1))), gpus=resources.get("GPU", 0.0))


def app(args: DeployArgs) -> Application:
    """The application as ray.yaml describes it; what that leaves out is taken from the environment of the cluster."""
    catalog = Catalog.installed()
    settings = settings_loader(catalog).load(**args.settings)
    return build(settings, catalog, plans_for(settings, args.engines, machines(), catalog))
