import asyncio

import pytest

from helpers.fakes import PlainToneEngine, ToneEngine, ToneSettings, missing_bundle, tone_settings, tone_spec
from helpers.wires import replica_of
from polyvox.deploy.replica import EngineReplica
from polyvox.deploy.wire import Failure, Parcel
from polyvox.types import Utterance

pytestmark = pytest.mark.anyio

HELLO = Utterance("Hello there.", "low")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


async def spoken(replica, utterance=HELLO):
    return [item async for item in replica.speak(utterance, "session")]


async def test_an_engine_whose_model_is_missing_leaves_a_replica_that_says_so():
    replica = await replica_of(ToneEngine(start_error=missing_bundle()))
    profile = await replica.describe()
    assert profile.reason == "The model 'tone' is not installed; run: polyvox pull tone"
    [failure] = await spoken(replica)
    assert isinstance(failure, Failure)
    assert failure.kind == "UnavailableError"


async def test_an_engine_that_fails_otherwise_fails_its_replica_so_that_another_is_tried():
    with pytest.raises(RuntimeError, match="no memory"):
        await replica_of(ToneEngine(start_error=RuntimeError("no memory")))


async def test_a_gpu_that_fails_the_first_utterance_is_left_for_the_cpu():
    tried = []

    def make(settings):
        tried.append(settings.section(ToneSettings).device)
        return ToneEngine(start_error=RuntimeError("CUDA error") if tried[-1] == "auto" else None)

    replica = EngineReplica("tone", tone_settings(), tone_spec(make), ["0"])
    await replica.start()
    assert tried == ["auto", "cpu"]
    profile = await replica.describe()
    assert profile.reason == ""
    assert profile.warning == "The GPU failed its test (RuntimeError); 'tone' runs on the CPU."
    assert (await replica.vitals()).gpus == ("0",)
    assert (await spoken(replica))[0].warning == profile.warning


async def test_an_owner_who_insists_on_the_gpu_gets_no_cpu():
    insisting = tone_settings(tone_device="cuda")
    with pytest.raises(RuntimeError, match="CUDA error"):
        await replica_of(ToneEngine(start_error=RuntimeError("CUDA error")), insisting, gpus=["0"])


async def test_a_replica_without_a_gpu_of_its_own_touches_none():
    seen = []

    def make(settings):
        seen.append(settings.section(ToneSettings).device)
        return ToneEngine()

    await EngineReplica("tone", tone_settings(), tone_spec(make)).start()
    assert seen == ["cpu"]


async def test_a_defect_is_told_by_its_reference_and_not_by_its_words():
    replica = await replica_of(ToneEngine(fail_at=1, error=RuntimeError("secret path")))
    first, failure = await spoken(replica)
    assert isinstance(first, Parcel)
    assert failure.kind == "EngineError"
    assert "session" in failure.message
    assert "secret" not in failure.message


async def test_an_engine_that_is_only_slow_is_well_and_one_that_hangs_is_not(clock):
    engine = ToneEngine(gate=asyncio.Event())
    replica = await replica_of(engine, clock=clock)
    waiting = asyncio.create_task(spoken(replica))
    await asyncio.sleep(0)
    assert engine.speaking == 1
    clock.now = 59.0
    await replica.check_health()
    clock.now = 61.0
    with pytest.raises(RuntimeError, match="has made nothing for 61 s"):
        await replica.check_health()
    engine.gate.set()
    await waiting
    await replica.check_health()


async def test_a_listener_who_reads_slowly_is_not_taken_for_an_engine_that_hangs(clock):
    replica = await replica_of(ToneEngine(), clock=clock)
    items = replica.speak(HELLO, "session")
    await anext(items)
    clock.now = 600.0
    await replica.check_health()
    await items.aclose()


async def test_an_idle_engine_is_tried_and_found_out(clock):
    engine = ToneEngine()
    replica = await replica_of(engine, clock=clock)
    await replica.check_health()
    assert engine.heard == []
    clock.now = 61.0
    await replica.check_health()
    await replica.probe
    assert [utterance.text for utterance in engine.heard] == ["Ready."]
    engine.fail_at = 0
    clock.now = 122.0
    await replica.check_health()
    await replica.probe
    with pytest.raises(RuntimeError, match="the tone broke"):
        await replica.check_health()
    await replica.close()


async def test_vitals_count_the_streams_under_way():
    engine = PlainToneEngine()
    replica = await replica_of(engine)
    items = replica.speak(HELLO, "session")
    await anext(items)
    assert (await replica.vitals()).speaking == 1
    await items.aclose()
    assert (await replica.vitals()).speaking == 0
    assert engine.closed == 1
