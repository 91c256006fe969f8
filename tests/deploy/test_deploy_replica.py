"""An engine replica: start, fallback, errors and health."""

import asyncio
from dataclasses import replace

import pytest

from helpers.fakes import PlainToneEngine, ToneEngine, ToneSettings, missing_bundle, tone_settings, tone_spec
from helpers.transports import replica_of
from polyvox.deploy.messages import ChunkMessage, ErrorMessage
from polyvox.deploy.replica import EngineReplica
from polyvox.types import PhonemeShare, Utterance

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


async def test_a_replica_without_its_model_answers_with_the_reason():
    replica = await replica_of(ToneEngine(start_error=missing_bundle()))
    profile = await replica.describe()
    assert profile.reason == "The model 'tone' is not installed; run: polyvox pull tone"
    [failure] = await spoken(replica)
    assert isinstance(failure, ErrorMessage)
    assert failure.kind == "UnavailableError"


async def test_any_other_start_failure_fails_the_replica():
    with pytest.raises(RuntimeError, match="no memory"):
        await replica_of(ToneEngine(start_error=RuntimeError("no memory")))


async def test_an_engine_whose_self_test_fails_on_the_gpu_is_started_on_the_cpu():
    tried = []

    def make(settings):
        tried.append(settings.section(ToneSettings).device)
        return ToneEngine(start_error=RuntimeError("CUDA error") if tried[-1] == "auto" else None)

    replica = EngineReplica("tone", tone_settings(), tone_spec(make), ["0"])
    await replica.start()
    assert tried == ["auto", "cpu"]
    profile = await replica.describe()
    assert profile.reason == ""
    assert profile.warning == "The GPU failed its self-test (RuntimeError); the model 'tone' runs on the CPU."
    assert (await replica.status()).gpus == ("0",)
    assert (await spoken(replica))[0].warning == profile.warning


async def test_there_is_no_fallback_where_the_settings_demand_the_gpu():
    demanding = tone_settings(tone_device="cuda")
    with pytest.raises(RuntimeError, match="CUDA error"):
        await replica_of(ToneEngine(start_error=RuntimeError("CUDA error")), demanding, gpus=["0"])


async def test_a_replica_without_a_gpu_of_its_own_touches_none():
    seen = []

    def make(settings):
        seen.append(settings.section(ToneSettings).device)
        return ToneEngine()

    await EngineReplica("tone", tone_settings(), tone_spec(make)).start()
    assert seen == ["cpu"]


async def test_an_unexpected_exception_is_reported_by_its_reference_without_its_text():
    replica = await replica_of(ToneEngine(fail_at=1, error=RuntimeError("secret path")))
    first, failure = await spoken(replica)
    assert isinstance(first, ChunkMessage)
    assert failure.kind == "EngineError"
    assert "session" in failure.message
    assert "secret" not in failure.message


@pytest.mark.parametrize("asked", [True, False])
async def test_phonemes_are_sent_to_those_who_ask_for_them(asked):
    sounds = (PhonemeShare("h", 0.0, 0.5), PhonemeShare("oʊ", 0.5, 1.0))

    class Phonetic(ToneEngine):
        async def speak(self, utterance):
            async for chunk in super().speak(utterance):
                yield replace(chunk, words=tuple(replace(word, shares=sounds) for word in chunk.words))

    chunks = [item.chunk for item in await spoken(await replica_of(Phonetic()), replace(HELLO, phonemes=asked))]
    words = [word for chunk in chunks for word in chunk.words]
    assert [word.word for word in words] == ["Hello", "there."]
    assert [len(word.phonemes) for word in words] == [2 if asked else 0] * 2


async def test_a_slow_engine_is_healthy_and_a_stuck_one_is_not(clock):
    engine = ToneEngine(gate=asyncio.Event())
    replica = await replica_of(engine, clock=clock)
    waiting = asyncio.create_task(spoken(replica))
    await asyncio.sleep(0)
    assert engine.speaking == 1
    clock.now = 59.0
    await replica.check_health()
    clock.now = 61.0
    with pytest.raises(RuntimeError, match="has produced nothing for 61 s"):
        await replica.check_health()
    engine.gate.set()
    await waiting
    await replica.check_health()


async def test_a_slow_reader_does_not_make_the_engine_unhealthy(clock):
    replica = await replica_of(ToneEngine(), clock=clock)
    items = replica.speak(HELLO, "session")
    await anext(items)
    clock.now = 600.0
    await replica.check_health()
    await items.aclose()


async def test_an_idle_engine_is_probed_and_a_failing_probe_makes_it_unhealthy(clock):
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


async def test_the_status_counts_the_streams_under_way():
    engine = PlainToneEngine()
    replica = await replica_of(engine)
    items = replica.speak(HELLO, "session")
    await anext(items)
    assert (await replica.status()).speaking == 1
    await items.aclose()
    assert (await replica.status()).speaking == 0
    assert engine.closed == 1
