"""The dialect of ZipVoice's servers, as their clients use it."""

import base64
import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from helpers.cloning import CloneEngine, Studio, sample, studio_client
from helpers.fakes import ToneEngine
from helpers.serving import called, decoded_seconds
from polyvox.service.registry.registry import Registry
from polyvox.service.speech import SpeechService

pytestmark = pytest.mark.anyio

SPEECH = "/v1/zipvoice/audio/speech"
VOICES = "/v1/zipvoice/voices"
FORM = {"name": "my_voice", "transcription": "This is my voice sample."}


def zipvoice(folder, **settings):
    """A server with the model `zipvoice`, which hums."""
    engine = CloneEngine("zipvoice")
    return studio_client(folder, engine, **settings)


@pytest.fixture
async def studio(tmp_path):
    async with zipvoice(tmp_path, zipvoice_model="tone") as (studio, client):
        studio.client = client
        yield studio


@pytest.fixture
def client(studio):
    return studio.client


async def register(client, seed=1, **fields):
    response = await client.post(
        f"{VOICES}/register", data=FORM | fields, files={"audio_file": ("s.wav", sample(seed))}
    )
    assert response.status_code == 200, response.text
    return response.json()


def detail_of(response: httpx.Response) -> str:
    """The one sentence of an error in this dialect."""
    body = response.json()
    assert set(body) == {"detail"}
    assert isinstance(body["detail"], str)
    return body["detail"]


async def test_register_answers_as_its_clients_expect(client, tmp_path):
    body = await register(client)
    assert (body["status"], body["name"], body["transcription"]) == ("success", *FORM.values())
    assert body["audio_info"] == {
        "duration": 1.0,
        "samplerate": 24_000,
        "channels": 1,
        "samples": 24_000,
        "format": ".wav",
    }
    assert (body["auto_transcribed"], body["quality"]["quality_score"]) == (False, 1.0)
    assert str(tmp_path) not in json.dumps(body)


async def test_registering_a_name_again_replaces_the_voice(client):
    await register(client)
    again = await register(client, 2, transcription="Other words.")
    assert again["transcription"] == "Other words."
    assert (await client.get(VOICES)).json()["count"] == 1


async def test_the_list_and_one_voice(client, tmp_path):
    assert (await client.get(VOICES)).json() == {"voices": {}, "count": 0}
    await register(client)
    listed = await client.get(VOICES)
    assert listed.json()["count"] == 1
    assert listed.json()["voices"]["my_voice"]["transcription"] == FORM["transcription"]
    one = (await client.get(f"{VOICES}/my_voice")).json()
    assert (one["name"], one["transcription"]) == ("my_voice", FORM["transcription"])
    assert one["audio_info"]["samplerate"] == 24_000
    assert "path" not in listed.text
    assert str(tmp_path) not in listed.text + json.dumps(one)


async def test_delete(client, tmp_path):
    await register(client)
    gone = (await client.delete(f"{VOICES}/my_voice")).json()
    assert (gone["status"], gone["name"], gone["removed"]["audio"]) == ("deleted", "my_voice", True)
    assert (await client.delete(f"{VOICES}/my_voice")).status_code == 404
    assert list(tmp_path.rglob("*.wav")) == []


async def test_speech_with_a_registered_voice_and_json(studio, client):
    await register(client)
    body = {"model": "tone", "input": "Hello, world!", "voice": "my_voice", "prompt_text": FORM["transcription"]}
    spoken = await client.post(SPEECH, json=body)
    assert (spoken.status_code, spoken.headers["content-type"]) == (200, "audio/mpeg")
    assert decoded_seconds(spoken.content) == pytest.approx(0.3, abs=0.1)
    assert studio.engine.prepared[0].transcript == FORM["transcription"]


async def test_the_text_of_a_registered_voice_need_not_be_sent_again_and_may_be_another(studio, client):
    await register(client)
    await client.post(SPEECH, json={"input": "Hello.", "voice": "my_voice"})
    await client.post(SPEECH, json={"input": "Hello.", "voice": "MY_VOICE", "prompt_text": "Corrected."})
    assert [prompt.transcript for prompt in studio.engine.prepared] == [FORM["transcription"], "Corrected."]


