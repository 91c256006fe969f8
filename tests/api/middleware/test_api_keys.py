"""Keys with scopes and limits at the doors, and `/v1/usage`."""

import httpx
import pytest

from helpers.fakes import ToneEngine, running, tone_service
from helpers.serving import called, error_of
from polyvox.api.app import create_app
from polyvox.service.keys.record import Limits
from polyvox.service.keys.store import KeyStore

pytestmark = pytest.mark.anyio

SPEECH = {"input": "x" * 10}


@pytest.fixture
def keys(tmp_path) -> dict[str, str]:
    """Bearer headers of keys in the file."""
    store = KeyStore(tmp_path / "keys.sqlite")
    made = {
        "speaker": store.create("speaker", ["speak"], Limits(requests_a_minute=3, characters_a_day=25)),
        "keeper": store.create("keeper", ["voices"], Limits()),
        "boss": store.create("boss", ["admin"], Limits()),
        "quiet": store.create("quiet", ["speak"], Limits(audio_seconds_a_day=1)),
    }
    return {name: new.secret for name, new in made.items()}


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def usage_of(response: httpx.Response) -> dict[str, dict]:
    return {entry["key"]: entry for entry in response.json()["data"]}


async def test_keys_of_the_file_are_asked_for_beside_those_of_the_settings(tmp_path, keys):
    async with called(tone_service(data_dir=tmp_path, api_keys=["plain"])) as client:
        for key, status in ((keys["speaker"], 200), ("plain", 200), ("wrong", 401), (keys["speaker"][:-1], 401)):
            assert (await client.post("/v1/audio/speech", json=SPEECH, headers=bearer(key))).status_code == status
        assert (await client.get("/v1/models")).status_code == 401


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "path", "missing"),
    [
        ("POST", "/v1/audio/speech", {"keeper": "speak", "boss": "speak"}),
        ("POST", "/v1/voices", {"speaker": "voices", "boss": "voices"}),
        ("DELETE", "/v1/voices/abc", {"speaker": "voices", "boss": "voices"}),
        ("DELETE", "/v1/dictionaries/abc", {"speaker": "voices", "boss": "voices"}),
        ("GET", "/metrics", {"speaker": "admin", "keeper": "admin"}),
        ("POST", "/dev/unload", {"speaker": "admin", "keeper": "admin"}),
        ("GET", "/v1/models", {}),
        ("GET", "/v1/usage", {}),
    ],
)
async def test_each_path_says_which_scope_a_key_lacks(tmp_path, keys, method, path, missing):
    async with called(tone_service(data_dir=tmp_path)) as client:
        for name in ("speaker", "keeper", "boss"):
            response = await client.request(method, path, headers=bearer(keys[name]))
            if name in missing:
                error = error_of(response)
                assert (response.status_code, error["code"]) == (403, "missing_scope")
                assert f"'{missing[name]}'" in error["message"]
            else:
                assert response.status_code != 401
                assert response.status_code != 403 or error_of(response)["code"] != "missing_scope"


async def test_answers_tell_how_a_key_stands_to_its_limits(tmp_path, keys):
    async with called(tone_service(data_dir=tmp_path), headers=bearer(keys["speaker"])) as client:
        first = await client.post("/v1/audio/speech", json=SPEECH)
        await client.post("/v1/audio/speech", json=SPEECH)
        over = await client.post("/v1/audio/speech", json=SPEECH)
        many = await client.post("/v1/audio/speech", json=SPEECH)
        other_door = await client.post("/inference_sft", data={"tts_text": "Hello.", "spk_id": "low"})
    assert first.headers["x-ratelimit-resource"] == "characters"
    assert (first.headers["x-ratelimit-limit"], first.headers["x-ratelimit-remaining"]) == ("25", "15")
    assert 0 < int(first.headers["x-ratelimit-reset"]) <= 86_400
    assert (over.status_code, error_of(over)["code"]) == (429, "quota_exceeded")
    assert over.headers["x-ratelimit-remaining"] == "5"
    assert over.headers["x-should-retry"] == "false"
    assert int(over.headers["retry-after"]) == int(over.headers["x-ratelimit-reset"])
    assert (many.status_code, error_of(many)["code"]) == (429, "rate_limit_exceeded")
    assert many.headers["x-ratelimit-resource"] == "requests"
    assert 1 <= int(many.headers["retry-after"]) <= 20
    assert other_door.status_code == 429
    assert other_door.headers["x-ratelimit-limit"] == "3"


