"""Probes, metrics, the index and the API's own description."""

import dataclasses
import threading
from importlib.metadata import version

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from helpers.fakes import ToneEngine, missing_bundle, tone_service
from helpers.serving import called, served
from helpers.tables import each_row
from polyvox.api.app import create_app
from polyvox.runtime.gpu_usage import GpuUsage
from polyvox.service.voices.voices import VoiceService
from polyvox.text import normalize
from polyvox.text.normalize import normalizer_for

pytestmark = pytest.mark.anyio


async def test_alive_and_ready():
    async with called(tone_service()) as client:
        health = await client.get("/health")
        ready = await client.get("/ready")
    assert (health.status_code, health.json()) == (200, {"status": "healthy", "version": version("polyvox")})
    assert ready.status_code == 200
    assert ready.json() == {"status": "ready", "models": {"tone": True}, "reasons": {}}


async def test_alive_but_not_ready_without_its_model():
    async with called(tone_service(ToneEngine(start_error=missing_bundle()))) as client:
        health = await client.get("/health")
        ready = await client.get("/ready")
    assert health.status_code == 200
    assert ready.status_code == 503
    assert ready.json()["status"] == "not_ready"
    assert "polyvox pull" in ready.json()["reasons"]["tone"]


async def test_not_ready_while_what_its_model_needs_does_not_answer():
    engine = ToneEngine()
    engine.obstacle = "The language model server cannot be reached."
    async with called(tone_service(engine)) as client:
        broken = await client.get("/ready")
        engine.obstacle = ""
        mended = await client.get("/ready")
    assert (broken.status_code, mended.status_code) == (503, 200)
    assert broken.json()["reasons"] == {"tone": "The language model server cannot be reached."}


async def test_not_ready_while_the_dictionaries_of_its_languages_are_loading():
    class Chinese(ToneEngine):
        loaded = threading.Event()

        def warm_up(self):
            assert self.loaded.wait(60)

    engine = Chinese()
    service = tone_service(engine)
    async with called(service) as client:
        service.warm_up()
        loading = await client.get("/ready")
        engine.loaded.set()
        await service._warming
        loaded = await client.get("/ready")
    assert (loading.status_code, loaded.status_code) == (503, 200)
    assert "are loading" in loading.json()["reasons"]["tone"]


async def test_not_ready_while_its_model_speaks_only_with_a_recording():
    class Recorded(ToneEngine):
        voices = ()

    engine = Recorded()
    engine._capabilities = dataclasses.replace(engine.capabilities, cloning=True)
    async with called(tone_service(engine, models_dir="/nowhere")) as client:
        ready = await client.get("/ready")
    assert ready.status_code == 503
    assert "polyvox pull kokoro" in ready.json()["reasons"]["tone"]


async def test_ready_with_a_warning_while_the_voice_store_is_broken(tmp_path):
    (tmp_path / "voices").mkdir()
    database = tmp_path / "voices" / "voices.sqlite3"
    database.write_bytes(b"not a database" * 1_000)
    service = tone_service(data_dir=tmp_path)
    voices = VoiceService.for_service(service)
    async with called(service, voices) as client:
        await voices.start()
        ready = await client.get("/ready")
        broken = (await client.get("/metrics")).text
        database.unlink()
        await voices.check()
        mended = await client.get("/ready")
        whole = (await client.get("/metrics")).text
        await voices.close()
    assert (ready.status_code, ready.json()["status"], ready.json()["reasons"]) == (200, "ready", {})
    assert "polyvox voices repair" in ready.json()["warnings"]["voices"]
    assert str(tmp_path) not in ready.text
    assert "polyvox_voice_store_available 0.0" in broken
    assert "warnings" not in mended.json()
    assert "polyvox_voice_store_available 1.0" in whole


async def test_gpus_are_in_probe_and_metrics(monkeypatch):
    service = tone_service()
    usage = GpuUsage(0, "NVIDIA H200", 30, 141, 0.25)
    monkeypatch.setattr(service.metrics.gpus, "_make_reader", lambda: lambda: [usage])
    async with called(service) as client:
        ready = await client.get("/ready")
        metrics = (await client.get("/metrics")).text
    assert ready.json()["gpus"] == [{"index": 0, "memory_used": 30, "memory_total": 141, "utilization": 0.25}]
    for name, value in (("memory_used_bytes", "30.0"), ("memory_total_bytes", "141.0"), ("utilization_ratio", "0.25")):
        assert f'polyvox_gpu_{name}{{gpu="0",name="NVIDIA H200"}} {value}' in metrics


async def test_without_a_gpu_nothing_is_said_of_one():
    async with called(tone_service()) as client:
        assert "gpus" not in (await client.get("/ready")).json()
        assert "polyvox_gpu" not in (await client.get("/metrics")).text


async def test_metrics_are_what_prometheus_reads():
    async with called(tone_service()) as client:
        await client.post("/v1/audio/speech", json={"input": "Hello."})
        response = await client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    families = {family.name: family for family in text_string_to_metric_families(response.text)}
    requests = [sample for sample in families["polyvox_requests"].samples if sample.name.endswith("_total")]
    assert [sample.labels for sample in requests if sample.value] == [{"door": "openai", "model": "tone"}]
    assert sum(sample.value for sample in requests) == 1.0


