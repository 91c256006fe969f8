"""ElevenLabs' lists, their keys, and the paths that they share with other doors."""

import pytest

from helpers.fakes import ToneEngine, tone_service
from helpers.serving import called, error_of
from helpers.tables import each_row
from polyvox.api.dialects.elevenlabs.premade_voices import PREMADE
from polyvox.engines.kokoro.voices import VOICES

KEY = {"xi-api-key": "secret"}
RACHEL = "21m00Tcm4TlvDq8ikWAM"

pytestmark = pytest.mark.anyio


def service(**settings):
    return tone_service(elevenlabs_voices=f"{RACHEL}=high,mine=low", **settings)


async def test_voices_of_the_model_and_ids_that_stand_for_them_are_listed():
    async with called(service(), headers=KEY) as client:
        listed = (await client.get("/v1/voices")).json()["voices"]
    found = {voice["voice_id"]: voice for voice in listed}
    assert set(found) == {"low", "high", RACHEL, "mine"}
    assert all(set(voice) >= {"voice_id", "name", "category"} for voice in listed)
    assert (found[RACHEL]["name"], found[RACHEL]["description"]) == ("Rachel", "Spoken by high.")


async def test_a_single_voice_is_found_by_its_id():
    async with called(service(), headers=KEY) as client:
        assert (await client.get("/v1/voices/low")).json()["name"] == "Low"
        assert (await client.get(f"/v1/voices/{RACHEL}")).json()["voice_id"] == RACHEL
        assert (await client.get(f"/v1/voices/{RACHEL}/settings")).json()["speed"] == 1.0
        assert (await client.get("/v1/voices/settings/default")).json()["stability"] == 0.5
        unknown = await client.get("/v1/voices/nobody")
    assert (unknown.status_code, unknown.json()["detail"]["status"]) == (404, "voice_not_found")


async def test_voices_are_searched_page_by_page():
    async with called(service(), headers=KEY) as client:
        found, token = [], ""
        for _ in range(10):
            params = {"page_size": 3} | ({"next_page_token": token} if token else {})
            page = (await client.get("/v2/voices", params=params)).json()
            found += [voice["voice_id"] for voice in page["voices"]]
            token = page["next_page_token"]
            if not page["has_more"]:
                break
        searched = (await client.get("/v2/voices", params={"search": "RACH"})).json()
        none = (await client.get("/v2/voices", params={"category": "cloned"})).json()
        ordered = (await client.get("/v2/voices", params={"sort": "name", "sort_direction": "desc"})).json()
        wrong = await client.get("/v2/voices", params={"next_page_token": "x"})
    assert sorted(found) == sorted(["low", "high", RACHEL, "mine"])
    assert token is None
    assert page["total_count"] == 4
    assert [voice["voice_id"] for voice in searched["voices"]] == [RACHEL]
    assert none == {"voices": [], "has_more": False, "total_count": 0, "next_page_token": None}
    assert [voice["name"] for voice in ordered["voices"]] == ["Rachel", "mine", "Low", "High"]
    assert wrong.status_code == 422


async def test_models_are_a_bare_list():
    async with called(service(), headers=KEY) as client:
        models = (await client.get("/v1/models")).json()
    assert models[0]["model_id"] == "tone"
    assert {"model_id", "name", "can_do_text_to_speech", "languages"} <= set(models[0])
    assert "eleven_multilingual_v2" in [model["model_id"] for model in models]


async def test_an_account_is_told_to_clients_that_ask():
    async with called(service(), headers=KEY) as client:
        subscription = (await client.get("/v1/user/subscription")).json()
        user = (await client.get("/v1/user")).json()
    assert subscription["status"] == "active"
    assert user["subscription"] == subscription
    assert set(user) >= {"workspace_id", "is_onboarding_checklist_completed", "created_at", "seat_type"}


async def test_no_two_voices_of_the_list_have_the_same_name():
    async with called(
        tone_service(elevenlabs_voices="Low=low,Rachel=high,21m00Tcm4TlvDq8ikWAM=low"), headers=KEY
    ) as client:
        listed = (await client.get("/v1/voices")).json()["voices"]
    names = [voice["name"] for voice in listed]
    assert len(set(names)) == len(names)
    assert {"Low", "Low (Low)", "Rachel"} <= set(names)


async def test_without_the_header_shared_paths_are_those_of_the_other_doors():
    async with called(service()) as client:
        assert (await client.get("/v1/models")).json()["object"] == "list"
        assert (await client.get("/v1/voices")).json()["object"] == "list"
        assert isinstance((await client.get("/elevenlabs/v1/models")).json(), list)
        assert "voices" in (await client.get("/elevenlabs/v1/voices")).json()
        assert error_of(await client.get("/v1/models/gone"))["code"] == "model_not_found"


@each_row("path", ["/v1/voices", "/v1/models", "/v2/voices", "/v1/user", "/elevenlabs/v1/voices", "/v1/voices/low"])
async def test_keys_come_in_their_header_and_refusals_are_in_their_form(path):
    async with called(service(api_keys=["secret"])) as client:
        assert (await client.get(path, headers=KEY)).status_code == 200
        wrong = await client.get(path, headers={"xi-api-key": "wrong"})
    assert (wrong.status_code, wrong.json()["detail"]["status"]) == (401, "invalid_api_key")


async def test_speech_asks_for_the_key_too():
    engine = ToneEngine()
    async with called(tone_service(engine, api_keys=["secret"])) as client:
        for headers, status in (
            (KEY, 200),
            ({"Authorization": "Bearer secret"}, 200),
            ({"xi-api-key": "x"}, 401),
            ({}, 401),
        ):
            answer = await client.post("/v1/text-to-speech/low", json={"text": "Hi."}, headers=headers)
            assert answer.status_code == status
    assert len(engine.heard) == 2


async def test_the_built_in_list_names_voices_that_kokoro_has():
    known = {voice.id for voice in VOICES}
    assert {one.target for one in PREMADE} <= known
    assert len({one.id for one in PREMADE}) == len({one.name for one in PREMADE}) == len(PREMADE)