async def test_speech_with_an_uploaded_file(studio, client):
    form = {"model": "tone", "input": "Hello!", "voice": "file+voice_sample", "prompt_text": "My sample."}
    numbers = {
        "speed": "1.5",
        "num_steps": "4",
        "stream": "false",
        "response_format": "wav",
        "volume_multiplier": "0.5",
    }
    file = {"prompt_wav_file": ("../../voice_sample.wav", sample(1), "audio/wav")}
    spoken = await client.post(SPEECH, data=form | numbers, files=file)
    assert spoken.status_code == 200, spoken.text
    assert "content-length" in spoken.headers
    assert decoded_seconds(spoken.content) == pytest.approx(0.2, abs=0.01)
    heard = studio.engine.heard[0]
    assert (heard.speed, heard.tuning["num_steps"]) == (1.5, 4.0)
    assert studio.engine.prepared[0].transcript == "My sample."


async def test_a_file_alone_says_which_voice_is_meant(studio, client):
    file = {"prompt_wav_file": ("sample.wav", sample(1))}
    assert (await client.post(SPEECH, data={"input": "Hello!"}, files=file)).status_code == 200
    assert studio.engine.prepared[0].transcript == "Some words."


async def test_speech_with_a_form_and_a_registered_voice(studio, client):
    await register(client)
    form = {
        "input": (None, "Hello!"),
        "voice": (None, "my_voice"),
        "normalization_options": (None, '{"normalize": false}'),
    }
    assert (await client.post(SPEECH, files=form)).status_code == 200
    assert studio.engine.heard[0].normalization.normalize is False


async def test_speech_with_a_recording_in_base64_or_by_url(studio, client):
    inline = f"base64+{base64.b64encode(sample(3)).decode()}"
    for voice in (inline, "url+https://host.example/4"):
        spoken = await client.post(SPEECH, json={"input": "Hello.", "voice": voice, "prompt_text": "My sample."})
        assert spoken.status_code == 200
    assert studio.fetcher.fetched == ["https://host.example/4"]


async def test_its_own_knobs_reach_the_engine(studio, client):
    await register(client)
    body = {"input": "Hello.", "voice": "my_voice"}
    await client.post(SPEECH, json=body)
    await client.post(SPEECH, json=body | {"num_steps": 16, "remove_long_silence": False, "max_duration": 20})
    tunings: list[Mapping[str, Any]] = [heard.tuning for heard in studio.engine.heard]
    assert tunings == [
        {"num_steps": 8.0, "remove_long_silence": 1.0},
        {"num_steps": 16.0, "remove_long_silence": 0.0, "max_duration": 20.0},
    ]


async def test_its_settings_are_the_defaults(tmp_path):
    settings = {"zipvoice_num_steps": 4, "zipvoice_remove_long_silence": False, "zipvoice_speed_multiplier": 2.0}
    async with zipvoice(tmp_path, zipvoice_model="tone", **settings) as (studio, client):
        await register(client)
        await client.post(SPEECH, json={"input": "Hello.", "voice": "my_voice", "speed": 1.5})
        heard = studio.engine.heard[0]
        assert (heard.speed, dict(heard.tuning)) == (3.0, {"num_steps": 4.0, "remove_long_silence": 0.0})


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"voice": "my_voice"}, "input"),
        ({"input": "Hello."}, "voice"),
        ({"input": "Hello.", "voice": "my_voice", "num_steps": 0}, "num_steps"),
        ({"input": "Hello.", "voice": "my_voice", "num_steps": 33}, "num_steps"),
        ({"input": "Hello.", "voice": "my_voice", "max_duration": 0}, "max_duration"),
        ({"input": "Hello.", "voice": "my_voice", "speed": 9}, "speed"),
        ({"input": "Hello.", "voice": "file+mine"}, "file"),
        ({"input": "Hello.", "voice": "base64+%%%"}, "base64"),
        ({"input": "Hello.", "voice": "base64+PHN2Zy8+"}, "recording"),
        ({"input": "Hello.", "voice": "url+"}, "url"),
        ({"input": "Hello.", "voice": {"id": "my_voice"}}, "voice"),
        ({"input": "Hello.", "voice": "my_voice", "response_format": "mp9"}, "mp9"),
    ],
)
async def test_a_bad_request_says_why(client, body, field):
    await register(client)
    refused = await client.post(SPEECH, json=body)
    assert refused.status_code == 400
    assert field in detail_of(refused)