@each_row("path", ["/", "/v1"])
async def test_the_base_address_answers(path):
    async with called(tone_service()) as client:
        body = (await client.get(path)).json()
    assert body["name"] == "polyvox"
    assert body["speech"] == "/v1/audio/speech"


@pytest.mark.long
async def test_the_description_covers_every_door():
    async with called(tone_service()) as client:
        schema = (await client.get("/openapi.json")).json()
        page = await client.get("/docs")
    assert page.status_code == 200
    assert set(schema["paths"]) == {
        "/",
        "/health",
        "/ready",
        "/metrics",
        "/metrics/recent",
        "/v1/usage",
        "/v1/pulls",
        "/v1/audio/speech",
        "/v1/audio/speech/batch",
        "/v1/audio/dialogue",
        *("/v1/audio/conversion", "/v1/audio/transcriptions", "/v1/audio/translations", "/v1/speech-to-text"),
        "/v1/audio/provenance",
        "/v1/audio/provenance/{content_id}",
        "/v1/audio/models",
        "/v1/audio/voices",
        "/v1/audio/voices/combine",
        "/v1/models",
        "/v1/models/{model_id}",
        "/dev/captioned_speech",
        "/dev/phonemize",
        "/dev/unload",
        "/dev/reload",
        *(f"/dev/{name}" for name in ("ssml", "dialogue", "generate_from_phonemes", "timestamp")),
        "/v1/text-to-voice",
        *(f"/v1/text-to-voice/{name}" for name in ("design", "create-previews", "create-voice-from-preview")),
        "/v1/text-to-voice/{generated_voice_id}/stream",
        "/v1/download/{file}",
        "/v1/test",
        *(f"/debug/{name}" for name in ("threads", "storage", "system")),
        "/v1/voices",
        "/v1/voices/cache/clear",
        "/v1/voices/fit",
        "/v1/voices/fit/{fit_id}",
        "/v1/voices/{voice_id}",
        "/v1/voices/{voice_id}/audio",
        "/v1/audio/speaker",
        "/v1/audio/vc",
        "/v1/audio/normalize",
        "/v1/zipvoice/audio/speech",
        "/v1/zipvoice/voices",
        "/v1/zipvoice/voices/register",
        "/v1/zipvoice/voices/{name}",
        "/v1/zipvoice/voices/cache/clear",
        *(f"/inference_{mode}" for mode in ("sft", "zero_shot", "cross_lingual", "instruct", "instruct2")),
        "/synthesize",
        "/speakers",
        *(
            f"/v1/model/cosyvoice/{mode}"
            for mode in ("tts", "zero_shot", "cross_lingual", "instruct", "batch", "healthcheck")
        ),
        *("/tts", "/zero_shot_tts", "/cross_lingual_tts", "/instruct_tts", "/config"),
        *(f"/v1/jobs{path}" for path in ("", "/{job_id}", "/{job_id}/events", "/{job_id}/files/{name}")),
        *(f"/v1/jobs/{{job_id}}/{verb}" for verb in ("pause", "resume", "cancel")),
        *(f"/v1/dictionaries{path}" for path in ("", "/{name}", "/{name}/try")),
        "/v1/realtime/client_secrets",
        *("/tts/bytes", "/tts/sse", "/voices", "/voices/clone", "/voices/{voice_id}"),
        *(
            f"{path}{form}"
            for path in ("/v1/text-to-speech/{voice_id}", "/v1/text-to-dialogue")
            for form in ("", "/stream", "/with-timestamps", "/stream/with-timestamps")
        ),
        *("/v2/voices", "/v1/user", "/v1/user/subscription"),
        *(
            f"/elevenlabs/v1/{path}"
            for path in (
                "models",
                "voices",
                "voices/add",
                "voices/settings/default",
                "voices/{voice_id}",
                "voices/{voice_id}/settings",
            )
        ),
    }
    speech = schema["components"]["schemas"]["SpeechBody"]
    assert all("description" in field for field in speech["properties"].values())
    assert speech["required"] == ["input"]
    assert {"200", "400", "404", "413", "429", "503"} <= set(schema["paths"]["/v1/audio/speech"]["post"]["responses"])


def test_the_app_starts_and_closes_its_service():
    engine = ToneEngine()
    with served(tone_service(engine)) as url:
        assert httpx.get(url + "/ready").status_code == 200
        assert engine.started
        assert not engine.is_closed
    assert engine.is_closed


async def test_every_language_is_imported_before_the_app_answers():
    normalize._normalizer.cache_clear()
    app = create_app(tone_service())
    async with app.router.lifespan_context(app):
        imported = normalize._normalizer.cache_info().misses
        for language in ("cmn", "en-GB", "es", "fr", "hi", "it", "ja", "ms", "pt-br", "zh", "sw"):
            normalizer_for(language)
        assert normalize._normalizer.cache_info().misses == imported


async def test_the_app_leaves_a_service_alone_that_was_started_before():
    engine = ToneEngine()
    service = tone_service(engine)
    await service.start()
    app = create_app(service)
    async with app.router.lifespan_context(app):
        assert service.ready.ok
    assert not engine.is_closed
    await service.close()
    assert engine.is_closed
