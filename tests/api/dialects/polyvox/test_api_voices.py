"""`/v1/voices`, and registered voices in OpenAI's speech API."""

import asyncio
import base64
import json

import httpx
import pytest

from helpers.cloning import sample, studio_client
from helpers.fakes import ToneEngine
from helpers.serving import called, error_of
from polyvox.errors import UnavailableError

pytestmark = pytest.mark.anyio

NO_VOICE = "voice_" + "0" * 32
FIELDS = {"name": "Anna", "transcript": "The tide is out."}


def encoded(seed: int) -> str:
    return base64.b64encode(sample(seed)).decode()


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
async def studio(tmp_path):
    async with studio_client(tmp_path) as (studio, client):
        studio.client = client
        yield studio


@pytest.fixture
def client(studio):
    return studio.client


async def registered(client, name="Anna", seed=1, **fields):
    response = await client.post("/v1/voices", json=FIELDS | {"name": name, "audio": encoded(seed)} | fields)
    assert response.status_code == 201, response.text
    return response.json()


async def test_register_with_json_and_get_it_back(client):
    voice = await registered(
        client, language="EN-gb", tags=["Calm", "news"], consent=True, consent_note="Signed on paper."
    )
    assert voice["id"].startswith("voice_")
    assert voice["object"] == "voice"
    assert (voice["name"], voice["transcript"], voice["transcription"]) == ("Anna", "The tide is out.", "given")
    assert (voice["language"], voice["tags"], voice["consent"]) == ("en-gb", ["calm", "news"], True)
    assert (voice["duration"], voice["sample_rate"]) == (1.0, 24_000)
    assert (voice["quality"]["score"], voice["quality"]["warnings"]) == (1.0, ["Somebody coughs."])
    assert (voice["used"], voice["yours"], voice["warnings"]) == (None, True, [])
    found = (await client.get(f"/v1/voices/{voice['id']}")).json()
    assert found == {name: value for name, value in voice.items() if name != "warnings"}


async def test_register_with_a_form(client):
    response = await client.post(
        "/v1/voices",
        data=FIELDS | {"consent": "true", "tags": ["calm, news", "deep"]},
        files={"audio": ("../../etc/passwd", sample(1), "audio/wav")},
    )
    assert response.status_code == 201, response.text
    assert (response.json()["consent"], response.json()["tags"]) == (True, ["calm", "news", "deep"])


@pytest.mark.parametrize("written", ["{}", "base64+{}", "data:audio/wav;base64,{}", "BASE64+{}"])
async def test_the_recording_may_be_written_in_several_ways(client, written):
    assert (await registered(client, audio=written.format(encoded(1))))["duration"] == 1.0


