"""Tiny models of Chatterbox behind the doors: one application, called in process."""

import io
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from helpers.tiny_chatterbox import ENGLISH, MODELS, MULTILINGUAL, TURBO, factories, install, settings, speak_briefly
from polyvox.api.app import create_app
from polyvox.audio.decode import decode
from polyvox.service.local_service import build_service
from polyvox.service.voices.voices import VoiceService

pytestmark = pytest.mark.long

SPEECH = (Path(__file__).parents[1] / "recordings" / "librivox_a.flac").read_bytes()
TOKEN = 2 * 960
"""Bytes of a speech token in 16-bit samples."""


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A server with all three kinds of model."""
    folder = tmp_path_factory.mktemp("chatterbox")
    for model in MODELS:
        install(model, folder / "models")
    chosen = settings(folder / "models", models=list(MODELS), default_model=TURBO, data_dir=folder / "data")
    service = build_service(chosen, factories())
    app = create_app(service, VoiceService.for_service(service))
    with pytest.MonkeyPatch.context() as patch:
        speak_briefly(patch)
        with TestClient(app, base_url="http://localhost") as client:
            yield client


def spoken(client: TestClient, **fields: object) -> bytes:
    body = {"input": "One two.", "response_format": "pcm", "seed": 1, "model": TURBO, "voice": "default", **fields}
    answer = client.post("/v1/audio/speech", json=body)
    assert answer.status_code == 200, answer.text
    assert len(answer.content) >= 10 * TOKEN
    assert len(answer.content) % TOKEN == 0
    return answer.content


def test_openai_speaks_as_the_request_says(door: TestClient) -> None:
    usual = spoken(door)
    assert usual == spoken(door)
    assert usual != spoken(door, temperature=0)
    given = {"model": ENGLISH, "input": "Good morning to you all."}
    neutral = spoken(door, **given)
    assert neutral == spoken(door, **given, exaggeration=0.5, cfg_weight=0.5)
    assert neutral != spoken(door, **given, exaggeration=1.5)
    assert neutral != spoken(door, **given, cfg_weight=0.0)
    refused = door.post(
        "/v1/audio/speech", json={"input": "One.", "voice": "default", "model": ENGLISH, "exaggeration": 9}
    )
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "exaggeration")


def test_languages_are_spoken_by_the_model_that_has_them(door: TestClient) -> None:
    given = {"model": MULTILINGUAL, "input": "Une phrase de test"}
    assert len(spoken(door, **given, lang_code="fr")) == len(spoken(door, **given, lang_code="sw"))
    refused = door.post(
        "/v1/audio/speech", json={"input": "Un.", "voice": "default", "model": ENGLISH, "lang_code": "fr"}
    )
    assert refused.status_code == 400


def test_a_recording_speaks_without_a_transcript_where_it_is_long_enough(door: TestClient) -> None:
    registered = door.post(
        "/v1/voices", data={"name": "mine", "transcribe": "none"}, files={"audio": ("a.flac", SPEECH)}
    )
    assert registered.status_code == 201, registered.text
    added = door.post("/elevenlabs/v1/voices/add", data={"name": "added"}, files={"files": ("a.flac", SPEECH)})
    assert added.status_code == 200, added.text
    for model in (ENGLISH, MULTILINGUAL):
        own = spoken(door, model=model, voice=str(registered.json()["id"]))
        assert own == spoken(door, model=model, voice=str(added.json()["voice_id"]))
        assert own != spoken(door, model=model)
    short = door.post("/v1/audio/speech", json={"input": "One.", "model": TURBO, "voice": "mine"})
    assert (short.status_code, short.json()["error"]["code"]) == (400, "invalid_prompt")


def test_a_recording_is_converted_to_another_voice(door: TestClient) -> None:
    answer = door.post(
        "/v1/audio/conversion",
        data={"voice": "default", "model": ENGLISH, "response_format": "wav"},
        files={"file": ("a.flac", SPEECH)},
    )
    assert answer.status_code == 200, answer.text
    with wave.open(io.BytesIO(answer.content)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
        assert file.getframerate() == 24_000
    pcm, rate = decode(SPEECH, max_seconds=30, max_samples=10**7)
    assert abs(len(samples) - len(pcm) * 24_000 / rate) <= 4800


def test_models_and_voices_are_listed_with_what_they_can(door: TestClient) -> None:
    listed = {each["id"]: each["capabilities"] for each in door.get("/v1/models").json()["data"]}
    assert all(listed[model]["cloning"] for model in MODELS)
    voices = door.get("/v1/audio/voices", params={"model": TURBO}).json()["voices"]
    assert "default" in {each["id"] if isinstance(each, dict) else each for each in voices}
