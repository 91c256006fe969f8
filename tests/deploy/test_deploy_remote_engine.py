"""The proxy of an engine in other processes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

import numpy as np
import pytest

from helpers.cloning import CloneEngine
from helpers.fakes import BusyEngine, PlainToneEngine, ToneEngine, tone_service
from helpers.serving import called
from helpers.tables import each_row
from helpers.transports import PickledTransport, remote, replica_of
from polyvox.deploy.messages import is_digest_only
from polyvox.deploy.remote_engine import remote_engine
from polyvox.engines.base import (
    SupportsCodes,
    SupportsConversion,
    SupportsDialogue,
    SupportsLocation,
    SupportsMixing,
    SupportsPhonemes,
    SupportsStreamingText,
)
from polyvox.errors import PromptError, UnavailableError, UnknownVoiceError
from polyvox.types import AudioChunk, EngineLocation, PreparedVoice, Utterance, VoicePrompt

pytestmark = pytest.mark.anyio

HELLO = Utterance("One two three four.", "low")
PROMPT = VoicePrompt(np.ones(2_400, np.float32) / 10, 24_000, "Some words.", "d" * 64)


async def chunks_of(engine, utterance=HELLO):
    return [chunk async for chunk in engine.speak(utterance)]


async def test_a_remote_engine_streams_the_same_chunks():
    there, _ = await remote(ToneEngine())
    here = ToneEngine()
    for far, near in zip(await chunks_of(there), await chunks_of(here), strict=True):
        assert np.array_equal(far.pcm, near.pcm)
        assert (far.index, far.start, far.text, far.span) == (near.index, near.start, near.text, near.span)
        assert (far.words, far.tokens, far.sample_rate) == (near.words, near.tokens, near.sample_rate)


async def test_a_remote_engine_has_the_engines_name_capabilities_and_voices():
    there, _ = await remote(ToneEngine("flute"))
    assert (there.name, there.capabilities) == ("flute", ToneEngine("flute").capabilities)
    assert list(there.voices) == list(ToneEngine().voices)


async def test_what_keeps_a_replica_from_speaking_reaches_ready_and_leaves_it():
    engine = ToneEngine()
    engine.obstacle = "The language model server cannot be reached."
    there, _ = await remote(engine)
    async with called(tone_service(there)) as client:
        hindered = await client.get("/ready")
        engine.obstacle = ""
        await there.refresh()
        free = await client.get("/ready")
    assert (hindered.status_code, free.status_code) == (503, 200)
    assert hindered.json()["reasons"] == {"tone": "The language model server cannot be reached."}


async def test_an_engine_without_obstacles_need_not_be_watched():
    replica = await replica_of(ToneEngine())
    assert (await replica.describe()).obstacle is None


async def test_a_remote_engine_tells_where_the_replica_runs_that_spoke_last():
    engine = ToneEngine()
    engine.location = EngineLocation("cuda:0")
    replicas = [await replica_of(engine, place=EngineLocation(actor=name, node="node")) for name in ("one", "two")]
    there = remote_engine(await replicas[0].describe(), PickledTransport(replicas[1]))
    assert there.location == EngineLocation("cuda:0", "one", "node")
    await chunks_of(there)
    assert there.location == EngineLocation("cuda:0", "two", "node")
    assert isinstance(there, SupportsLocation)


@each_row(
    ("body", "status"),
    [
        ({"input": "Hello.", "voice": "low"}, 200),
        ({"input": "Hello.", "voice": "nobody"}, 400),
        ({"input": "+ = +", "voice": "low"}, 400),
        ({"input": ".", "voice": "low"}, 200),
        ({"input": "Hello.", "voice": "low", "model": "tuba"}, 404),
        ({"input": "Hello.", "voice": "low", "speed": 9}, 400),
    ],
)
async def test_the_doors_answer_alike_for_a_local_and_a_remote_engine(body, status):
    there, _ = await remote(ToneEngine())
    answers = []
    for engine in (ToneEngine(), there):
        service = tone_service(factories={"tone": lambda _, engine=engine: engine})
        async with called(service) as client:
            answers.append(await client.post("/v1/audio/speech", json={"response_format": "pcm"} | body))
    near, far = answers
    assert far.status_code == near.status_code == status
    assert far.content == near.content


async def test_closing_the_speech_ends_it_at_the_engine():
    engine = ToneEngine(chunks=50)
    there, _ = await remote(engine)
    async with aclosing(there.speak(HELLO)) as chunks:
        await anext(chunks)
        assert engine.speaking == 1
    assert (engine.speaking, engine.closed) == (0, 1)


async def test_a_replica_lost_before_the_first_chunk_is_replaced_by_another():
    there, transport = await remote(ToneEngine(), losses=1)
    assert len(await chunks_of(there)) == 3
    assert [method for method, _, _ in transport.calls] == ["speak", "speak"]


async def test_a_replica_lost_in_mid_stream_ends_the_stream_with_an_error():
    there, transport = await remote(ToneEngine(), losses=1, after=2)
    chunks = there.speak(HELLO)
    assert [(await anext(chunks)).index for _ in range(2)] == [0, 1]
    with pytest.raises(UnavailableError, match="has ended"):
        await anext(chunks)
    assert len(transport.calls) == 1


async def test_a_request_that_crashes_replicas_is_not_sent_to_all_of_them():
    there, transport = await remote(ToneEngine(), losses=9)
    with pytest.raises(UnavailableError, match="replicas of the model 'tone' keep failing"):
        await chunks_of(there)
    with pytest.raises(UnavailableError, match="replicas of the model 'tone' keep failing"):
        await there.prepare(PROMPT)
    assert len(transport.calls) == 4


async def test_a_remote_engine_supports_exactly_the_protocols_of_its_engine():
    plain, _ = await remote(PlainToneEngine())
    assert not isinstance(
        plain,
        SupportsPhonemes
        | SupportsMixing
        | SupportsCodes
        | SupportsConversion
        | SupportsDialogue
        | SupportsStreamingText,
    )
    full, _ = await remote(ToneEngine())
    assert isinstance(full, SupportsPhonemes)
    assert isinstance(full, SupportsMixing)
    assert not isinstance(full, SupportsCodes)
    phonemes = await asyncio.to_thread(full.phonemize, "Hi", "en-us")
    assert phonemes == ToneEngine().phonemize("Hi", "en-us")
    mixed = await asyncio.to_thread(full.mixed_voice, "low+high")
    assert np.array_equal(mixed, ToneEngine().mixed_voice("low+high"))
    with pytest.raises(UnknownVoiceError, match="flute"):
        await asyncio.to_thread(full.mixed_voice, "flute")


async def test_a_prepared_voice_is_sent_once_and_by_its_digest_after_that():
    engine = CloneEngine()
    there, transport = await remote(engine)
    voice = await there.prepare(PROMPT)
    utterance = replace(HELLO, prepared=voice)
    spoken = await chunks_of(there, utterance)
    assert np.array_equal(spoken[0].pcm, (await chunks_of(engine, utterance))[0].pcm)
    method, (arrived, *_), routed_by = transport.calls[-1]
    assert (method, routed_by) == ("speak", voice.digest)
    assert is_digest_only(arrived.prepared)
    assert {call[2] for call in transport.calls} == {voice.digest}


async def test_a_replica_that_does_not_hold_the_voice_is_sent_it():
    engine = CloneEngine()
    voice = await engine.prepare(PROMPT)
    there, transport = await remote(engine)
    utterance = replace(HELLO, prepared=voice)
    await chunks_of(there, utterance)
    await chunks_of(there, utterance)
    assert [is_digest_only(arguments[0].prepared) for _, arguments, _ in transport.calls] == [False, True]
    transport._replica._voices.remove(lambda *_: True)
    assert len(await chunks_of(there, utterance)) == 3
    assert [is_digest_only(arguments[0].prepared) for _, arguments, _ in transport.calls[2:]] == [True, False]


async def test_a_replica_prepares_a_voice_once():
    engine = CloneEngine()
    there, _ = await remote(engine)
    first, second = await there.prepare(PROMPT), await there.prepare(PROMPT)
    assert first.digest == second.digest == PROMPT.digest
    assert len(engine.prepared) == 1


class DuetEngine(ToneEngine):
    """Takes voices as codes, pairs of voices, and recordings to say again."""

    def __init__(self):
        super().__init__()
        self.spoke_with = []

    def check(self, utterance):
        """Any voice will do."""

    def voice_from_codes(self, codes, transcript):
        if max(codes) > 9:
            raise PromptError("Those are none of the codec's tokens.", field="reference_codes")
        return PreparedVoice(self.name, "codes", {"codes": np.array(codes)})

    def dialogue_voice(self, first, second):
        return PreparedVoice(
            self.name, "dialogue_voice", {"both": np.concatenate([*first.arrays.values(), *second.arrays.values()])}
        )

    def convert(self, source, utterance) -> AsyncIterator[AudioChunk]:
        return self.speak(replace(utterance, text=source.transcript))

    def speak(self, utterance):
        self.spoke_with.append(utterance.prepared)
        return super().speak(utterance)


async def test_a_voice_from_codes_is_made_and_checked_by_the_replica():
    engine = DuetEngine()
    there, _ = await remote(engine)
    await chunks_of(there, replace(HELLO, prepared=there.voice_from_codes([1, 2], "Hi.")))
    assert engine.spoke_with[0].arrays["codes"].tolist() == [1, 2]
    with pytest.raises(PromptError, match="none of the codec's"):
        await chunks_of(there, replace(HELLO, prepared=there.voice_from_codes([99], "Hi.")))


async def test_a_dialogue_voice_is_made_by_the_replica():
    engine = DuetEngine()
    there, _ = await remote(engine)
    first = PreparedVoice("tone", "a", {"codes": np.array([1])})
    both = there.dialogue_voice(first, there.voice_from_codes([2], "Hi."))
    await chunks_of(there, replace(HELLO, prepared=both))
    await chunks_of(there, replace(HELLO, prepared=both))
    assert [voice.arrays["both"].tolist() for voice in engine.spoke_with] == [[1, 2], [1, 2]]


async def test_a_recording_is_converted_by_the_replica():
    engine = DuetEngine()
    there, _ = await remote(engine)
    assert isinstance(there, SupportsConversion)
    chunks = [chunk async for chunk in there.convert(PROMPT, replace(HELLO, text=""))]
    assert engine.heard[0].text == "Some words."
    assert len(chunks) == 3


async def test_batch_reports_are_counted_by_the_doors():
    there, _ = await remote(BusyEngine(burn=0.001))
    reports = []
    there.observe(reports.append)
    await chunks_of(there)
    assert {report.stage for report in reports} == {"burn"}
    assert sum(report.size for report in reports) in (2, 3)  # the last batch's report may come after its chunk