async def test_the_recording_may_be_fetched(studio, client):
    await registered(client, audio="url+https://host.example/7")
    assert studio.fetcher.fetched == ["https://host.example/7"]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"name": "Anna"}, "audio"),
        ({"audio": "AAAA"}, "name"),
        ({"name": "Anna", "audio": "not base64!"}, "audio"),
        ({"name": "Anna", "audio": encoded(1)[:-8]}, "audio"),
        ({"name": "Anna", "audio": base64.b64encode(b"<svg/>").decode()}, "audio"),
        ({"name": "Anna", "audio": 5}, "audio"),
        ({"name": "Anna", "audio": encoded(1), "tags": "x" * 40}, "tags"),
        ({"name": "Anna", "audio": encoded(1), "tags": [1]}, "tags[0]"),
        ({"name": "Anna", "audio": encoded(1), "consent": "yes"}, "consent"),
        ({"name": "Anna", "audio": encoded(1), "language": "english"}, "language"),
        ({"name": "Anna", "audio": encoded(1), "transcribe": "later"}, "transcribe"),
        ({"name": "Anna", "audio": encoded(1), "transcript": "a\u202eb"}, "transcript"),
        ([], None),
    ],
)
async def test_what_is_wrong_is_named(client, body, param):
    refused = await client.post("/v1/voices", json=body)
    assert refused.status_code == 400
    assert error_of(refused)["param"] == param


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["../up", "..", "a/b", "nul\0", "\u202egnp", "zero\u200bwidth", "x" * 10_000, "", "url+https://x", "\ud83d"]
)
async def test_hostile_names_are_refused_everywhere(client, tmp_path, name):
    voice = await registered(client)
    raw = json.dumps(FIELDS | {"name": name, "audio": encoded(2)}).encode()
    created = await client.post("/v1/voices", content=raw, headers={"Content-Type": "application/json"})
    changed = await client.patch(
        f"/v1/voices/{voice['id']}",
        content=json.dumps({"name": name}).encode(),
        headers={"Content-Type": "application/json"},
    )
    assert (created.status_code, changed.status_code) == (400, 400)
    assert {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*")} == {"voices", "consents"}


@pytest.mark.parametrize("path", ["%2e%2e%2fvoices", "%00", "x" * 5_000, "%ff%fe", "voice_", NO_VOICE, "%E2%80%AE"])
@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_hostile_ids_find_nothing(client, method, path):
    assert (await client.request(method, f"/v1/voices/{path}")).status_code == 404


async def test_a_name_is_taken_once(client):
    await registered(client)
    taken = await client.post("/v1/voices", json=FIELDS | {"name": "ANNA", "audio": encoded(2)})
    assert (taken.status_code, error_of(taken)["param"], error_of(taken)["code"]) == (409, "name", "conflict")


async def test_a_broken_form_is_a_bad_request(client):
    part = b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nx\r\n--x--\r\n'
    for content_type, body in [
        ("multipart/form-data", b""),
        ("multipart/form-data; boundary=x", b"nonsense"),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data\r\n\r\nx\r\n--x--\r\n"),
        ("multipart/form-data; boundary=x; charset=zlib_codec", part),
        ("multipart/form-data; boundary=x; charset=utf-7", part),
        ("application/x-www-form-urlencoded", b"name=x"),
        ("text/plain", b"x"),
    ]:
        refused = await client.post("/v1/voices", content=body, headers={"Content-Type": content_type})
        assert refused.status_code == 400, (content_type, refused.text)
        error_of(refused)


@pytest.mark.parametrize(
    ("data", "files"),
    [
        (FIELDS, {"voice": ("a.wav", sample(1))}),
        (FIELDS | {f"field{number}": "x" for number in range(50)}, {"audio": ("a.wav", sample(1))}),
        (FIELDS | {"transcript": ["one", "two"]}, {"audio": ("a.wav", sample(1))}),
        (FIELDS | {"consent_note": "x" * 600_000}, {"audio": ("a.wav", sample(1))}),
        (FIELDS | {"consent": "perhaps"}, {"audio": ("a.wav", sample(1))}),
        (FIELDS | {"consent": "[[["}, {"audio": ("a.wav", sample(1))}),
        (FIELDS, {}),
    ],
)
async def test_forms_have_limits(client, data, files):
    request = {"files": files} if files else {"files": {"audio": (None, "")}}
    refused = await client.post("/v1/voices", data=data, **request)
    assert refused.status_code == 400
    error_of(refused)


async def test_a_recording_may_be_larger_than_other_bodies_but_not_endless(tmp_path):
    async with studio_client(tmp_path, max_body_bytes=2_000, prompt_max_bytes=60_000) as (_, client):
        padded = FIELDS | {"audio": base64.b64encode(sample(1) + b" " * 50_000).decode()}
        assert (await client.post("/v1/voices", json=padded)).status_code == 201
        over = FIELDS | {"audio": base64.b64encode(b" " * 61_000).decode()}
        assert (await client.post("/v1/voices", json=over)).status_code == 413
        assert (await client.post("/v1/voices", content=b" " * 90_000)).status_code == 413
        assert (await client.post("/v1/audio/speech", json={"input": "x" * 3_000})).status_code == 413


async def test_lists_have_pages_and_filters(client):
    for number in range(5):
        tags = ["odd"] if number % 2 else ["even"]
        await registered(client, f"voice {number}", number, tags=tags, language="en-gb" if number else "fr")
    first = (await client.get("/v1/voices", params={"limit": 2})).json()
    assert ([voice["name"] for voice in first["data"]], first["has_more"]) == (["voice 4", "voice 3"], True)
    rest = (await client.get("/v1/voices", params={"limit": 10, "after": first["next"]})).json()
    assert ([voice["name"] for voice in rest["data"]], rest["next"]) == (["voice 2", "voice 1", "voice 0"], None)
    for query, expected in [
        ({"tag": "odd"}, ["voice 3", "voice 1"]),
        ({"q": "ICE 2"}, ["voice 2"]),
        ({"language": "fr"}, ["voice 0"]),
        ({"language": "en", "tag": "even", "order": "asc"}, ["voice 2", "voice 4"]),
        ({"consent": "true"}, []),
    ]:
        found = (await client.get("/v1/voices", params=query)).json()["data"]
        assert [voice["name"] for voice in found] == expected


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 101}, {"after": "x"}, {"order": "random"}, {"q": "x" * 201}])
async def test_a_list_cannot_be_asked_for_anything(client, query):
    await registered(client)
    refused = await client.get("/v1/voices", params=query)
    assert (refused.status_code, error_of(refused)["param"]) == (400, next(iter(query)))


