"""Calls of other servers' clients that make a voice of a recording: each in its own form, all registered voices."""

import pytest

from helpers.cloning import sample, studio_client
from helpers.tables import each_row

pytestmark = pytest.mark.anyio

XI = {"xi-api-key": "secret"}
UUID = "a0e99841-438c-4a64-b679-ae501e7d6091"


@pytest.fixture
async def client(tmp_path):
    async with studio_client(tmp_path) as (_, client):
        yield client


async def test_elevenlabs_adds_a_voice_lists_it_and_deletes_it(client):
    form = {"name": "Anna", "labels": '{"language": "en"}', "remove_background_noise": "false"}
    added = await client.post("/v1/voices/add", data=form, files={"files": ("a.wav", sample(1))}, headers=XI)
    assert added.status_code == 200, added.text
    assert added.json()["requires_verification"] is False
    voice_id = added.json()["voice_id"]
    found = (await client.get(f"/v1/voices/{voice_id}", headers=XI)).json()
    assert (found["name"], found["category"], found["labels"]) == ("Anna", "cloned", {"language": "en"})
    assert (await client.get(f"/v1/voices/{voice_id}")).json()["object"] == "voice"
    bare = {"name": "Bert", "labels": "null"}  # the SDK's own way to say that there are none
    again = await client.post("/v1/voices/add", data=bare, files={"files": ("a.wav", sample(2))}, headers=XI)
    assert again.status_code == 200, again.text
    assert (await client.delete(f"/v1/voices/{voice_id}", headers=XI)).json() == {"status": "ok"}
    gone = await client.get(f"/v1/voices/{voice_id}", headers=XI)
    assert (gone.status_code, gone.json()["detail"]["status"]) == (404, "voice_not_found")


async def test_cartesia_clones_a_voice_and_deletes_it(client):
    form = {"name": "Anna", "language": "en", "description": "Calm."}
    cloned = await client.post("/voices/clone", data=form, files={"clip": ("a.wav", sample(1))})
    assert cloned.status_code == 200, cloned.text
    voice = cloned.json()
    assert (voice["name"], voice["language"], voice["is_owner"], voice["access"]) == ("Anna", "en", True, "private")
    assert (await client.get(f"/voices/{voice['id']}")).json()["name"] == "Anna"
    assert (await client.delete(f"/voices/{voice['id']}")).status_code == 204
    assert (await client.get(f"/voices/{voice['id']}")).status_code == 404


async def test_openai_creates_a_voice_that_speaks(client):
    form = {"name": "Anna", "consent": "cons_1234"}
    created = await client.post("/v1/audio/voices", data=form, files={"audio_sample": ("a.wav", sample(1))})
    assert created.status_code == 200, created.text
    voice = created.json()
    assert (voice["object"], voice["type"], voice["name"]) == ("audio.voice", "audio_sample", "Anna")
    kept = (await client.get(f"/v1/voices/{voice['id']}")).json()
    assert (kept["consent"], kept["consent_note"]) == (True, "cons_1234")
    spoken = await client.post("/v1/audio/speech", json={"input": "Hello.", "voice": voice["id"]})
    assert spoken.status_code == 200, spoken.text


@each_row(
    ("path", "part", "headers"),
    [("/v1/voices/add", "files", XI), ("/voices/clone", "clip", {}), ("/v1/audio/voices", "audio_sample", {})],
)
async def test_a_call_without_its_recording_names_the_part(client, path, part, headers):
    refused = await client.post(path, data={"name": "Anna"}, files={"x": ("", b"")}, headers=headers)
    assert refused.status_code in (400, 422)
    assert f"'{part}'" in refused.text
    without = await client.post(path, json={"name": "Anna"}, headers=headers)
    assert without.status_code in (400, 422)
    assert f"'{part}'" in without.text


async def test_a_voice_from_a_prompt_is_refused_with_the_call_that_makes_one(client):
    refused = await client.post("/v1/audio/voices", json={"name": "Anna", "type": "prompt", "prompt": "Old."})
    assert refused.status_code == 400
    assert "/v1/text-to-voice/design" in refused.text


async def test_the_id_of_another_servers_voice_is_named_whole(client):
    refused = await client.get(f"/voices/{UUID}")
    assert refused.status_code == 404
    assert UUID in refused.text
