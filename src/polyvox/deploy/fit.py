"""Deployment plans held against the resources of a cluster, before anything waits for what will never come."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from polyvox.deploy.plan import ClusterResources, EnginePlan, part_of
from polyvox.errors import InvalidRequestError

_STEP = 0.01
"""Ray hands out hundredths of a CPU or GPU without trouble of rounding."""


def fitted(plans: Sequence[EnginePlan], resources: ClusterResources) -> tuple[list[EnginePlan], list[str]]:
    """The plans reduced to what the cluster can start, and a sentence for each reduction.

    InvalidRequestError, with the remedy, where even the fewest processes of all models do not fit.
    """
    found, notes = _sharing_cpus(plans, resources.cpus)
    for what, available, need in (("CPUs", float(resources.cpus), _cpus), ("GPUs", resources.gpus, _gpus)):
        _refuse_giants(found, what, available, need)
        found, more = _with_room(found, what, available, need)
        notes += more
    return found, notes


def _sharing_cpus(plans: Sequence[EnginePlan], cpus: int) -> tuple[list[EnginePlan], list[str]]:
    """Parts of a CPU for each process where all have one thread and there are more of them than CPUs."""
    processes = sum(max(1, plan.min_replicas) for plan in plans)
    if processes <= cpus or any(plan.threads > 1 for plan in plans):
        return list(plans), []
    part = part_of(cpus, processes)
    shared = [replace(plan, cpus=part, initial_replicas=plan.min_replicas) for plan in plans]
    return shared, [f"{processes} processes share {cpus} CPUs; each model is slower than on a CPU of its own."]


def _cpus(plan: EnginePlan) -> float:
    return plan.reserved_cpus


def _gpus(plan: EnginePlan) -> float:
    return plan.gpus


def _refuse_giants(
    plans: Sequence[EnginePlan], what: str, available: float, need: Callable[[EnginePlan], float]
) -> None:
    for plan in plans:
        if need(plan) > available and plan.max_replicas:
            option = "threads" if what == "CPUs" else "gpus"
            raise InvalidRequestError(
                f"A process of {plan.model!r} asks for {need(plan):g} {what}, and the cluster has {available:g}; "
                f"set {option} (ray_{option}) to at most {available:g}.",
                field=f"ray_{option}",
            )


def _with_room(
    plans: Sequence[EnginePlan], what: str, available: float, need: Callable[[EnginePlan], float]
) -> tuple[list[EnginePlan], list[str]]:
    """The plans with as many first processes as fit; those that may be added later wait for room without harm."""
    first = sum(need(plan) * plan.initial_replicas for plan in plans)
    if first <= available + _STEP / 2:
        return list(plans), []
    fewest = sum(need(plan) * plan.min_replicas for plan in plans)
    if fewest > available + _STEP / 2:
        listed = ", ".join(f"{plan.min_replicas} of {plan.model} with {need(plan):g}" for plan in plans if need(plan))
        raise InvalidRequestError(
            f"The fewest processes of all models ({listed}) need {fewest:g} {what}, and the cluster has {available:g}; "
            "serve fewer models, or lower ray_min_replicas, ray_threads or ray_gpus.",
            field="models",
        )
    reduced = [replace(plan, initial_replicas=plan.min_replicas) if need(plan) else plan for plan in plans]
    note = (
        f"The first processes of all models need {first:g} {what}, and the cluster has {available:g}: "
        "it starts with the fewest."
    )
    return reduced, [note]
