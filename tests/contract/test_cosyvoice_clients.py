"""Requests as the clients of CosyVoice's servers send them, with the library that they use, against a real server."""

import asyncio
import io
import threading
import wave
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import requests

from helpers.cloning import CloneEngine, Studio, sample
from helpers.fakes import ToneEngine, tone, tone_service
from helpers.serving import decoded_seconds, served, wait_for
from helpers.tables import each_row
from polyvox.audio.pcm import to_pcm16
from polyvox.types import Capabilities

SAMPLES = to_pcm16(tone(220.0, 0, 7_200, 24_000))
TEXT = "你好，我是通义千问语音合成大模型，请问有什么可以帮您的吗？"
WORDS = "希望你以后能够做的比我还好呦。"


class WordlessEngine(CloneEngine):
    """Clones as CosyVoice does: also from a recording whose words it does not know."""

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, wordless=True, instructions=True)


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Studio:
    return Studio(tmp_path_factory.mktemp("voices"), WordlessEngine(instructions=True))


@pytest.fixture(scope="module")
def url(studio: Studio) -> Iterator[str]:
    with served(studio.speech, studio.voices) as address:
        yield address


@pytest.fixture
def prompt_wav(tmp_path: Path) -> Path:
    path = tmp_path / "zero_shot_prompt.wav"
    path.write_bytes(sample(1))
    return path


def cosyvoice(url: str, mode: str, payload: dict[str, str], prompt: Path | None = None) -> requests.Response:
    """The request that CosyVoice's Python client makes: GET, with a form for its body, read as a stream."""
    address = f"{url}/inference_{mode}"
    if prompt is None:
        return requests.request("GET", address, data=payload, stream=True, timeout=30)
    with prompt.open("rb") as file:
        files = [("prompt_wav", ("prompt_wav", file, "application/octet-stream"))]
        return requests.request("GET", address, data=payload, files=files, stream=True, timeout=30)


def heard(response: requests.Response) -> np.ndarray:
    """What that client makes of the answer."""
    assert response.status_code == 200, response.text
    audio = b""
    for part in response.iter_content(chunk_size=16_000):
        audio += part
    return np.frombuffer(audio, dtype=np.int16)


def test_a_speaker_of_the_servers(url, studio):
    response = cosyvoice(url, "sft", {"tts_text": TEXT, "spk_id": "low"})
    assert heard(response).tobytes() == SAMPLES
    assert response.headers["x-audio-sample-rate"] == "24000"
    assert (studio.engine.heard[-1].text, studio.engine.heard[-1].voice) == (TEXT, "low")


def test_a_recording_and_its_words(url, studio, prompt_wav):
    response = cosyvoice(url, "zero_shot", {"tts_text": TEXT, "prompt_text": WORDS}, prompt_wav)
    assert heard(response).tobytes() == SAMPLES
    assert studio.engine.prepared[-1].transcript == WORDS
    assert studio.engine.heard[-1].tuning == {"zero_shot": 1.0}


def test_a_recording_alone_is_not_listened_to(url, studio, prompt_wav):
    assert heard(cosyvoice(url, "cross_lingual", {"tts_text": TEXT}, prompt_wav)).tobytes() == SAMPLES
    assert studio.engine.prepared[-1].transcript == ""
    assert studio.transcriber.heard == 0


def test_instructions_for_a_speaker_and_for_a_recording(url, studio, prompt_wav):
    fields = {"tts_text": TEXT, "instruct_text": "Theo 'Crimson', is a fiery, passionate rebel leader."}
    for response in (
        cosyvoice(url, "instruct", {**fields, "spk_id": "low"}),
        cosyvoice(url, "instruct2", fields, prompt_wav),
    ):
        assert heard(response).tobytes() == SAMPLES
        assert studio.engine.heard[-1].instructions == fields["instruct_text"]
    assert studio.transcriber.heard == 0


def test_forms_as_curl_posts_them(url, prompt_wav):
    fields = {"tts_text": TEXT, "prompt_text": WORDS}
    with prompt_wav.open("rb") as file:
        posted = requests.post(f"{url}/inference_zero_shot", data=fields, files={"prompt_wav": file}, timeout=30)
    assert posted.content == SAMPLES
    posted = requests.post(f"{url}/inference_sft", data={"tts_text": TEXT, "spk_id": "low"}, timeout=30)
    assert posted.content == SAMPLES
    assert requests.get(f"{url}/health", timeout=30).status_code == 200