async def test_numbers_of_a_form_are_checked_too(client):
    await register(client)
    form = {"input": (None, "Hello!"), "voice": (None, "my_voice"), "num_steps": (None, "many")}
    refused = await client.post(SPEECH, files=form)
    assert refused.status_code == 400
    assert "num_steps" in detail_of(refused)


async def test_an_unknown_voice_is_not_found(client):
    for name in ("nobody", "voice_" + "0" * 32):
        refused = await client.post(SPEECH, json={"input": "Hello.", "voice": name, "prompt_text": "x"})
        assert refused.status_code == 404
        assert "voice" in detail_of(refused)
    refused = await client.get(f"{VOICES}/nobody")
    assert refused.status_code == 404
    detail_of(refused)


async def test_transcribing_can_be_refused(client):
    file = {"prompt_wav_file": ("sample.wav", sample(1))}
    refused = await client.post(SPEECH, params={"auto_transcribe": "false"}, data={"input": "Hello!"}, files=file)
    assert refused.status_code == 400
    assert "prompt_text" in detail_of(refused)
    form = {"name": "x", "auto_transcribe": "false"}
    refused = await client.post(f"{VOICES}/register", data=form, files={"audio_file": ("s.wav", sample(1))})
    assert refused.status_code == 400
    assert "transcription" in detail_of(refused)


async def test_a_voice_is_registered_without_its_text(client):
    form = {"name": "x"}
    body = (await client.post(f"{VOICES}/register", data=form, files={"audio_file": ("s.wav", sample(1))})).json()
    assert (body["transcription"], body["auto_transcribed"]) == ("Some words.", True)


@pytest.mark.parametrize(
    ("form", "files"),
    [
        (FORM, {"audio_file": ("s.wav", b"<svg/>")}),
        (FORM, {"other": ("s.wav", sample(1))}),
        (FORM | {"name": "../up"}, {"audio_file": ("s.wav", sample(1))}),
        (FORM | {"name": "x" * 10_000}, {"audio_file": ("s.wav", sample(1))}),
        (FORM | {"name": "\u202egnp"}, {"audio_file": ("s.wav", sample(1))}),
        (FORM | {"name": "nul\0"}, {"audio_file": ("s.wav", sample(1))}),
        ({"transcription": "x"}, {"audio_file": ("s.wav", sample(1))}),
        (FORM, {"audio_file": (None, "text")}),
    ],
)
async def test_a_bad_registration_leaves_nothing(client, form, files):
    refused = await client.post(f"{VOICES}/register", data=form, files=files)
    assert refused.status_code == 400
    detail_of(refused)
    assert (await client.get(VOICES)).json()["count"] == 0


@pytest.mark.parametrize("name", ["%2e%2e%2fup", "%00", "x" * 5_000, "%E2%80%AE", "%ff"])
@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_hostile_names_find_nothing(client, method, name):
    refused = await client.request(method, f"{VOICES}/{name}")
    assert refused.status_code == 404
    detail_of(refused)


async def test_caches_are_cleared_by_type(client):
    inline = f"base64+{base64.b64encode(sample(3)).decode()}"
    for voice in (inline, "url+https://host.example/4"):
        await client.post(SPEECH, json={"input": "Hello.", "voice": voice, "prompt_text": "My sample."})
    for kind, count in (("url", 1), ("base64", 1), ("all", 2)):  # what is left are the two prepared voices
        cleared = await client.post(f"{VOICES}/cache/clear", params={"cache_type": kind})
        assert cleared.json() == {"status": "cleared", "cache_type": kind, "files_deleted": count}
    refused = await client.post(f"{VOICES}/cache/clear", params={"cache_type": "some"})
    assert refused.status_code == 400
    assert "cache_type" in detail_of(refused)


