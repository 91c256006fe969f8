"""Folders of CosyVoice as they are published, called as the original servers are: nothing else is installed."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import torch

from helpers.serving import called
from helpers.tiny_cosyvoice import let_speech_end, tiny_model
from polyvox.engines.catalog import Catalog
from polyvox.engines.cosyvoice.engine import CosyVoiceEngine
from polyvox.installation import load_settings
from polyvox.service.local_service import build_service
from polyvox.service.voices.voices import VoiceService
from polyvox.types import PreparedVoice, VoicePrompt

pytestmark = [pytest.mark.anyio, pytest.mark.long]

TRANSCRIPT = "The morning train was late again, so we walked along the river and talked about the long summer."


@dataclass(frozen=True)
class Server:
    """A server with one folder, and the prompts that its engine has prepared."""

    client: httpx.AsyncClient
    voices: VoiceService
    prompts: Sequence[VoicePrompt]


def published(folder: Path, version: int) -> Path:
    """A tiny model without speakers of its own, as versions 2 and 3 are published."""
    if not folder.is_dir():
        let_speech_end(tiny_model(folder, version))
        (folder / "spk2info.pt").unlink()
    return folder


@asynccontextmanager
async def serving(folder: Path, version: int, monkeypatch: pytest.MonkeyPatch, **settings) -> AsyncIterator[Server]:
    prompts: list[VoicePrompt] = []
    prepare = CosyVoiceEngine.prepare

    async def counted(engine: CosyVoiceEngine, prompt: VoicePrompt) -> PreparedVoice:
        prompts.append(prompt)
        return await prepare(engine, prompt)

    monkeypatch.setattr(CosyVoiceEngine, "prepare", counted)
    model, root = f"cosyvoice{version}", folder.parent
    chosen = {"models_dir": root / "models", "data_dir": root / "data", f"{model}_dir": folder} | settings
    service = build_service(load_settings(models=[model], default_model=model, **chosen), Catalog.installed().factories)
    voices = VoiceService.for_service(service)
    async with called(service, voices, timeout=120) as client:
        try:
            yield Server(client, voices, prompts)
        finally:
            await voices.close()
            monkeypatch.setattr(CosyVoiceEngine, "prepare", prepare)


@pytest.mark.parametrize("version", [2, 3])
async def test_a_published_folder_alone_speaks_on_the_first_call(tmp_path, version, monkeypatch):
    async with serving(published(tmp_path / "model", version), version, monkeypatch) as server:
        for path, body in {"/tts": {"voice_type": "qwen"}, "/instruct_tts": {"instruction": "Speak slowly."}}.items():
            spoken = await server.client.post(path, json={"text": "the wall.", **body})
            assert (spoken.status_code, spoken.headers["content-type"]) == (200, "audio/mpeg"), spoken.text
        listed = (await server.client.get("/speakers")).json()
    (prompt,) = server.prompts
    assert (prompt.transcript, prompt.sample_rate, len(prompt.pcm)) == (TRANSCRIPT, 24_000, 121_680)
    assert "af_heart" in listed


async def test_the_default_voice_is_prepared_before_the_server_is_ready_and_once_for_all_restarts(
    tmp_path, monkeypatch
):
    folder, states, prepared = published(tmp_path / "model", 3), [], []
    for _ in range(2):
        async with serving(folder, 3, monkeypatch) as server:
            await server.voices.start()
            states.append(await server.client.get("/ready"))
            states.append(await server.client.get("/v1/model/cosyvoice/healthcheck"))
            await server.voices.check()
            states.append(await server.client.get("/ready"))
            before = len(server.prompts)
            spoken = await server.client.post("/tts", json={"text": "the wall."})
            assert spoken.status_code == 200
            assert len(server.prompts) == before
            prepared.append(before)
    assert [state.status_code for state in states] == [503, 503, 200] * 2
    assert "being prepared" in states[0].json()["reasons"]["cosyvoice3"]
    assert "being prepared" in states[1].json()["reason"]
    assert prepared == [1, 0]


async def test_a_voice_on_disk_belongs_to_the_files_that_it_was_prepared_with(tmp_path, monkeypatch):
    folder = published(tmp_path / "model", 3)
    prepared = []
    for _ in range(2):
        async with serving(folder, 3, monkeypatch) as server:
            assert (await server.client.post("/tts", json={"text": "the wall."})).status_code == 200
            prepared.append(len(server.prompts))
        content = (folder / "campplus.onnx").read_bytes()
        (folder / "campplus.onnx").unlink()
        (folder / "campplus.onnx").write_bytes(content)
    assert prepared == [1, 1]


async def test_the_default_voice_follows_instructions_where_the_folders_speakers_do_not(tmp_path, monkeypatch):
    folder = let_speech_end(tiny_model(tmp_path / "model", 2))
    (folder / "spk2info.pt").unlink()
    torch.save({"中文女": {"embedding": torch.ones(1, 192)}}, folder / "spk2info.pt")
    async with serving(folder, 2, monkeypatch) as server:
        plain = await server.client.post("/v1/model/cosyvoice/tts", json={"text": "the wall."})
        led = await server.client.post(
            "/v1/model/cosyvoice/instruct", json={"text": "the wall.", "instruction": "Speak slowly."}
        )
        named = await server.client.post(
            "/inference_instruct", data={"tts_text": "the wall.", "spk_id": "中文女", "instruct_text": "Speak slowly."}
        )
    assert (plain.status_code, led.status_code) == (200, 200), led.text
    assert len(server.prompts) == 1
    assert named.status_code == 422
    assert "cloned from a recording" in named.text