async def test_a_voice_can_be_changed(client):
    voice = await registered(client, tags=["calm"])
    changed = await client.patch(f"/v1/voices/{voice['id']}", json={"name": "Berta", "transcript": "Other words."})
    assert changed.status_code == 200
    assert (changed.json()["name"], changed.json()["transcript"]) == ("Berta", "Other words.")
    assert changed.json()["tags"] == ["calm"]
    assert (await client.patch(f"/v1/voices/{voice['id']}", json={"tags": []})).json()["tags"] == []
    await registered(client, "Clara", 2)
    assert (await client.patch(f"/v1/voices/{voice['id']}", json={"name": "clara"})).status_code == 409
    assert (await client.patch(f"/v1/voices/{NO_VOICE}", json={})).status_code == 404


async def test_deleting_says_what_went(client, tmp_path):
    voice = await registered(client)
    await client.post("/v1/audio/speech", json={"input": "Hello.", "voice": {"id": voice["id"]}})
    gone = (await client.delete(f"/v1/voices/{voice['id']}")).json()
    assert gone == {
        "id": voice["id"],
        "object": "voice.deleted",
        "deleted": True,
        "removed": {"audio": True, "cached": 1, "prepared": 1},
    }
    assert (await client.get(f"/v1/voices/{voice['id']}")).status_code == 404
    assert list(tmp_path.rglob("*.wav")) == []


async def test_the_owner_hears_the_recording(client):
    voice = await registered(client)
    preview = await client.get(f"/v1/voices/{voice['id']}/audio")
    assert (preview.status_code, preview.headers["content-type"]) == (200, "audio/wav")
    assert preview.headers["cache-control"] == "private, no-store"
    assert preview.content.startswith(b"RIFF")


async def test_each_key_has_its_own_voices(tmp_path):
    async with studio_client(tmp_path, api_keys=["one", "two"]) as (_, client):
        assert (await client.get("/v1/voices")).status_code == 401
        client.headers.update(bearer("one"))
        voice = await registered(client)
        client.headers.update(bearer("two"))
        assert (await client.get("/v1/voices")).json()["data"] == []
        for method, path in [("GET", ""), ("DELETE", ""), ("GET", "/audio")]:
            assert (await client.request(method, f"/v1/voices/{voice['id']}{path}")).status_code == 404
        refused = await client.post("/v1/audio/speech", json={"input": "Hello.", "voice": {"id": voice["id"]}})
        assert (refused.status_code, error_of(refused)["code"]) == (400, "voice_not_found")
        await registered(client, "Anna", 2)


@pytest.mark.long
@pytest.mark.parametrize("door", ["/v1/voices", "/v1/zipvoice/voices"])
async def test_no_key_learns_from_a_deletion_or_a_clearance_what_another_has(tmp_path, door):
    async with studio_client(tmp_path, api_keys=["one", "two"]) as (studio, client):

        async def deleted():
            voice = await registered(client)
            name = voice["id"] if door == "/v1/voices" else "Anna"
            return (await client.delete(f"{door}/{name}")).json()["removed"]

        async def cleared():
            return (await client.post(f"{door}/cache/clear")).json()

        client.headers.update(bearer("one"))
        alone = await deleted(), await cleared()
        client.headers.update(bearer("two"))
        kept = await registered(client)
        for voice in (kept["id"], f"base64+{encoded(1)}"):
            await client.post("/v1/audio/speech", json={"input": "Hello.", "voice": voice})
        made = len(studio.engine.prepared)
        client.headers.update(bearer("one"))
        assert (await deleted(), await cleared()) == alone
        client.headers.update(bearer("two"))
        assert (await client.get(f"/v1/voices/{kept['id']}/audio")).status_code == 200
        await client.post("/v1/audio/speech", json={"input": "Hello.", "voice": kept["id"]})
        assert len(studio.engine.prepared) == made


