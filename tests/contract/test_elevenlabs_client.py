"""ElevenLabs' own Python SDK against a real server."""

import hashlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers.certificates import loaded, make_certificate
from helpers.client_environment import run_client
from helpers.documents import ROOT, blocks
from helpers.fakes import PlainToneEngine, ToneEngine, tone, tone_service
from helpers.serving import served
from polyvox.audio.decode import decode
from polyvox.audio.pcm import to_pcm16
from polyvox.audio.resample import resampled
from polyvox.service.speech import SpeechService
from polyvox.types import AudioChunk, Capabilities, Utterance

KEY = "a-long-enough-key"
RACHEL = "21m00Tcm4TlvDq8ikWAM"
TEXT = "One two, three."
SPEECH = ROOT / "tests" / "recordings" / "librivox_a.flac"


def fingerprint(seconds: float = 0.3, times: int = 1) -> dict[str, Any]:
    data = to_pcm16(tone(220.0, 0, round(seconds * 24_000), 24_000)) * times
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def service() -> SpeechService:
    return tone_service(ToneEngine(), api_keys=[KEY], elevenlabs_voices=f"{RACHEL}=low")


@pytest.fixture(scope="module", params=["", "/elevenlabs"], ids=["plain", "prefix"])
def seen(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    with served(service()) as url:
        yield run_client("sdks", "elevenlabs_sdk.py", url + request.param, KEY, RACHEL)


def test_speech_is_the_servers_samples(seen):
    speech = seen["speech"]
    assert speech["convert"] == fingerprint()
    assert speech["stream"] == fingerprint(0.15)
    assert speech["mp3"]["bytes"] * 8 / 128_000 == pytest.approx(0.3, abs=0.1)
    assert {name: speech["timed"][name] for name in ("bytes", "sha256")} == fingerprint()


def test_characters_have_times(seen):
    timed, lines = seen["speech"]["timed"], seen["speech"]["lines"]
    assert timed["text"] == "".join(line.get("text", "") for line in lines) == TEXT
    starts = [time for line in lines for time in line.get("starts", [])]
    assert starts == timed["starts"] == sorted(starts)
    assert timed["ends"][-1] == pytest.approx(0.3)
    assert sum(line["bytes"] for line in lines) == fingerprint()["bytes"]


def test_dialogues_are_spoken(seen):
    assert seen["speech"]["dialogue"]["bytes"] == 2 * 24_000 * 0.9
    assert seen["speech"]["segments"] == [0, 1]


def test_lists_are_read(seen):
    lists = seen["lists"]
    assert {"low", "high", RACHEL} <= set(lists["all"])
    assert (lists["search"], lists["one"]) == (["Rachel"], "Rachel")
    assert {"tone", "eleven_multilingual_v2"} <= set(lists["models"])
    assert (lists["subscription"], lists["settings"]) == ("active", 1.0)


def test_errors_arrive_as_the_sdk_reads_them(seen):
    found = {name: (error["status"], error["body"]["detail"]["status"]) for name, error in seen["errors"].items()}
    assert found == {
        "voice": (404, "voice_not_found"),
        "format": (400, "format_not_supported"),
        "speed": (422, "invalid_value"),
        "key": (401, "invalid_api_key"),
        "list": (401, "invalid_api_key"),
    }


def test_the_async_client_does_the_same(seen):
    found = seen["async"]
    assert found["convert"] == found["stream"] == fingerprint()
    assert found["timed"]["text"] == TEXT
    assert found["lines"] == 3
    assert found["voices"] == len(seen["lists"]["all"])


@pytest.mark.parametrize(
    ("environment", "package"), [("sdks", "elevenlabs.client"), ("livekit", "livekit.plugins"), ("pipecat", "pipecat")]
)
def test_the_documented_lines_work(environment: str, package: str, tmp_path: Path):
    page = ROOT / "docs" / "doors" / "elevenlabs.md"
    (block,) = (one for one in blocks(page) if one.language == "python" and f"from {package}" in one.text)
    with served(tone_service(ToneEngine(chunk_seconds=1.0))) as url:
        address = url.removeprefix("http://")
        (tmp_path / "block.py").write_text(block.text.replace("127.0.0.1:8880", address), encoding="utf-8")
        written = run_client(environment, "documented_block.py", tmp_path / "block.py")
    assert (written.get("tide.mp3", 0) > 40_000) is (environment == "sdks")


def test_realtime_over_wss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    chain, key = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(chain))
    with served(service(), certificate=loaded(chain, key)) as url:
        found = run_client("sdks", "elevenlabs_realtime.py", url, KEY, RACHEL)
    spoken = found["spoken"]
    assert {name: spoken[name] for name in ("bytes", "sha256")} == fingerprint(0.6)
    assert found["unknown"]["code"] == 1008
    assert "There is no voice 'nobody'" in str(found["unknown"]["body"])


class DesignEngine(PlainToneEngine):
    """Says the same sentence whatever it is asked, in a voice that it was told of."""

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, instructions=True, voice_design=True)

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        self.heard.append(utterance)
        pcm, rate = decode(SPEECH.read_bytes(), max_seconds=60, max_samples=10_000_000)
        yield AudioChunk(resampled(pcm, rate, 24_000), 24_000, 0, 0)


def test_a_voice_is_designed_and_kept(tmp_path: Path) -> None:
    engine = DesignEngine()
    with served(tone_service(engine, api_keys=[KEY], data_dir=tmp_path)) as url:
        seen = run_client("sdks", "elevenlabs_voice_design.py", url, KEY)
    assert {utterance.instructions for utterance in engine.heard} == {"A warm and old voice, a little hoarse."}
    assert [utterance.seed for utterance in engine.heard[:3]] == [4, 5, 6]
    assert seen["previews"] == [round(seen["seconds"] * 24_000) * 2] * 6
    assert seen["silent"] == [""] * 3
    assert seen["streamed"] > 1_000
    assert seen["text"] == engine.heard[0].text
    assert seen["voice"][1:] == ["Designed", "generated", "A warm and old voice, a little hoarse."]
