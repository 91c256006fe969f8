"""Cartesia's lists of voices, page by page."""

import pytest

from helpers.cloning import sample, studio_client
from helpers.fakes import ToneEngine, tone_service
from helpers.serving import called
from polyvox.api.dialects.cartesia.settings import KNOWN_VOICES
from polyvox.engines.kokoro.levels import measured_levels
from polyvox.types import Voice

pytestmark = pytest.mark.anyio

KATIE = "f786b574-daa5-4673-aa0c-cbe3e8534c02"


class ManyVoices(ToneEngine):
    """A tone engine with more voices than fit a page."""

    @property
    def voices(self):
        genders = {0: "female", 1: "male", 2: ""}
        own = [Voice(f"voice-{n:02}", f"Voice {n}", "en-gb", genders[n % 3], f"number {n}") for n in range(25)]
        return [*super().voices, *own, Voice("mute", "Mute", "ja", reason="install the Japanese extra")]


async def ids(client, **query):
    response = await client.get("/voices", params=query)
    assert response.status_code == 200, response.text
    body = response.json()
    return [voice["id"] for voice in body["data"]], body["has_more"]


async def test_pages_follow_each_other_both_ways():
    async with called(tone_service(ManyVoices())) as client:
        everything, more = await ids(client, limit=100)
        assert len(everything) == 27
        assert not more
        assert "mute" not in everything
        pages, after = [], {}
        while (page := await ids(client, **after))[0]:
            pages.append(page)
            after = {"starting_after": page[0][-1]}
        assert [voice for page, _ in pages for voice in page] == everything
        assert [more for _, more in pages] == [True, True, False]
        assert await ids(client, ending_before=everything[15], limit=5) == (everything[10:15], True)
        assert await ids(client, ending_before=everything[3], limit=5) == (everything[:3], False)


async def test_voices_are_found_by_text_gender_and_owner():
    async with called(tone_service(ManyVoices())) as client:
        assert (await ids(client, q="NUMBER 7"))[0] == ["voice-07"]
        assert (await ids(client, gender="masculine", limit=100))[0] == [f"voice-{n:02}" for n in range(1, 25, 3)]
        assert await ids(client, is_owner=True) == ([], False)


async def test_a_voice_has_the_fields_that_the_sdk_reads():
    async with called(tone_service(ManyVoices(), cartesia_voices=[f"{KATIE}=voice-00"])) as client:
        voice = (await client.get("/cartesia/voices/voice-00")).json()
        mapped = (await client.get(f"/voices/{KATIE}")).json()
    assert voice["language"] == "en"
    assert voice["locales"] == [{"locale": "en-GB", "is_native": True}]
    assert (voice["gender"], voice["country"], voice["description"]) == ("feminine", "GB", "number 0")
    assert (voice["access"], voice["visibility"], voice["is_owner"]) == ("public", "all", False)
    assert mapped == voice | {"id": KATIE}


def test_the_voices_that_clients_name_by_default_are_voices_of_kokoro():
    assert set(KNOWN_VOICES.values()) <= set(measured_levels())


async def test_what_is_not_there_is_refused_in_cartesias_words():
    async with called(tone_service(ManyVoices())) as client:
        for path, status in {
            "/voices/nobody": 404,
            "/voices/mute": 404,
            "/voices?starting_after=nobody": 404,
            "/voices?limit=0": 400,
            "/voices?limit=101": 400,
            "/voices?gender=x": 400,
        }.items():
            response = await client.get(path)
            assert response.status_code == status
            assert response.json()["status_code"] == status


async def test_registered_voices_are_listed_where_the_model_clones(tmp_path):
    async with studio_client(tmp_path) as (_, client):
        registered = await client.post(
            "/v1/voices", files={"audio": ("a.wav", sample(1))}, data={"name": "Anna", "consent": "true"}
        )
        mine = (await client.get("/voices", params={"is_owner": True})).json()["data"]
        found = (await client.get(f"/voices/{registered.json()['id']}")).json()
    assert [voice["name"] for voice in mine] == ["Anna"]
    assert mine[0] == found
    assert (found["access"], found["visibility"]) == ("private", "owner")
