"""Requests that name a model which is installed but not loaded, and the calls that unload models."""

import asyncio
from typing import Any

import httpx
import pytest

from helpers.fakes import ToneEngine, missing_bundle, tone_settings, tone_spec
from helpers.serving import called
from polyvox.engines.catalog import Catalog
from polyvox.service.registry.registry import Registry
from polyvox.service.speech import SpeechService
from polyvox.service.telemetry.metrics import Metrics

pytestmark = pytest.mark.anyio

SPEECH = {"input": "Hello there.", "model": "other", "response_format": "pcm"}


def service(other: ToneEngine, **settings: Any) -> SpeechService:
    """A service with the resident model `tone`; `other` is installed, `elsewhere` is not."""
    effective = tone_settings(allow_unload=True, **settings)
    factories = {"tone": lambda _: ToneEngine(), "other": lambda _: other, "elsewhere": lambda _: ToneEngine()}
    missing = {"elsewhere": "The model 'elsewhere' is not installed; run: polyvox pull elsewhere."}
    registry = Registry(effective, factories, absence=lambda name: missing.get(name, ""))
    return SpeechService(effective, registry, Metrics())


async def listed(client: httpx.AsyncClient) -> dict[str, tuple[bool, bool]]:
    models = (await client.get("/v1/models")).json()["data"]
    return {model["id"]: (model["available"], model["loaded"]) for model in models if model["id"] == model["root"]}


async def test_an_installed_model_is_loaded_for_the_request_that_names_it() -> None:
    async with called(service(ToneEngine("other"))) as client:
        before = await listed(client)
        assert (await client.get("/ready")).json()["models"] == {"tone": True}
        spoken = await client.post("/v1/audio/speech", json=SPEECH)
        after, ready = await listed(client), (await client.get("/ready")).json()
        metrics = (await client.get("/metrics")).text
    assert before == {"tone": (True, True), "other": (True, False), "elsewhere": (False, False)}
    assert spoken.status_code == 200
    assert len(spoken.content) == 3 * 2 * 2_400
    assert after["other"] == (True, True)
    assert ready["models"] == {"tone": True, "other": True}
    assert 'polyvox_model_events_total{event="loaded",model="other"} 1.0' in metrics


async def test_a_model_that_is_not_installed_is_not_worth_a_retry() -> None:
    async with called(service(ToneEngine("other", start_error=missing_bundle()))) as client:
        absent = await client.post("/v1/audio/speech", json=SPEECH | {"model": "elsewhere"})
        broken = await client.post("/v1/audio/speech", json=SPEECH)
        reasons = (await client.get("/ready")).json()["reasons"]
        ready = await client.get("/ready")
    for answer in (absent, broken):
        assert (answer.status_code, answer.headers["x-should-retry"]) == (501, "false")
        assert "retry-after" not in answer.headers
        assert "polyvox pull" in answer.json()["error"]["message"]
    assert list(reasons) == ["other"]
    assert ready.status_code == 200


class Slow(ToneEngine):
    async def start(self) -> None:
        await asyncio.Event().wait()


async def test_a_slow_load_is_503_with_a_time_to_retry_and_shown_by_ready() -> None:
    async with called(service(Slow("other"), model_load_seconds=0.02)) as client:
        answer = await client.post("/v1/audio/speech", json=SPEECH)
        ready = await client.get("/ready")
        other = await client.post("/v1/audio/speech", json=SPEECH | {"model": "tone"})
    assert (answer.status_code, answer.headers["x-should-retry"], answer.headers["retry-after"]) == (503, "true", "5")
    assert (ready.status_code, list(ready.json()["loading"])) == (200, ["other"])
    assert ready.json()["loading"]["other"] | {"seconds": 0} == {"seconds": 0, "waiting": 0, "last_seconds": None}
    assert other.status_code == 200


@pytest.mark.long
async def test_unload_and_reload_spare_a_model_that_speaks() -> None:
    gate = asyncio.Event()
    engine = ToneEngine("other", gate=gate)
    async with called(service(engine)) as client:
        speaking = asyncio.create_task(client.post("/v1/audio/speech", json=SPEECH))
        while not engine.speaking:  # noqa: ASYNC110 - the engine has no event for it
            await asyncio.sleep(0.001)
        assert (await client.post("/dev/unload")).json() == {"status": "unloaded", "models": [], "busy": ["other"]}
        for path in ("/dev/unload", "/dev/reload"):
            assert (await client.post(path, params={"model": "other"})).status_code == 409
        gate.set()
        assert (await speaking).status_code == 200
        unloaded = await client.post("/dev/unload", params={"model": "other"})
        assert unloaded.json() == {"status": "unloaded", "models": ["other"], "busy": []}
        assert engine.is_closed
        assert (await listed(client))["other"] == (True, False)
        assert (await client.post("/dev/reload", params={"model": "other"})).json()["status"] == "loaded"
        assert (await listed(client))["other"] == (True, True)
        assert (await client.post("/dev/unload", params={"model": "typo"})).status_code == 404
        page = await client.post("/dev/unload", headers={"Origin": "https://elsewhere.example"})
        assert page.status_code == 403


async def test_unloading_is_off_unless_the_settings_allow_it_and_needs_the_key() -> None:
    keyed = service(ToneEngine("other"), api_keys=["secret"])
    async with called(keyed) as client:
        assert (await client.post("/dev/unload")).status_code == 401
    plain = SpeechService(tone_settings(), Registry(tone_settings(), {"tone": lambda _: ToneEngine()}), Metrics())
    async with called(plain) as client:
        for path in ("/dev/unload", "/dev/reload"):
            refused = await client.post(path)
            assert refused.status_code == 403
            assert "allow_unload" in refused.json()["error"]["message"]


def test_a_model_is_installed_where_its_folder_is(tmp_path) -> None:
    catalog, settings = Catalog((tone_spec(),)), tone_settings(models_dir=tmp_path)
    assert "polyvox pull tone" in catalog.absence("tone", settings)
    (tmp_path / "tone").mkdir()
    assert catalog.absence("tone", settings) == ""
