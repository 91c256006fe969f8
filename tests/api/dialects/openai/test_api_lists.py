"""Models and voices, in the shapes that OpenAI's clients and Open WebUI read."""

import pytest

from helpers.fakes import ToneEngine, missing_bundle, tone_service
from helpers.listening import ScriptedRecogniser, listening_with
from helpers.serving import called, error_of
from polyvox.types import Voice

pytestmark = pytest.mark.anyio


def two_models():
    """One that speaks and one that was never fetched."""
    factories = {"tone": lambda _: ToneEngine(), "absent": lambda _: ToneEngine(start_error=missing_bundle())}
    return tone_service(factories=factories, models=["tone", "absent"])


async def test_models_are_listed_with_what_they_can_do():
    async with called(two_models()) as client:
        body = (await client.get("/v1/models")).json()
    assert body["object"] == "list"
    tone, absent, *openai = (model for model in body["data"] if model["task"] == "text-to-speech")
    assert [(model["id"], model["root"]) for model in openai] == [
        ("tts-1", "tone"),
        ("tts-1-hd", "tone"),
        ("gpt-4o-mini-tts", "tone"),
    ]
    assert (tone["id"], tone["object"], tone["available"], tone["reason"]) == ("tone", "model", True, "")
    assert isinstance(tone["created"], int)
    assert isinstance(tone["owned_by"], str)
    assert tone["capabilities"]["languages"] == ["en-us"]
    assert tone["capabilities"]["word_timings"] is True
    assert (absent["available"], absent["capabilities"]) == (False, None)
    assert "polyvox pull" in absent["reason"]


async def test_recognisers_are_listed_last_and_are_no_models_that_speak():
    service = listening_with(two_models(), english=ScriptedRecogniser(), any=ScriptedRecogniser())
    async with called(service) as client:
        listed = (await client.get("/v1/models")).json()["data"]
        audio = (await client.get("/v1/audio/models")).json()
        alias = (await client.get("/v1/models/whisper-1")).json()
    tasks = [model["task"] for model in listed]
    assert tasks == ["text-to-speech"] * 5 + ["automatic-speech-recognition"] * 3
    assert [(model["id"], model["root"], model["owned_by"]) for model in listed[5:]] == [
        ("english", "nobody/english", "nobody"),
        ("any", "nobody/any", "nobody"),
        ("whisper-1", "any", "nobody"),
    ]
    assert alias == listed[-1]
    assert "fr" in alias["languages"]
    assert audio == {"models": [{"id": "tone", "name": "tone"}]}


async def test_one_model_by_its_name_or_by_openais():
    async with called(tone_service()) as client:
        own = (await client.get("/v1/models/tone")).json()
        alias = (await client.get("/v1/models/tts-1")).json()
        missing = await client.get("/v1/models/some/thing")
    assert (own["id"], own["root"]) == ("tone", "tone")
    assert (alias["id"], alias["root"]) == ("tts-1", "tone")
    assert (missing.status_code, error_of(missing)["code"]) == (404, "model_not_found")


async def test_open_webui_reads_the_models_that_can_speak():
    async with called(two_models()) as client:
        body = (await client.get("/v1/audio/models")).json()
    assert body == {"models": [{"id": "tone", "name": "tone"}]}


async def test_voices_have_an_id_and_a_name():
    async with called(tone_service()) as client:
        voices = (await client.get("/v1/audio/voices")).json()["voices"]
        bare = (await client.get("/v1/audio/voices", params={"legacy": "true"})).json()
    assert [(voice["id"], voice["name"], voice["title"]) for voice in voices] == [
        ("low", "low", "Low"),
        ("high", "high", "High"),
    ]
    assert voices[0]["language"] == "en-us"
    assert bare == {"voices": ["low", "high"]}


class PartlyMuteEngine(ToneEngine):
    voices = (Voice("low", "Low", "en-us"), Voice("haut", "Haut", "fr", reason="Install espeak-ng."))


async def test_a_voice_that_cannot_speak_here_says_why():
    async with called(tone_service(PartlyMuteEngine())) as client:
        voices = (await client.get("/v1/audio/voices")).json()["voices"]
    assert [(voice["available"], voice["reason"]) for voice in voices] == [(True, ""), (False, "Install espeak-ng.")]


async def test_voices_of_a_model_that_is_missing():
    async with called(two_models()) as client:
        unknown = await client.get("/v1/audio/voices", params={"model": "nothing"})
        absent = await client.get("/v1/audio/voices", params={"model": "absent"})
    assert (unknown.status_code, error_of(unknown)["param"]) == (404, "model")
    assert absent.status_code == 501
    assert "polyvox pull" in error_of(absent)["message"]


async def test_speech_from_a_model_that_is_missing_names_the_remedy():
    async with called(two_models()) as client:
        refused = await client.post("/v1/audio/speech", json={"input": "Hello.", "model": "absent"})
    assert refused.status_code == 501
    assert error_of(refused)["type"] == "server_error"
    assert "polyvox pull" in error_of(refused)["message"]