@pytest.mark.long
async def test_keys_share_the_servers_voices_but_cannot_change_or_hear_them(tmp_path):
    async with studio_client(tmp_path) as (_, client):
        voice = await registered(client)
    async with studio_client(tmp_path, api_keys=["one"]) as (_, client):
        client.headers.update(bearer("one"))
        assert [found["yours"] for found in (await client.get("/v1/voices")).json()["data"]] == [False]
        spoken = await client.post("/v1/audio/speech", json={"input": "Hello.", "voice": voice["id"]})
        assert spoken.status_code == 200
        for method, path in [("DELETE", ""), ("GET", "/audio")]:
            refused = await client.request(method, f"/v1/voices/{voice['id']}{path}")
            assert (refused.status_code, error_of(refused)["code"]) == (403, "forbidden")


async def test_neither_keys_nor_paths_are_shown_or_stored(tmp_path):
    async with studio_client(tmp_path, api_keys=["a-very-secret-key"]) as (_, client):
        client.headers.update(bearer("a-very-secret-key"))
        voice = await registered(client)
        shown = json.dumps(voice) + (await client.get("/v1/voices")).text
    assert str(tmp_path) not in shown
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"a-very-secret-key" not in stored


async def test_pages_of_other_origins_cannot_register_or_clear(tmp_path):
    foreign = {"Origin": "https://evil.example"}
    form = {"data": FIELDS, "files": {"audio": ("a.wav", sample(1))}}
    async with studio_client(tmp_path, cors_origins=["https://page.example"]) as (_, client):
        assert (await client.post("/v1/voices", headers=foreign, **form)).status_code == 403
        assert (await client.post("/v1/voices/cache/clear", headers=foreign)).status_code == 403
        assert (await client.post("/v1/voices/cache/clear", headers={"Origin": "null"})).status_code == 403
        assert (await client.post("/v1/voices/cache/clear", headers={"Origin": "http://door"})).status_code == 200
        allowed = {"Origin": "https://page.example"}
        assert (await client.post("/v1/voices", headers=allowed, **form)).status_code == 201
        for method, path in (("DELETE", f"/v1/voices/{NO_VOICE}"), ("PUT", "/v1/dictionaries/names")):
            preflight = allowed | {"Access-Control-Request-Method": method}
            assert (await client.options(path, headers=preflight)).status_code == 200


async def test_a_recording_without_its_text_is_heard(studio, client):
    heard = await registered(client, transcript=None)
    assert (heard["transcript"], heard["transcription"]) == ("Some words.", "heard")
    later = await registered(client, "later", 2, transcript=None, transcribe="background")
    assert later["transcription"] in ("pending", "heard")
    for _ in range(200):
        if (await client.get(f"/v1/voices/{later['id']}")).json()["transcript"] == "Some words.":
            break
        await asyncio.sleep(0.01)
    else:
        pytest.fail("the transcript never came")


async def test_without_the_recogniser_a_voice_is_registered_and_the_remedy_is_named(studio, client):
    studio.transcriber.error = UnavailableError("It is missing; run: polyvox pull moonshine-base")
    added = await client.post("/v1/voices", json={"name": "Anna", "audio": encoded(1)})
    assert added.status_code == 201
    assert any("polyvox pull moonshine-base" in warning for warning in added.json()["warnings"])
    refused = await client.post("/v1/audio/speech", json={"input": "Hello.", "voice": "Anna"})
    assert refused.status_code == 503
    assert "polyvox pull moonshine-base" in error_of(refused)["message"]


async def test_caches_are_cleared_by_kind(studio, client):
    await client.post("/v1/audio/speech", json={"input": "Hello.", "voice": f"base64+{encoded(1)}"})
    one = (await client.post("/v1/voices/cache/clear", params={"kind": "inline"})).json()
    assert one["cleared"] == {"inline": 1}
    every = (await client.post("/v1/voices/cache/clear")).json()
    assert every["cleared"] == {"url": 0, "inline": 0, "transcript": 1, "prepared": 1}
    refused = await client.post("/v1/voices/cache/clear", params={"kind": "everything"})
    assert (refused.status_code, error_of(refused)["param"]) == (400, "kind")