async def test_what_the_settings_forbid_is_a_bad_request_here(tmp_path):
    async with zipvoice(tmp_path, zipvoice_model="tone", allow_inline=False, max_voices=0) as (_, client):
        inline = f"base64+{base64.b64encode(sample(3)).decode()}"
        refused = await client.post(SPEECH, json={"input": "Hello.", "voice": inline, "prompt_text": "x"})
        assert refused.status_code == 400
        assert "register" in detail_of(refused)
        refused = await client.post(f"{VOICES}/register", data=FORM, files={"audio_file": ("s.wav", sample(1))})
        assert refused.status_code == 400


async def test_every_error_under_its_paths_has_its_form(tmp_path):
    async with zipvoice(tmp_path, api_keys=["key"], prompt_max_bytes=1_024, max_body_bytes=1_024) as (_, client):
        refused = await client.get(VOICES)
        assert refused.status_code == 401
        detail_of(refused)
        client.headers["Authorization"] = "Bearer key"
        for response, status in [
            (await client.get("/v1/zipvoice/nothing"), 404),
            (await client.put(VOICES), 405),
            (await client.post(SPEECH, content=b" " * 9_000), 413),
            (await client.post(SPEECH, content=b"{", headers={"Content-Type": "application/json"}), 400),
            (await client.post(SPEECH, content=b"x", headers={"Content-Type": "text/plain"}), 400),
        ]:
            assert response.status_code == status
            detail_of(response)


async def test_pages_of_other_origins_cannot_register(client):
    foreign = {"Origin": "https://evil.example"}
    files = {"audio_file": ("s.wav", sample(1))}
    assert (await client.post(f"{VOICES}/register", data=FORM, files=files, headers=foreign)).status_code == 400
    assert (await client.post(f"{VOICES}/cache/clear", headers=foreign)).status_code == 400


async def test_a_model_that_cannot_clone_is_a_bad_request(tmp_path):
    async with studio_client(tmp_path, ToneEngine(), zipvoice_model="tone") as (_, client):
        await register(client)
        refused = await client.post(SPEECH, json={"input": "Hello.", "voice": "my_voice"})
        assert refused.status_code == 400
        assert "runs no model that can" in detail_of(refused)


@pytest.mark.long
@pytest.mark.parametrize("model", [None, "zipvoice", "zipvoice_distill", "speechlm"])
async def test_models_that_do_not_run_here_are_unavailable_with_the_remedy(tmp_path, model):
    studio = Studio(tmp_path)
    settings = studio.speech.settings
    absent = dict.fromkeys(("zipvoice", "speechlm"), "This release has no such engine; use the model 'tone'.")
    factories = {"tone": lambda _: studio.engine, "zipvoice_distill": lambda _: CloneEngine("zipvoice_distill")}
    registry = Registry(settings, factories, absent)
    service = SpeechService(settings, registry, studio.speech.metrics)
    async with called(service, studio.voices) as client:
        await studio.voices.start()
        await register(client)
        body = {"input": "Hello.", "voice": "url+https://host.example/1"}
        refused = await client.post(SPEECH, json=body | ({"model": model} if model else {}))
        assert refused.status_code == 503
        assert "use the model" in detail_of(refused) or "add it to the setting" in detail_of(refused)
        assert studio.fetcher.fetched == []
        assert (await client.post("/v1/audio/speech", json={"input": "Hi.", "model": "zipvoice"})).status_code == 503
        listed = (await client.get("/v1/models")).json()["data"]
        models = {row["id"]: row for row in listed if row["id"] == row["root"]}
        assert models.keys() == {"tone", "zipvoice", "zipvoice_distill", "speechlm"}
        assert [name for name, row in models.items() if row["available"]] == ["tone"]
        assert all(row["reason"] for name, row in models.items() if name != "tone")
        assert (await client.get("/v1/models/zipvoice")).json()["available"] is False
        assert (await client.get("/ready")).json()["reasons"] == {}
        await studio.voices.close()
