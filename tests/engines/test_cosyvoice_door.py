"""CosyVoice behind the door that OpenAI's clients use."""

import pytest
import torch
from tiny_cosyvoice import tiny_model

from polyvox.cli.hall import build_service
from polyvox.config import load
from polyvox.engines.catalog import ENGINES
from serving import called, error_of

pytestmark = pytest.mark.anyio


async def test_openais_clients_hear_it_and_its_refusals(tmp_path):
    settings = load(models=["cosyvoice3"], default_model="cosyvoice3", cosyvoice3_dir=tiny_model(tmp_path / "model", 3))
    request = {"model": "cosyvoice3", "voice": "spk_a", "input": "the wall.", "response_format": "pcm"}
    async with called(build_service(settings, ENGINES)) as client:
        spoken = await client.post("/v1/audio/speech", json=request)
        assert spoken.status_code == 200
        assert len(spoken.content) >= 2 * 960 * 2 * 5
        refused = await client.post("/v1/audio/speech", json={**request, "input": "a <|endofprompt|> b"})
        assert refused.status_code == 400
        assert "control token" in error_of(refused)["message"]
        unknown = await client.post("/v1/audio/speech", json={**request, "voice": "nobody"})
        assert error_of(unknown)["code"] == "voice_not_found"


async def test_a_model_that_is_not_there_says_what_to_do(tmp_path):
    settings = load(models=["cosyvoice3"], default_model="cosyvoice3", models_dir=tmp_path)
    async with called(build_service(settings, ENGINES)) as client:
        refused = await client.post("/v1/audio/speech", json={"voice": "spk_a", "input": "Hi.", "model": "cosyvoice3"})
        assert refused.status_code == 503
        assert "cosyvoice3" in error_of(refused)["message"]


async def test_a_missing_gpu_is_shown_to_whoever_asks_whether_it_is_ready(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    settings = load(
        models=["cosyvoice3"],
        default_model="cosyvoice3",
        cosyvoice3_dir=tiny_model(tmp_path / "model", 3),
        cosyvoice_device="cuda",
    )
    async with called(build_service(settings, ENGINES)) as client:
        answer = (await client.get("/ready")).json()
    assert answer["status"] == "ready"
    assert "no GPU" in answer["warnings"]["cosyvoice3"]