@pytest.mark.long
@each_row("path", ["/inference_sft", "/v1/model/cosyvoice/tts"])
def test_the_first_audio_leaves_before_the_last_is_made(path):
    """The engine waits for a gate after its first chunk, and the gate opens when that chunk has arrived."""

    class Gated(ToneEngine):
        made = 0

        async def _work(self) -> None:
            if self.made:
                assert await asyncio.to_thread(gate.wait, 20)
            self.made += 1

    gate = threading.Event()
    engine = Gated(chunks=2, chunk_seconds=1.0)
    with served(tone_service(engine)) as url:
        form = {"tts_text": "One. Two.", "spk_id": "low", "text": "One. Two.", "voice_type": "low", "stream": "true"}
        response = requests.post(f"{url}{path}", data=form, stream=True, timeout=30)
        parts = response.iter_content(chunk_size=None)
        first = next(parts)
        assert engine.made == 1
        gate.set()
        rest = b"".join(parts)
    assert first
    assert rest


def test_a_client_that_leaves_frees_its_place():
    engine = ToneEngine(chunks=1_000, delay=0.02)
    with served(tone_service(engine)) as url:
        response = cosyvoice(url, "sft", {"tts_text": "Hello.", "spk_id": "low"})
        next(response.iter_content(chunk_size=1_024))
        response.close()
        wait_for(lambda: engine.closed == 1, seconds=30.0)


def test_the_rust_servers_json(url, studio):
    body = {"text": "Hello.", "speaker": "low", "speed": 2.0}
    response = requests.post(f"{url}/synthesize", json=body, timeout=30)
    assert response.headers["content-type"] == "audio/wav"
    with wave.open(io.BytesIO(response.content)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 24_000)
        assert file.getnframes() == 3_600
        assert float(response.headers["x-audio-duration"]) == pytest.approx(file.getnframes() / 24_000)
    assert requests.get(f"{url}/speakers", timeout=30).json()[:2] == ["low", "high"]
    assert studio.engine.heard[-1].speed == 2.0


def ray(url: str, path: str, **how: object) -> bytes:
    """An answer of the Ray Serve API."""
    response = requests.post(f"{url}{path}", timeout=30, **how)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "audio/mpeg"
    return response.content


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ["/v1/model/cosyvoice/tts", "/tts"])
def test_the_ray_serve_api_speaks(url, studio, path, stream):
    body = {"text": "Hello.", "voice_type": "qwen", "speed": 1.0, "stream": stream}
    assert decoded_seconds(ray(url, path, json=body)) == pytest.approx(0.3, abs=0.08)
    assert studio.engine.heard[-1].voice == "low"


def test_the_ray_serve_api_clones_from_uploads(url, studio, prompt_wav):
    for path, form in (
        ("/v1/model/cosyvoice/zero_shot", {"text": "Hello.", "reference_text": "Some.", "speed": "1.0"}),
        ("/zero_shot_tts", {"text": "Hello.", "reference_text": "Some.", "stream": "true"}),
        ("/v1/model/cosyvoice/cross_lingual", {"text": "Hello."}),
        ("/cross_lingual_tts", {"text": "Hello.", "stream": "false"}),
    ):
        with prompt_wav.open("rb") as file:
            audio = ray(url, path, data=form, files={"reference_audio": ("ref.wav", file, "audio/wav")})
        assert decoded_seconds(audio) == pytest.approx(0.3, abs=0.08)
        assert studio.engine.heard[-1].voice == "inline"
    assert {prompt.transcript for prompt in studio.engine.prepared} >= {"Some.", ""}


@pytest.mark.parametrize("path", ["/v1/model/cosyvoice/instruct", "/instruct_tts"])
def test_the_ray_serve_api_follows_instructions(url, studio, path):
    ray(url, path, json={"text": "Hello.", "instruction": "Speak with joy.", "voice_type": "high", "speed": 1.0})
    assert (studio.engine.heard[-1].instructions, studio.engine.heard[-1].voice) == ("Speak with joy.", "high")


def test_the_ray_serve_api_is_healthy_and_tells_its_configuration(url):
    for method in ("GET", "POST"):
        health = requests.request(method, f"{url}/v1/model/cosyvoice/healthcheck", timeout=30)
        assert (health.status_code, health.json()["status"]) == (200, "healthy")
    config = requests.get(f"{url}/config", timeout=30).json()
    assert (config["sample_rate"], config["default_voice"]) == (24_000, "low")
    assert config["available_voice_prompts"][:2] == ["low", "high"]