async def test_keys_without_limits_have_no_such_headers(tmp_path):
    async with called(tone_service(api_keys=["plain"]), headers=bearer("plain")) as client:
        response = await client.post("/v1/audio/speech", json=SPEECH)
    assert response.status_code == 200
    assert not any(name.startswith("x-ratelimit") for name in response.headers)


async def test_a_batch_is_one_request_and_its_items_fail_by_the_quota(tmp_path, keys):
    items = {"items": [{"input": "x" * 10}] * 3}
    async with called(tone_service(data_dir=tmp_path), headers=bearer(keys["speaker"])) as client:
        batch = await client.post("/v1/audio/speech/batch", json=items)
        own = (await client.get("/v1/usage")).json()["data"][0]
    assert batch.status_code == 200
    assert b"quota_exceeded" in batch.content
    assert (own["days"][0]["requests"], own["days"][0]["characters"]) == (1, 20)


async def test_a_key_sees_its_own_use_and_an_admin_that_of_all(tmp_path, keys):
    async with called(tone_service(ToneEngine(chunk_seconds=0.5), data_dir=tmp_path)) as client:
        for name in ("speaker", "quiet"):
            assert (await client.post("/v1/audio/speech", json=SPEECH, headers=bearer(keys[name]))).status_code == 200
        used_up = await client.post("/v1/audio/speech", json=SPEECH, headers=bearer(keys["quiet"]))
        own = await client.get("/v1/usage", headers=bearer(keys["speaker"]))
        everybody = await client.get("/v1/usage", params={"days": 7}, headers=bearer(keys["boss"]))
        bad = await client.get("/v1/usage", params={"days": 0}, headers=bearer(keys["boss"]))
        metrics = await client.get("/metrics", headers=bearer(keys["boss"]))
    assert (used_up.status_code, error_of(used_up)["code"]) == (429, "quota_exceeded")
    assert set(usage_of(own)) == {"speaker"}
    mine = usage_of(own)["speaker"]
    assert mine["limits"] == {"requests_a_minute": 3, "characters_a_day": 25}
    assert mine["remaining"] == {"characters": 15}
    (day,) = mine["days"]
    assert day == {
        "date": own.json()["today"], "requests": 1, "characters": 10, "audio_seconds": 1.5, "refused": 0
    }  # fmt: skip
    assert set(usage_of(everybody)) == {"speaker", "keeper", "boss", "quiet"}
    assert usage_of(everybody)["quiet"]["days"][0]["refused"] == 1
    assert bad.status_code == 400
    assert 'polyvox_key_audio_seconds_total{key="speaker"} 1.5' in metrics.text
    shown = own.text + everybody.text + metrics.text
    assert not any(secret in shown or secret[4:] in shown for secret in keys.values())


async def test_use_is_there_after_a_restart(tmp_path, keys):
    for place in range(2):
        async with called(tone_service(data_dir=tmp_path), headers=bearer(keys["speaker"])) as client:
            assert (await client.post("/v1/audio/speech", json=SPEECH)).status_code == 200
            own = usage_of(await client.get("/v1/usage"))["speaker"]
        assert own["days"][0]["characters"] == 10 * (place + 1)
    async with called(tone_service(data_dir=tmp_path), headers=bearer(keys["speaker"])) as client:
        assert (await client.post("/v1/audio/speech", json=SPEECH)).status_code == 429


async def test_without_keys_the_use_of_all_is_shown_and_addresses_have_limits():
    service = tone_service(max_requests_a_minute_per_address=1)
    transport = httpx.ASGITransport(create_app(service), client=("10.0.0.7", 5))
    async with running(service), httpx.AsyncClient(transport=transport, base_url="http://door") as client:
        answers = [(await client.post("/v1/audio/speech", json=SPEECH)).status_code for _ in range(2)]
        used = usage_of(await client.get("/v1/usage"))
    assert answers == [200, 429]
    assert used["anonymous"]["days"][0]["refused"] == 1
