"""The deployment plan: replicas, threads and GPUs of each model."""

import pytest
from pydantic import ValidationError

from helpers.fakes import tone_settings, tone_spec
from helpers.tables import each_row
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
