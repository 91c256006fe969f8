"""Recordings over Wyoming: described, collected within limits, transcribed."""

import pytest

from helpers.fakes import tone_service
from helpers.listening import SPEECH, ScriptedRecogniser, listening_with
from helpers.wyoming import WyomingClient, served_wyoming
from polyvox.api.dialects.wyoming.event import Event
from polyvox.audio.decode import decode
from polyvox.audio.pcm import to_pcm16

pytestmark = pytest.mark.anyio
FORM = {"rate": 16_000, "width": 2, "channels": 1}
SAMPLES = to_pcm16(decode(SPEECH, max_seconds=10, max_samples=1_000_000)[0])


async def recorded(client: WyomingClient, samples: bytes = SAMPLES, **form: int) -> None:
    await client.send("audio-start", **FORM | form)
    for start in range(0, len(samples), 8_192):
        await client.send_raw(Event("audio-chunk", FORM | form, samples[start : start + 8_192]).encoded())
    await client.send("audio-stop")


async def test_describe_lists_the_recognisers_that_are_installed(tmp_path):
    both = listening_with(tone_service(), any=ScriptedRecogniser(), english=ScriptedRecogniser())
    async with served_wyoming(service=both) as served, await served.connect() as client:
        await client.send("describe")
        (program,) = (await client.read()).data["asr"]
    assert program["name"] == "polyvox"
    assert [model["name"] for model in program["models"]] == ["english", "any"]
    assert program["models"][0]["languages"] == ["en"]
    async with served_wyoming(service=tone_service(models_dir=tmp_path)) as served, await served.connect() as client:
        await client.send("describe")
        assert (await client.read()).data["asr"] == []


async def test_a_recording_in_chunks_is_transcribed_and_its_memory_freed():
    heard = ScriptedRecogniser()
    service = listening_with(tone_service(), any=heard)
    async with served_wyoming(service=service) as served, await served.connect() as client:
        await client.send("transcribe", language="de", transcript_names=["Wren"])
        await recorded(client)
        transcript = await client.read()
        await recorded(client)
        again = await client.read()
        await client.send("ping", text="still here")
        assert (await client.read()).type == "pong"
        assert service.bodies.used == 0
    assert (transcript.type, transcript.data) == ("transcript", {"text": "Hello there.", "language": "de"})
    assert (again.type, again.data["language"]) == ("transcript", "en")
    assert [(task.language, task.prompt) for task in heard.tasks] == [("de", "Wren"), (None, "")]
    assert heard.windows[0] == pytest.approx(3, abs=0.5)


async def test_recordings_beyond_a_limit_or_of_another_kind_end_the_connection_with_a_reason():
    service = listening_with(tone_service(listen_max_seconds=1.0), any=ScriptedRecogniser())
    rows = [
        ([Event("audio-stop")], "must come before"),
        ([Event("audio-start", FORM | {"width": 4})], "16-bit"),
        ([Event("audio-start", FORM | {"rate": 10**9})], "'rate'"),
        ([Event("audio-start", FORM), Event("audio-start", FORM)], "came before"),
        ([Event("audio-start", FORM), Event("audio-chunk", FORM, bytes(40_000))], "send a shorter"),
        ([Event("transcribe", {"language": "klingon"}), Event("audio-start", FORM), Event("audio-stop")], "klingon"),
        ([Event("transcribe", {"name": 3}), Event("audio-start", FORM), Event("audio-stop")], "'name'"),
        ([Event("transcribe", {"transcript_names": "x"}), Event("audio-start", FORM), Event("audio-stop")], "list"),
    ]
    async with served_wyoming(service=service) as served:
        for events, reason in rows:
            async with await served.connect() as client:
                for event in events:
                    await client.send_raw(event.encoded())
                (error,) = await client.rest()
                assert reason in error.data["text"]
        assert service.bodies.used == 0


async def test_chunks_without_a_recording_are_dropped():
    async with served_wyoming(service=tone_service()) as served, await served.connect() as client:
        await client.send_raw(Event("audio-chunk", FORM, bytes(100)).encoded())
        await client.send("ping", text="x")
        assert (await client.read()).type == "pong"
