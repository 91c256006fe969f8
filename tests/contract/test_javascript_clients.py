"""The JavaScript packages of OpenAI, ElevenLabs and Cartesia against a server with a certificate of its own.

Their sockets open `wss://` alone; NODE_EXTRA_CA_CERTS is the step of trust that `--tls auto` prints.
"""

from pathlib import Path
from typing import Any

import pytest

from helpers.certificates import loaded
from helpers.client_environment import run_javascript
from helpers.cloning import CloneEngine
from helpers.documents import ROOT
from helpers.fakes import tone_service
from helpers.listening import ScriptedRecogniser, bare_speech, listening_with
from helpers.serving import served
from polyvox.server.own_certificate import own_certificate

KEY = "a-long-enough-key"
RECORDING = ROOT / "tests" / "recordings" / "librivox_a.flac"
UNKNOWN_VOICE = "01234567-89ab-4cde-8f01-23456789abcd"
SOUND = 14_400
"""Bytes of 0.3 seconds."""
NAMES = ["Low", "High", "by-openai"]
RESULTS = {
    "openai audio.speech.create": SOUND,
    "openai models.list": ["tone", "tts-1", "tts-1-hd", "gpt-4o-mini-tts", "any", "whisper-1"],
    "openai realtime.ws": {"bytes": SOUND, "status": "completed"},
    "agents-realtime": {"bytes": SOUND},
    "agents-realtime, listening": {"transcript": "Hello there.", "voice": "high"},
    "elevenlabs textToSpeech.convert": SOUND,
    "elevenlabs textToSpeech.stream": SOUND,
    "elevenlabs textToSpeech.convertWithTimestamps": "One two, three.",
    "elevenlabs user.get": {
        "userId": "polyvox",
        "workspaceId": "polyvox",
        "seatType": "workspace_admin",
        "createdAt": 0,
    },
    "elevenlabs voices.getAll": NAMES,
    "elevenlabs voices.search": NAMES,
    "elevenlabs voices.ivc.create": {"bytes": SOUND, "deleted": "ok"},
    "cartesia tts.generate": SOUND,
    "cartesia tts.generateSSE": {"bytes": SOUND},
    "cartesia tts.websocket": {"bytes": SOUND},
    "cartesia voices.list": NAMES,
    "cartesia voices.clone": {"name": "by-cartesia", "bytes": SOUND},
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("javascript")
    certificate = own_certificate(folder / "tls")
    service = listening_with(tone_service(CloneEngine(), api_keys=[KEY], data_dir=folder), any=ScriptedRecogniser())
    samples = folder / "speech.pcm"
    samples.write_bytes(bare_speech())
    with served(service, certificate=loaded(certificate.chain, certificate.key)) as url:
        address = f"https://localhost:{url.rpartition(':')[2]}"
        trusted = {"NODE_EXTRA_CA_CERTS": str(certificate.chain)}
        return run_javascript("javascript_calls.mjs", address, KEY, RECORDING, samples, timeout=300, **trusted)


def test_every_call_gives_what_its_client_expects(found: dict[str, Any]) -> None:
    given = {name: found[name] for name in RESULTS}
    assert given == {name: {"result": result} for name, result in RESULTS.items()}
    made = found["openai audio.voices.create"]["result"]
    assert made["name"] == "by-openai"
    assert made["bytes"] > 0
    assert "eleven_multilingual_v2" in found["elevenlabs models.list"]["result"]


def test_absent_calls_and_unknown_voices_are_the_clients_own_errors(found: dict[str, Any]) -> None:
    absent = {
        "openai embeddings.create": "NotFoundError",
        "elevenlabs history.list": "ElevenLabsError",
        "cartesia stt.transcribe": "NotFoundError",
    }
    for name, kind in absent.items():
        error = found[name]["error"]
        assert (error["kind"], error["status"]) == (kind, 404), name
        assert "There is nothing at /" in str(error["body"]), name
    unknown = found["cartesia tts.generate, unknown voice"]["error"]
    assert (unknown["kind"], unknown["status"]) == ("NotFoundError", 404)
    assert f"There is no voice '{UNKNOWN_VOICE}'" in unknown["message"]


def test_no_call_is_left_out(found: dict[str, Any]) -> None:
    assert len(found) == len(RESULTS) + 2 + 4
