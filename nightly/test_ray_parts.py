"""The deployment against Ray's own classes, without a cluster."""

import asyncio

import pytest
import yaml
from ray.exceptions import ActorDiedError
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError
from ray.serve.schema import ServeDeploySchema

from helpers.documents import ROOT
from helpers.fakes import ToneEngine, tone_catalog, tone_settings
from polyvox.deploy import ray_transport
from polyvox.deploy.plan import ClusterResources, DeployArgs, EngineArgs, plans_for
from polyvox.deploy.ray import INGRESS, build
from polyvox.deploy.ray_transport import RayTransport
from polyvox.deploy.ray_yaml import ray_yaml
from polyvox.deploy.remote_engine import ReplicaLostError
from polyvox.errors import OverloadedError, UnavailableError


class Handle:
    """A handle of Serve's, whose streams give `items` and then raise `error`."""

    def __init__(self, items=(), error=None):
        self.items = items
        self.error = error
        self.cancelled = False
        self.asked = None

    def options(self, **options):
        self.asked = options
        return self

    def remote(self, *arguments):
        return self

    def cancel(self):
        self.cancelled = True

    async def __aiter__(self):
        for item in self.items:
            yield item
        if self.error is not None:
            raise self.error


def test_serves_own_schema_takes_the_file_that_is_written():
    config = ServeDeploySchema.model_validate(yaml.safe_load(ray_yaml(tone_settings(), "ray.yaml")))
    assert config.applications[0].import_path == "polyvox.deploy.ray:app"
    assert DeployArgs.model_validate(config.applications[0].args).engines["tone"].max_replicas == 2


def test_serves_own_schema_takes_what_is_in_the_ray_service():
    service = yaml.safe_load((ROOT / "deploy" / "kuberay" / "rayservice.yaml").read_text(encoding="utf-8"))
    config = ServeDeploySchema.model_validate(yaml.safe_load(service["spec"]["serveConfigV2"]))
    assert config.http_options.port == 8880
    assert DeployArgs.model_validate(config.applications[0].args).engines["kokoro"].max_replicas == 8


def test_a_plan_becomes_a_deployment_with_its_figures():
    settings, catalog = tone_settings(), tone_catalog(ToneEngine())
    args = {"tone": EngineArgs(max_replicas=3, gpus=0.5, threads=2, max_queued_requests=9)}
    application = build(settings, catalog, plans_for(settings, args, ClusterResources(cpus=8), catalog))
    ingress = application._bound_deployment
    assert ingress.name == INGRESS
    served = ingress.init_args[2]["tone"]._bound_deployment
    assert served._deployment_config.autoscaling_config.max_replicas == 3
    assert served._deployment_config.max_queued_requests == 9
    assert (served.ray_actor_options["num_gpus"], served.ray_actor_options["num_cpus"]) == (0.5, 2)


@pytest.mark.anyio
async def test_a_stream_asks_for_the_replica_that_holds_the_voice_and_is_cancelled_when_it_is_left():
    handle = Handle(items=(1, 2, 3))
    items = RayTransport("tone", handle).stream("speak", "utterance", voice="digest")
    assert await anext(items) == 1
    assert handle.asked == {"method_name": "speak", "multiplexed_model_id": "digest", "stream": True}
    await items.aclose()
    assert handle.cancelled


@pytest.mark.anyio
async def test_a_full_queue_is_overload_and_a_dead_actor_a_lost_replica():
    full = RayTransport("tone", Handle(error=BackPressureError(num_queued_requests=1, max_queued_requests=1)))
    with pytest.raises(OverloadedError) as caught:
        await anext(full.stream("speak"))
    assert caught.value.retry_after >= 1.0
    with pytest.raises(ReplicaLostError):
        await anext(RayTransport("tone", Handle(error=ActorDiedError())).stream("speak"))


class Silent(Handle):
    """A handle whose calls are not answered before `answer` is set; `lives` says what becomes of each broadcast."""

    def __init__(self, lives):
        super().__init__()
        self.lives = iter(lives)
        self.answer = asyncio.Event()
        self.broadcasts = asyncio.Semaphore(0)

    async def asked_times(self, count):
        for _ in range(count):
            await self.broadcasts.acquire()

    def __await__(self):
        return self.answer.wait().__await__()

    async def __aiter__(self):
        yield await self.answer.wait()

    def broadcast(self, method):
        assert method == "status"
        self.broadcasts.release()
        return self

    async def results_async(self, *, timeout_s, return_exceptions):
        outcome = next(self.lives)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


@pytest.mark.anyio
async def test_who_waits_for_a_model_without_processes_is_told_how_long(monkeypatch):
    monkeypatch.setattr(ray_transport, "_SILENCE_SECONDS", 0.01)
    gone = DeploymentUnavailableError(None)
    for lives in ([gone], [[ActorDiedError()]], [[ActorDiedError(), "alive"], TimeoutError(), [ActorDiedError()]]):
        for call in ("stream", "ask"):
            handle = Silent(lives)
            transport = RayTransport("tone", handle)
            with pytest.raises(UnavailableError, match=r"processes of the model 'tone' have ended.* in 20 s") as caught:
                await (anext(transport.stream("speak")) if call == "stream" else transport.ask("prepare"))
            assert (caught.value.retry, caught.value.retry_after) == (True, 20)
            assert next(handle.lives, None) is None
            assert handle.cancelled is (call == "stream")


class Clock:
    """Stands for the module `time`."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.mark.anyio
async def test_a_model_that_lives_is_waited_for_and_its_next_end_is_expected_to_last_as_long_as_the_last(monkeypatch):
    clock, gone = Clock(), DeploymentUnavailableError(None)
    monkeypatch.setattr(ray_transport, "_SILENCE_SECONDS", 0.01)
    monkeypatch.setattr(ray_transport, "time", clock)
    handle = Silent([gone, gone, ["alive"], ["alive"], gone])
    transport = RayTransport("tone", handle)
    for now, left in ((100.0, 20), (130.0, 3)):
        clock.now = now
        with pytest.raises(UnavailableError, match=f"again in {left} s"):
            await transport.ask("prepare")
    waiting = asyncio.ensure_future(transport.ask("prepare"))
    await handle.asked_times(4)
    clock.now = 146.5
    handle.answer.set()
    assert await waiting is True
    handle.answer.clear()
    with pytest.raises(UnavailableError, match="again in 47 s"):
        await transport.ask("prepare")
