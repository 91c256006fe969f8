"""The deployment plan: replicas of each model, and the resources of each replica."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.engines.spec import EngineSpec
from polyvox.errors import InvalidRequestError

Number = TypeVar("Number", int, float)


class EngineArgs(BaseModel):
    """Options of one model in ray.yaml; the settings apply for those left out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_replicas: int | None = Field(None, ge=0, le=1_000)
    initial_replicas: int | None = Field(None, ge=0, le=1_000)
    max_replicas: int | None = Field(None, ge=1, le=1_000)
    target_ongoing_requests: float | None = Field(None, gt=0)
    max_ongoing_requests: int | None = Field(None, ge=1)
    max_queued_requests: int | None = Field(None, ge=1)
    upscale_delay_seconds: float | None = Field(None, ge=0)
    downscale_delay_seconds: float | None = Field(None, ge=0)
    gpus: float | None = Field(None, ge=0)
    threads: int | None = Field(None, ge=0, le=1_024)


DEFAULT_ARGS = EngineArgs.model_validate({})


class DeployArgs(BaseModel):
    """The arguments of the application in ray.yaml: settings by name, and options by model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    settings: Mapping[str, Any] = Field(default_factory=dict)
    engines: Mapping[str, EngineArgs] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClusterResources:
    """CPUs and GPUs of the cluster."""

    cpus: int
    gpus: float = 0.0


@dataclass(frozen=True, slots=True)
class EnginePlan:
    """The replicas of one model."""

    model: str
    min_replicas: int
    initial_replicas: int
    max_replicas: int
    target_ongoing_requests: float
    max_ongoing_requests: int
    max_queued_requests: int
    upscale_delay_seconds: float
    downscale_delay_seconds: float
    gpus: float
    threads: int
    cpus: float | None = None
    """CPUs that Ray reserves for a process; None: one for each thread."""

    @property
    def reserved_cpus(self) -> float:
        return float(self.threads) if self.cpus is None else self.cpus

    @property
    def most_requests(self) -> int:
        """Requests that all replicas can serve or queue together."""
        return self.max_replicas * self.max_ongoing_requests + self.max_queued_requests


def plans_for(
    settings: Settings, engines: Mapping[str, EngineArgs], resources: ClusterResources, catalog: Catalog
) -> list[EnginePlan]:
    """A plan for each model of the settings."""
    unknown = sorted(set(engines) - set(settings.models))
    if unknown:
        raise InvalidRequestError(
            f"'engines' names {unknown[0]!r}, which is not one of the models ({', '.join(settings.models)}); "
            "add it to 'models' or remove it.",
            field=f"engines.{unknown[0]}",
        )
    given = {model: engines.get(model, DEFAULT_ARGS) for model in settings.models}
    processes = sum(_chosen(args.max_replicas, settings.ray_max_replicas) for args in given.values())
    share = max(1, resources.cpus // processes)
    plans = [_plan(catalog.spec(model), model, args, settings, resources, share) for model, args in given.items()]
    return _sharing_gpus(plans, given, settings, resources)


def _sharing_gpus(
    plans: Sequence[EnginePlan], given: Mapping[str, EngineArgs], settings: Settings, resources: ClusterResources
) -> list[EnginePlan]:
    """The plans with equal parts of GPUs for processes that were promised none by name and outnumber them."""
    free = [plan for plan in plans if plan.gpus and given[plan.model].gpus is None and settings.ray_gpus is None]
    processes = sum(max(1, plan.initial_replicas) for plan in free)
    if processes <= resources.gpus or resources.gpus < 1:
        return list(plans)
    part = part_of(1, math.ceil(processes / int(resources.gpus)))
    return [replace(plan, gpus=part) if plan in free else plan for plan in plans]


def part_of(whole: int, parts: int) -> float:
    """A part of so many, in hundredths and rounded down, so that all of them fit."""
    return max(1, 100 * whole // parts) / 100


def _plan(
    spec: EngineSpec, model: str, args: EngineArgs, settings: Settings, resources: ClusterResources, share: int
) -> EnginePlan:
    most = _chosen(args.max_replicas, settings.ray_max_replicas)
    fewest = min(_chosen(args.min_replicas, settings.ray_min_replicas), most)
    first = _chosen(args.initial_replicas, settings.ray_initial_replicas)
    gpus = settings.ray_gpus if args.gpus is None else args.gpus
    if gpus is None:
        gpus = 1.0 if resources.gpus and spec.uses_gpu(settings) else 0.0
    return EnginePlan(
        model=model,
        min_replicas=fewest,
        initial_replicas=min(max(first, fewest), most),
        max_replicas=most,
        target_ongoing_requests=_chosen(args.target_ongoing_requests, settings.ray_target_ongoing_requests),
        max_ongoing_requests=_chosen(args.max_ongoing_requests, settings.ray_max_ongoing_requests),
        max_queued_requests=_chosen(args.max_queued_requests, settings.ray_max_queued_requests),
        upscale_delay_seconds=_chosen(args.upscale_delay_seconds, settings.ray_upscale_delay_seconds),
        downscale_delay_seconds=_chosen(args.downscale_delay_seconds, settings.ray_downscale_delay_seconds),
        gpus=gpus,
        threads=_chosen(args.threads, settings.ray_threads) or share,
    )


def _chosen(given: Number | None, otherwise: Number) -> Number:
    return otherwise if given is None else given


def ingress_settings(settings: Settings, plans: list[EnginePlan]) -> Settings:
    """Settings of the doors: each model's queue refuses overload, so the doors' own limit must be higher.

    Nor may that limit follow the pace: replicas are added when those there are have much to do.
    """
    most = sum(plan.most_requests for plan in plans) + 1
    return settings.model_copy(update={"max_sessions": max(settings.max_sessions, most), "adaptive_sessions": False})


def replica_settings(settings: Settings, plan: EnginePlan, spec: EngineSpec) -> Settings:
    """Settings of a replica: its own threads, and no log file, since replicas would rotate the same one."""
    own = {"log_file": None, "chunk_log": None, "log_format": "json"}
    return spec.with_threads(settings, plan.threads).model_copy(update=own)
