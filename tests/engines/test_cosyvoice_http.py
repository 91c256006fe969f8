"""CosyVoice behind its own HTTP doors: real recordings, the real intake, and `polyvox serve` as its users call it."""

import io
import re
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import numpy as np
import pytest
import requests
from tiny_cosyvoice import tiny_model

from polyvox.audio.decode import decode
from polyvox.audio.encode import AudioFormat, encode
from polyvox.bench.process import server_process
from polyvox.bundles.validate import Bundle
from polyvox.cli.hall import build_service
from polyvox.config import load
from polyvox.engines.catalog import ENGINES
from polyvox.service.voices import VoiceService
from serving import called

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SPEECH = (Path(__file__).parents[1] / "recordings" / "librivox_a.flac").read_bytes()
FORMS = {
    "zero_shot": {"tts_text": "the wall.", "prompt_text": "a word"},
    "cross_lingual": {"tts_text": "the wall."},
    "instruct2": {"tts_text": "the wall.", "instruct_text": "a word"},
}


@pytest.fixture
async def door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: Callable[[str], Bundle]
) -> AsyncIterator[httpx.AsyncClient]:
    """A server with a tiny CosyVoice 3, whose temporary files would be in `scratch`."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    models_dir = installed("silero-vad").folder.parent
    folder = tiny_model(tmp_path / "model", 3)
    settings = load(
        models=["cosyvoice3"],
        default_model="cosyvoice3",
        cosyvoice3_dir=folder,
        models_dir=models_dir,
        data_dir=tmp_path / "data",
    )
    service = build_service(settings, ENGINES)
    voices = VoiceService.beside(service)
    async with called(service, voices) as client:
        yield client
        await voices.close()


def ask(client: httpx.AsyncClient, mode: str, recording: bytes):
    files = {"prompt_wav": ("prompt_wav", recording, "application/octet-stream")}
    return client.request("GET", f"/inference_{mode}", data=FORMS[mode], files=files, timeout=120)


async def test_every_mode_speaks_in_the_voice_of_a_recording(door):
    for mode in FORMS:
        response = await ask(door, mode, SPEECH)
        assert response.status_code == 200, response.text
        assert len(response.content) >= 2 * 960
        assert len(response.content) % 2 == 0
        assert response.headers["x-audio-sample-rate"] == "24000"
    spoken = await door.request("GET", "/inference_sft", data={"tts_text": "the wall.", "spk_id": "spk_a"})
    assert spoken.status_code == 200
    assert (await door.get("/speakers")).json()[0] == "spk_a"


async def test_bad_recordings_are_refused_and_leave_nothing(door, tmp_path):
    pcm, rate = decode(SPEECH, max_seconds=60, max_samples=10_000_000)
    long = encode(np.resize(pcm, 31 * rate), AudioFormat.WAV, rate)
    wav = encode(pcm, AudioFormat.WAV, rate)
    bad = {
        "31 seconds": long,
        "a text file": b"This is a text file, not a recording.\n" * 100,
        "nothing": b"",
        "samples without a header": wav[44:] + b"\0",
        "silence": encode(np.zeros(2 * rate, np.float32), AudioFormat.WAV, rate),
        "a header alone": wav[:44],
    }
    for what, recording in bad.items():
        refused = await ask(door, "zero_shot", recording)
        assert refused.status_code == 400, (what, refused.text)
        assert isinstance(refused.json()["detail"], str), what
    assert "1 to 30 seconds" in (await ask(door, "cross_lingual", long)).json()["detail"]
    assert (await ask(door, "cross_lingual", wav + b"\0")).status_code == 200, "a byte too many is no sample"
    metrics = (await door.get("/metrics")).text
    assert "polyvox_active_sessions 0.0" in metrics
    assert not re.search(r"polyvox_stage_busy\{[^}]*\} [1-9]", metrics)
    assert list((tmp_path / "scratch").rglob("*")) == []
    assert (await ask(door, "cross_lingual", SPEECH)).status_code == 200


def test_the_server_starts_as_cosyvoices_users_start_it(tmp_path, installed):
    models_dir = installed("silero-vad").folder.parent
    command = ["serve", "--port", "0", "--model_dir", str(tiny_model(tmp_path / "model", 2))]
    with server_process([*command, "--models-dir", str(models_dir)]) as server:
        files = [("prompt_wav", ("prompt_wav", io.BytesIO(SPEECH), "application/octet-stream"))]
        response = requests.request(
            "GET",
            f"{server.url}/inference_zero_shot",
            data=FORMS["zero_shot"],
            files=files,
            stream=True,
            timeout=120,
        )
        audio = b"".join(response.iter_content(chunk_size=16_000))
        assert response.status_code == 200, audio
        assert len(np.frombuffer(audio, np.int16)) >= 960
