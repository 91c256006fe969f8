"""The deployment plan: replicas, threads and GPUs of each model."""

import pytest
from pydantic import ValidationError

from helpers.fakes import tone_settings, tone_spec
from helpers.tables import each_row
from polyvox.deploy.fit import fitted
from polyvox.deploy.plan import ClusterResources, DeployArgs, EngineArgs, ingress_settings, plans_for, replica_settings
from polyvox.engines.catalog import Catalog
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.engines.kokoro.spec import KOKORO
from polyvox.errors import InvalidRequestError

CATALOG = Catalog((tone_spec(), KOKORO))


def plan_of(model, settings, resources=ClusterResources(cpus=8), **args):
    engines = {model: EngineArgs(**args)} if args else {}
    return next(plan for plan in plans_for(settings, engines, resources, CATALOG) if plan.model == model)


def test_settings_apply_to_options_a_model_leaves_out():
    settings = tone_settings(ray_min_replicas=2, ray_max_replicas=4, ray_max_queued_requests=7)
    plan = plan_of("tone", settings, max_replicas=3, target_ongoing_requests=1.5)
    assert (plan.min_replicas, plan.max_replicas) == (2, 3)
    assert plan.target_ongoing_requests == 1.5
    assert plan.max_queued_requests == 7


def test_the_first_replicas_lie_between_the_fewest_and_the_most():
    settings = tone_settings()
    assert plan_of("tone", settings, min_replicas=3, initial_replicas=1, max_replicas=5).initial_replicas == 3
    assert plan_of("tone", settings, min_replicas=1, initial_replicas=9, max_replicas=5).initial_replicas == 5
    assert plan_of("tone", settings, min_replicas=9, max_replicas=2).min_replicas == 2


def test_cores_are_shared_out_among_the_most_replicas_of_all_models():
    settings = tone_settings(models=["tone", "kokoro"], ray_max_replicas=2)
    assert [plan.threads for plan in plans_for(settings, {}, ClusterResources(cpus=16), CATALOG)] == [4, 4]
    assert [plan.threads for plan in plans_for(settings, {}, ClusterResources(cpus=2), CATALOG)] == [1, 1]
    assert plan_of("kokoro", settings, threads=3).threads == 3


def test_a_gpu_goes_to_models_that_use_one_where_there_is_one():
    settings = tone_settings(models=["tone", "kokoro"])
    with_gpu = ClusterResources(cpus=8, gpus=1.0)
    assert plan_of("tone", settings, with_gpu).gpus == 1.0
    assert plan_of("kokoro", settings, with_gpu).gpus == 0.0
    assert plan_of("tone", settings).gpus == 0.0
    assert plan_of("tone", settings, with_gpu, gpus=0.25).gpus == 0.25
    assert plan_of("tone", tone_settings(ray_gpus=0.5), with_gpu).gpus == 0.5


def test_options_for_a_model_that_is_not_served_are_refused():
    with pytest.raises(InvalidRequestError, match="'flute'"):
        plans_for(tone_settings(), {"flute": EngineArgs()}, ClusterResources(cpus=1), CATALOG)


@each_row("args", [{"replicas": 2}, {"max_replicas": 0}, {"gpus": -1}, {"max_queued_requests": 0}])
def test_a_misspelt_or_invalid_option_is_refused(args):
    with pytest.raises(ValidationError):
        DeployArgs.model_validate({"engines": {"tone": args}})


def test_the_limit_of_the_doors_is_above_that_of_all_models():
    settings = tone_settings(max_sessions=4, max_queue=2)
    plans = plans_for(
        settings, {"tone": EngineArgs(max_replicas=3, max_ongoing_requests=5)}, ClusterResources(cpus=4), CATALOG
    )
    assert ingress_settings(settings, plans).max_sessions > 3 * 5 + plans[0].max_queued_requests
    assert ingress_settings(tone_settings(max_sessions=500), plans).max_sessions == 500


def test_a_replica_has_its_own_threads_and_no_log_file_in_common(tmp_path):
    settings = tone_settings(models=["tone", "kokoro"], log_file=tmp_path / "log")
    own = replica_settings(settings, plan_of("kokoro", settings, threads=3), KOKORO)
    assert own.section(KokoroSettings).threads == 3
    assert own.log_file is None


def test_gpu_models_that_are_more_than_the_gpus_share_them():
    settings = tone_settings(models=["tone", "kokoro"], kokoro_executor="native")
    for gpus, shares in ((1.0, [0.5, 0.5]), (2.0, [1.0, 1.0])):
        plans = plans_for(settings, {}, ClusterResources(cpus=8, gpus=gpus), CATALOG)
        assert [plan.gpus for plan in plans] == shares
        assert fitted(plans, ClusterResources(cpus=8, gpus=gpus)) == (plans, [])
    chosen = plans_for(settings, {"tone": EngineArgs(gpus=1)}, ClusterResources(cpus=8, gpus=2), CATALOG)
    assert [plan.gpus for plan in chosen] == [1.0, 1.0]


def test_processes_of_one_thread_share_cores_that_are_fewer():
    one = ClusterResources(cpus=1)
    settings = tone_settings(models=["tone", "kokoro"], ray_max_replicas=1)
    plans = plans_for(settings, {}, one, CATALOG)
    assert [plan.reserved_cpus for plan in plans] == [1, 1]
    reduced, [note] = fitted(plans, one)
    assert [(plan.threads, plan.reserved_cpus) for plan in reduced] == [(1, 0.5), (1, 0.5)]
    assert note.startswith("2 processes share 1 CPUs")
    assert fitted(plans, ClusterResources(cpus=2)) == (plans, [])


def test_the_fewest_processes_of_all_models_must_fit():
    settings, three = tone_settings(models=["tone", "kokoro"], ray_threads=2), ClusterResources(cpus=3)
    with pytest.raises(InvalidRequestError, match=r"1 of tone with 2, 1 of kokoro with 2\) need 4 CPUs.*has 3.*fewer"):
        fitted(plans_for(settings, {}, three, CATALOG), three)


def test_a_plan_that_does_not_fit_is_reduced_or_refused_with_a_sentence():
    settings = tone_settings(ray_threads=2, ray_initial_replicas=3, ray_max_replicas=4)
    [plan], [note] = fitted(plans_for(settings, {}, ClusterResources(cpus=4), CATALOG), ClusterResources(cpus=4))
    assert (plan.initial_replicas, plan.min_replicas, plan.max_replicas) == (1, 1, 4)
    assert "need 6 CPUs, and the cluster has 4" in note
    giant = plans_for(tone_settings(ray_threads=8), {}, ClusterResources(cpus=4), CATALOG)
    with pytest.raises(InvalidRequestError, match="asks for 8 CPUs, and the cluster has 4; set threads"):
        fitted(giant, ClusterResources(cpus=4))
    eager = plans_for(tone_settings(ray_gpus=2), {}, ClusterResources(cpus=4, gpus=1), CATALOG)
    with pytest.raises(InvalidRequestError, match="asks for 2 GPUs, and the cluster has 1"):
        fitted(eager, ClusterResources(cpus=4, gpus=1))
