"""A defect becomes a 500 that can be found in the log, and nothing of it leaks."""

import pytest
from structlog.testing import capture_logs

from helpers.fakes import ToneEngine, tone_service
from helpers.serving import called, error_of
from polyvox.errors import TextError, UnavailableError

pytestmark = pytest.mark.anyio

SPEECH_PATHS = (
    "/v1/audio/speech",
    "/v1/audio/vc",
    "/v1/zipvoice/audio/speech",
    "/dev/captioned_speech",
    "/inference_sft",
    "/synthesize",
    "/tts",
    "/v1/model/cosyvoice/zero_shot",
    "/v1/text-to-speech/low",
    "/tts/bytes",
)

SPEECH = "/v1/audio/speech"


class Forgetful(ToneEngine):
    """Breaks where nothing should break, once it has `forgot`."""

    forgot = False

    @property
    def voices(self):
        if self.forgot:
            raise KeyError("secret detail")
        return super().voices


async def test_a_defect_is_answered_with_a_reference_to_the_log():
    engine = Forgetful()
    async with called(tone_service(engine, cors_origins=["*"]), headers={"Origin": "https://a.example"}) as client:
        engine.forgot = True
        with capture_logs() as lines:
            response = await client.get("/v1/audio/voices")
        alive = await client.get("/health")
    reference = response.headers["x-session-id"]
    assert response.status_code == 500
    assert error_of(response)["code"] == "internal_error"
    assert reference in error_of(response)["message"]
    assert "secret" not in response.text
    assert response.headers["access-control-allow-origin"] == "*"
    (line,) = [line for line in lines if line["event"] == "request failed"]
    assert line["session"] == reference
    assert line["log_level"] == "error"
    assert alive.status_code == 200


async def test_an_encoder_that_breaks_is_logged_counted_and_answered(monkeypatch):
    async def broken(session, audio_format):
        async for _ in session:
            raise RuntimeError("secret detail")
        yield

    monkeypatch.setattr("polyvox.api.body_format.encoded", broken)
    async with called(tone_service()) as client:
        with capture_logs() as lines:
            response = await client.post(SPEECH, json={"input": "Hello."})
        metrics = (await client.get("/metrics")).text
    assert response.status_code == 500
    assert response.headers["x-session-id"] in error_of(response)["message"]
    assert "secret" not in response.text
    assert [line["event"] for line in lines if line["log_level"] == "error"] == ["speech failed"]
    assert 'polyvox_failures_total{kind="engine_failed"} 1.0' in metrics


async def test_an_engines_own_refusal_keeps_its_words():
    engine = ToneEngine(fail_at=0, error=TextError("Nothing in the text can be spoken; send words.", field="input"))
    async with called(tone_service(engine)) as client:
        response = await client.post(SPEECH, json={"input": "Hello."})
    assert response.status_code == 400
    assert error_of(response) == {
        "message": "Nothing in the text can be spoken; send words.",
        "type": "invalid_request_error",
        "param": "input",
        "code": "invalid_text",
    }
    assert "x-session-id" in response.headers


class Monoglot(ToneEngine):
    """Speaks one language and calls the field by its own name."""

    def check(self, utterance):
        raise UnavailableError("This language needs a tool that is not installed.", field="language")


async def test_a_field_is_called_as_the_caller_called_it():
    async with called(tone_service(Monoglot())) as client:
        response = await client.post(SPEECH, json={"input": "Hello.", "lang_code": "e"})
    assert response.status_code == 503
    assert error_of(response)["param"] == "lang_code"


async def test_refusals_before_the_service_sees_a_request_are_counted_on_the_paths_for_speech():
    """As requests and as failures, once each; other paths count nothing."""
    async with called(tone_service()) as client:
        for path in SPEECH_PATHS:
            refused = await client.post(path, json={"no": "text"})
            assert refused.status_code in (400, 404, 422), path
        assert (await client.post("/v1/audio/speech", json={"input": "Hi.", "voice": "nobody"})).status_code == 400
        assert (await client.post("/v1/voices", json={})).status_code == 400
        text = (await client.get("/metrics")).text
    counted = {
        name: sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(f"{name}{{"))
        for name in ("polyvox_requests_total", "polyvox_failures_total")
    }
    assert counted == dict.fromkeys(counted, len(SPEECH_PATHS) + 1)
    assert f"\ntts_requests_error {len(SPEECH_PATHS) + 1}.0\n" in text
