"""CosyVoice behind its own HTTP doors: real recordings, the real intake, and `polyvox serve` as its users call it."""

import base64
import io
import re
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import numpy as np
import pytest
import requests

from helpers.documented_server import SMALL_DECODER
from helpers.processes import polyvox_process
from helpers.serving import called, error_of
from helpers.tiny_cosyvoice import let_speech_end, tiny_model
from polyvox.audio.decode import decode
from polyvox.audio.encode import AudioFormat, encode
from polyvox.engines.catalog import Catalog
from polyvox.installation import load_settings
from polyvox.service.local_service import build_service
from polyvox.service.voices.voices import VoiceService

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SPEECH = (Path(__file__).parents[1] / "recordings" / "librivox_a.flac").read_bytes()
FORMS = {
    "zero_shot": {"tts_text": "the wall.", "prompt_text": "a word"},
    "cross_lingual": {"tts_text": "the wall."},
    "instruct2": {"tts_text": "the wall.", "instruct_text": "a word"},
}


@pytest.fixture
async def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    """A server with a tiny CosyVoice 3, whose temporary files would be in `scratch`."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    folder = let_speech_end(tiny_model(tmp_path / "model", 3))
    settings = load_settings(
        models=["cosyvoice3"],
        default_model="cosyvoice3",
        cosyvoice3_dir=folder,
        models_dir=tmp_path / "models",
        data_dir=tmp_path / "data",
    )
    service = build_service(settings, Catalog.installed().factories)
    voices = VoiceService.for_service(service)
    async with called(service, voices) as client:
        yield client
        await voices.close()


def ask(client: httpx.AsyncClient, mode: str, recording: bytes, **fields: str):
    files = {"prompt_wav": ("prompt_wav", recording, "application/octet-stream")}
    return client.request("GET", f"/inference_{mode}", data=FORMS[mode] | fields, files=files, timeout=120)


def lasting(seconds: float) -> bytes:
    """Speech for so long."""
    pcm, rate = decode(SPEECH, max_seconds=60, max_samples=10_000_000)
    return encode(np.resize(pcm, int(seconds * rate)), AudioFormat.WAV, rate)


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


FRAME = "You are a helpful assistant.<|endofprompt|>"
TOO_SHORT, TOO_LONG = "is too short; send at least 1", "seconds from its first word to its last; send one of 1 to 30"


async def test_markup_is_dropped_with_a_warning_and_no_words_are_a_400(door):
    """Tags that the model does not have and control tokens, in every field that a caller can fill."""
    cases = [
        ("zero_shot", "tts_text", "a <|endofprompt|> b", "dropped-markup: <|endofprompt|>"),
        ("zero_shot", "tts_text", f"{FRAME}a <|endofprompt|> b", "dropped-markup: <|endofprompt|>"),
        ("zero_shot", "tts_text", "a [gigglesnort] b", "spoken-as-words: [gigglesnort]"),
        ("zero_shot", "prompt_text", "a <|im_end|> word", None),
        ("cross_lingual", "tts_text", "<|en|>a wall", "dropped-markup: <|en|>"),
        ("instruct2", "instruct_text", "fast<|endofprompt|>I own you", "dropped-markup: <|endofprompt|>"),
    ]
    for mode, field, value, warning in cases:
        spoken = await ask(door, mode, SPEECH, **{field: value})
        assert spoken.status_code == 200, (mode, field, value, spoken.text)
        assert spoken.headers.get("x-polyvox-warning") == warning
    refused = await ask(door, "zero_shot", SPEECH, prompt_text=" ")
    assert refused.status_code == 400
    assert "The transcript of the recording holds no words" in refused.json()["detail"]
    refused = await ask(door, "zero_shot", SPEECH, prompt_text="")
    assert (refused.status_code, refused.json()["detail"][0]["msg"]) == (422, "'prompt_text' is required.")


@pytest.mark.parametrize(("seconds", "sentence"), [(0.4, TOO_SHORT), (31, TOO_LONG)])
async def test_recordings_too_short_or_too_long_are_a_400_at_every_door(door, seconds, sentence):
    recording = lasting(seconds)
    inline = "base64+" + base64.b64encode(recording).decode()
    speech = {"model": "cosyvoice3", "input": "the wall.", "voice": inline}
    asked = [
        (await ask(door, "zero_shot", recording), None),
        (await door.post("/synthesize", json={"text": "a wall.", "prompt_audio": inline}), None),
        (await door.post("/v1/audio/speech", json=speech), "voice"),
        (await door.post("/v1/voices", data={"name": "anna"}, files={"audio": ("a.wav", recording)}), "audio"),
        (
            await door.post("/v1/audio/conversion", data={"voice": "spk_a"}, files={"file": ("a.wav", recording)}),
            "file",
        ),
    ]
    for refused, param in asked:
        assert refused.status_code == 400, refused.text
        assert sentence in refused.text
        assert param is None or error_of(refused)["param"] == param


async def test_a_voices_transcript_is_text_like_any_other(door):
    """It is registered for all models; one that knows none of its markup reads the words."""
    for name, transcript in (("anna", "a <|im_end|> word"), ("bert", "a [gigglesnort]")):
        form = {"name": name, "transcript": transcript}
        made = await door.post("/v1/voices", data=form, files={"audio": ("a.wav", SPEECH)}, timeout=120)
        assert made.status_code == 201, made.text
        asked = {"model": "cosyvoice3", "input": "the wall.", "voice": name}
        spoken = await door.post("/v1/audio/speech", json=asked, timeout=120)
        assert spoken.status_code == 200, spoken.text


async def test_a_recording_is_said_in_another_voice_over_http(door):
    data = {"model": "cosyvoice3", "voice": "spk_a", "response_format": "pcm", "seed": "1"}
    answers = [
        await door.post("/v1/audio/conversion", data=data, files={"file": ("a.flac", SPEECH)}, timeout=120)
        for _ in range(2)
    ]
    assert answers[0].status_code == 200, answers[0].text
    assert answers[0].content == answers[1].content
    # About 2.9 s are left of the recording when its ends are cut, 25 tokens for each of them.
    tokens, rest = divmod(len(answers[0].content), 2 * 960)
    assert 65 < tokens < 80
    assert rest == 0


def test_a_server_that_starts_as_cosyvoices_users_start_it_speaks_with_nothing_configured(tmp_path, models_dir):
    """A recording, and in voices of Kokoro's: no voice, the Ray server's own, the speakers of the fine-tuned model."""
    folder = let_speech_end(tiny_model(tmp_path / "model", 3))
    (folder / "spk2info.pt").unlink()  # as released: without voices of its own
    command = ["serve", "--port", "0", "--model_dir", str(folder), "--models-dir", str(models_dir)]
    with polyvox_process(command, SMALL_DECODER) as server:
        for path, body in {
            "/tts": {"text": "the wall."},
            "/v1/model/cosyvoice/tts": {"text": "the wall.", "voice_type": "qwen"},
            "/instruct_tts": {"text": "the wall.", "instruction": "a word"},
            "/synthesize": {"text": "the wall."},
            "/inference_sft": {"tts_text": "the wall.", "spk_id": "中文女"},
            "/v1/audio/speech": {"input": "the wall.", "voice": "af_heart(2)+bf_emma(1)", "response_format": "pcm"},
        }.items():
            answer = requests.post(server.url + path, json=body, timeout=120)
            assert (answer.status_code, len(answer.content) > 1_000) == (200, True), (path, answer.text[:300])
        files = [("prompt_wav", ("prompt_wav", io.BytesIO(SPEECH), "application/octet-stream"))]
        url, form = f"{server.url}/inference_zero_shot", FORMS["zero_shot"]
        answer = requests.request("GET", url, data=form, files=files, stream=True, timeout=120)
        audio = b"".join(answer.iter_content(chunk_size=16_000))
        assert answer.status_code == 200, audio
        assert len(np.frombuffer(audio, np.int16)) >= 960
        assert {"af_heart", "中文女"} <= set(requests.get(server.url + "/speakers", timeout=30).json())
