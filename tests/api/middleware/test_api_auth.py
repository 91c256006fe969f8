"""Bearer keys and CORS."""

import pytest

from helpers.cloning import sample, studio_client
from helpers.fakes import tone_service
from helpers.serving import called, error_of
from helpers.tables import each_row

pytestmark = pytest.mark.anyio

KEYS = ["first-key", "zweiter-schlüssel"]
SPEECH = {"input": "Hello."}


def bearer(key: str) -> dict[str, bytes]:
    return {"Authorization": b"Bearer " + key.encode()}


@each_row("key", KEYS)
async def test_any_of_the_keys_opens_the_door(key):
    async with called(tone_service(api_keys=KEYS), headers=bearer(key)) as client:
        assert (await client.post("/v1/audio/speech", json=SPEECH)).status_code == 200
        assert (await client.get("/v1/models")).status_code == 200
        assert (await client.get("/metrics")).status_code == 200


@each_row(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Bearer first-keyx",
        "Bearer first",
        "Basic first-key",
        "first-key",
    ],
)
async def test_anything_else_does_not(authorization):
    headers = {} if authorization is None else {"Authorization": authorization}
    async with called(tone_service(api_keys=KEYS), headers=headers) as client:
        refused = await client.post("/v1/audio/speech", json=SPEECH)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    assert error_of(refused)["type"] == "authentication_error"
    assert "first-key" not in refused.text


@each_row("path", ["/v1/models", "/v1/audio/voices", "/v1", "/metrics", "/nothing", "/health/"])
async def test_a_key_is_asked_for_wherever_it_is_not_expressly_waived(path):
    async with called(tone_service(api_keys=KEYS)) as client:
        assert (await client.get(path)).status_code == 401


@pytest.mark.long
@each_row("path", ["/v1/models", "/v1/models/tone", "/v1/audio/models", "/v1/audio/voices"])
async def test_lists_are_read_without_a_key_where_the_setting_says_so(path):
    async with called(tone_service(api_keys=KEYS, public_lists=True)) as client:
        assert (await client.get(path)).status_code == 200
        assert (await client.get(path, headers=bearer(KEYS[0]))).status_code == 200
        assert (await client.get(path, headers=bearer("wrong"))).status_code == 401
        assert (await client.post("/v1/audio/speech", json=SPEECH)).status_code == 401
        assert (await client.get("/metrics")).status_code == 401


async def test_a_public_list_shows_nobodys_voices_and_with_a_key_its_own(tmp_path):
    form = {"name": "mine", "transcript": "My words."}
    async with studio_client(tmp_path, api_keys=KEYS, public_lists=True) as (_, client):
        added = await client.post("/v1/voices", data=form, files={"audio": sample(1)}, headers=bearer(KEYS[0]))
        assert added.status_code == 201
        listed = [
            [voice["title"] for voice in (await client.get("/v1/audio/voices", headers=headers)).json()["voices"]]
            for headers in ({}, bearer(KEYS[0]), bearer(KEYS[1]))
        ]
    assert ["mine" in names for names in listed] == [False, True, False]
    assert all("Low" in names for names in listed)


@pytest.mark.long
@each_row("path", ["/", "/health", "/ready", "/docs", "/openapi.json"])
async def test_probes_and_descriptions_need_no_key(path):
    async with called(tone_service(api_keys=KEYS)) as client:
        assert (await client.get(path)).status_code == 200


async def test_an_empty_key_opens_nothing():
    async with called(tone_service(api_keys=[""])) as client:
        assert (await client.get("/v1/models")).status_code == 401
        assert (await client.get("/v1/models", headers={"Authorization": "Bearer "})).status_code == 401


async def test_without_keys_in_the_settings_none_is_asked_for():
    async with called(tone_service()) as client:
        assert (await client.post("/v1/audio/speech", json=SPEECH)).status_code == 200


async def test_pages_of_other_origins_are_not_invited_by_default():
    async with called(tone_service(), headers={"Origin": "https://page.example"}) as client:
        response = await client.post("/v1/audio/speech", json=SPEECH)
    assert "access-control-allow-origin" not in response.headers


async def test_an_allowed_origin_may_ask_without_a_key_and_reads_every_answer():
    origin = {"Origin": "https://page.example"}
    preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    service = tone_service(api_keys=KEYS, cors_origins=["https://page.example"])
    async with called(service, headers=origin) as client:
        asked = await client.options("/v1/audio/speech", headers=preflight)
        refused = await client.post("/v1/audio/speech", json=SPEECH)
        spoken = await client.post("/v1/audio/speech", json=SPEECH, headers=bearer(KEYS[0]))
        stranger = await client.options("/v1/audio/speech", headers=preflight | {"Origin": "https://other.example"})
    assert asked.status_code == 200
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == "https://page.example"
    assert "X-Session-Id" in spoken.headers["access-control-expose-headers"]
    assert "access-control-allow-origin" not in stranger.headers


@each_row("origin", ["http://[", "http://[::1", "https://a]b", "null", "\\\\", "http://" + "a" * 8000])
async def test_an_origin_that_is_none_is_refused_and_breaks_nothing(origin):
    async with called(tone_service(), headers={"Origin": origin}) as client:
        response = await client.post("/v1/voices", files={"audio": b"RIFF"}, data={"name": "anna"})
    assert response.status_code == 403
