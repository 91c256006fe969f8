"""Tiny models of Pocket TTS behind the doors: one application, called in process."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from helpers.tiny_pockettts import MODEL, SMALL, TINY, VOICE, install, settings
from polyvox.api.app import create_app
from polyvox.engines.catalog import Catalog
from polyvox.service.local_service import build_service
from polyvox.service.voices.voices import VoiceService

pytestmark = pytest.mark.long

SPEECH = (Path(__file__).parents[1] / "recordings" / "librivox_a.flac").read_bytes()
FRAME = 2 * 1920
"""Bytes of a frame in 16-bit samples."""
SHORT = {"eos_threshold": -20.0, "frames_after_eos": 0}


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A server with a model that has a ready voice, and a small one."""
    folder = tmp_path_factory.mktemp("pockettts")
    for model in TINY:
        install(model, folder / "models")
    chosen = settings(folder / "models", models=list(TINY), default_model=MODEL, data_dir=folder / "data")
    service = build_service(chosen, Catalog.installed().factories)
    with TestClient(create_app(service, VoiceService.for_service(service)), base_url="http://localhost") as client:
        yield client


def spoken(client: TestClient, **fields: object) -> bytes:
    body = {"input": "One two.", "response_format": "pcm", "seed": 1, "model": MODEL, "voice": VOICE, **SHORT, **fields}
    answer = client.post("/v1/audio/speech", json=body)
    assert answer.status_code == 200, answer.text
    assert len(answer.content) >= 6 * FRAME
    assert len(answer.content) % FRAME == 0
    return answer.content


def test_openai_speaks_with_a_ready_voice_as_the_request_says(door: TestClient) -> None:
    assert spoken(door) == spoken(door)
    assert len({spoken(door, seed=None) for _ in range(2)}) == 2
    assert len({spoken(door, seed=None, temperature=0) for _ in range(2)}) == 1
    assert len(spoken(door, frames_after_eos=4)) == len(spoken(door)) + 4 * FRAME
    refused = door.post("/v1/audio/speech", json={"input": "One.", "voice": VOICE, "frames_after_eos": 999})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "frames_after_eos")


def test_a_recording_speaks_at_once_without_a_transcript_through_every_door_that_clones(door: TestClient) -> None:
    registered = door.post(
        "/v1/voices", data={"name": "mine", "transcribe": "none"}, files={"audio": ("a.flac", SPEECH)}
    )
    assert registered.status_code == 201, registered.text
    added = door.post("/elevenlabs/v1/voices/add", data={"name": "added"}, files={"files": ("a.flac", SPEECH)})
    assert added.status_code == 200, added.text
    for model in TINY:
        heard = {spoken(door, model=model, voice=str(voice["voice_id"])) for voice in (added.json(),)}
        assert heard == {spoken(door, model=model, voice=str(registered.json()["id"]))}
    assert spoken(door, model=MODEL, voice="mine") != spoken(door, model=MODEL)


def test_models_and_voices_are_listed_with_what_they_can(door: TestClient) -> None:
    listed = {each["id"]: each["capabilities"] for each in door.get("/v1/models").json()["data"]}
    assert [listed[model]["cloning"] for model in (MODEL, SMALL)] == [True, True]
    voices = door.get("/v1/audio/voices", params={"model": MODEL}).json()["voices"]
    assert VOICE in {each["id"] if isinstance(each, dict) else each for each in voices}