@pytest.mark.parametrize("by", ["id", "object", "name"])
async def test_openais_door_speaks_with_a_registered_voice(studio, client, by):
    voice = await registered(client)
    meant = {"id": voice["id"], "object": {"id": voice["id"]}, "name": "anna"}[by]
    spoken = await client.post("/v1/audio/speech", json={"input": "Hello.", "voice": meant, "response_format": "wav"})
    assert spoken.status_code == 200
    assert studio.engine.heard[0].prepared is not None
    assert studio.engine.prepared[0].transcript == "The tide is out."


@pytest.mark.parametrize("written", ["base64+{}", "data:audio/wav;base64,{}"])
async def test_openais_door_speaks_with_a_recording_that_comes_along(studio, client, written):
    body = {"input": "Hello.", "voice": written.format(encoded(3)), "prompt_text": "What I say."}
    assert (await client.post("/v1/audio/speech", json=body)).status_code == 200
    assert studio.engine.prepared[0].transcript == "What I say."


async def test_a_recording_that_will_not_do_fails_before_the_first_byte(client):
    voice = base64.b64encode(b"<html>").decode()
    refused = await client.post("/v1/audio/speech", json={"input": "Hello.", "voice": f"base64+{voice}"})
    assert (refused.status_code, error_of(refused)["param"]) == (400, "voice")


async def test_voices_of_the_engine_go_on_as_before(studio, client):
    assert (await client.post("/v1/audio/speech", json={"input": "Hello.", "voice": "high"})).status_code == 200
    unknown = await client.post("/v1/audio/speech", json={"input": "Hello.", "voice": "nobody"})
    assert (unknown.status_code, error_of(unknown)["code"]) == (400, "voice_not_found")
    upload = await client.post("/v1/audio/speech", json={"input": "Hello.", "voice": "file+mine"})
    assert (upload.status_code, error_of(upload)["param"]) == (400, "voice")


async def test_a_model_that_cannot_clone_says_so(tmp_path):
    async with studio_client(tmp_path, ToneEngine()) as (_, client):
        voice = await registered(client)
        for meant in (voice["id"], {"id": voice["id"]}, "Anna", f"base64+{encoded(1)}"):
            refused = await client.post("/v1/audio/speech", json={"input": "Hello.", "voice": meant})
            assert refused.status_code == 400
            assert "cannot clone voices" in error_of(refused)["message"]


async def test_captions_too_are_spoken_with_a_registered_voice(studio, client):
    voice = await registered(client)
    spoken = await client.post("/dev/captioned_speech", json={"input": "Hello.", "voice": voice["id"], "stream": False})
    assert spoken.status_code == 200
    assert studio.engine.heard[0].prepared is not None


async def test_a_model_that_clones_lists_your_voices_beside_its_own(client):
    voice = await registered(client)
    voices = (await client.get("/v1/audio/voices")).json()["voices"]
    assert [(found["id"], found["title"]) for found in voices] == [
        ("low", "Low"),
        ("high", "High"),
        (voice["id"], "Anna"),
    ]


@pytest.mark.long
async def test_a_store_that_cannot_be_made_is_unavailable_and_the_rest_speaks():
    from helpers.fakes import tone_service

    async with called(tone_service()) as client:
        refused = await client.post("/v1/voices", json=FIELDS | {"audio": encoded(1)})
        assert refused.status_code == 503
        assert "/dev/null" not in refused.text
        assert (await client.post("/v1/audio/speech", json={"input": "Hello."})).status_code == 200


async def test_a_client_of_openai_names_a_voice_by_id(tmp_path):
    from openai import AsyncOpenAI

    async with studio_client(tmp_path) as (studio, client):
        voice = await registered(client)
        openai = AsyncOpenAI(
            base_url="http://door/v1", api_key="none", http_client=httpx.AsyncClient(transport=client._transport)
        )
        spoken = await openai.audio.speech.create(model="tts-1", voice={"id": voice["id"]}, input="Hello.")
        assert len(spoken.content) > 100
        assert studio.engine.heard[0].prepared is not None
