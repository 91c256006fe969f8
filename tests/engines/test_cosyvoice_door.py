"""CosyVoice behind the door that OpenAI's clients use."""

import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from helpers.serving import called, error_of
from helpers.tiny_cosyvoice import let_speech_end, tiny_model
from polyvox.cli.main import app
from polyvox.engines.catalog import Catalog
from polyvox.installation import load_settings
from polyvox.service.local_service import build_service

pytestmark = pytest.mark.anyio


@pytest.mark.long
async def test_openais_clients_hear_it_and_its_refusals(tmp_path):
    settings = load_settings(
        models=["cosyvoice3"],
        default_model="cosyvoice3",
        cosyvoice3_dir=let_speech_end(tiny_model(tmp_path / "model", 3)),
    )
    request = {"model": "cosyvoice3", "voice": "spk_a", "input": "the wall.", "response_format": "pcm"}
    async with called(build_service(settings, Catalog.installed().factories)) as client:
        spoken = await client.post("/v1/audio/speech", json=request)
        assert spoken.status_code == 200
        assert len(spoken.content) >= 2 * 960 * 2 * 5
        texts = {
            "the <|endofprompt|> wall.": "dropped-markup: <|endofprompt|>",
            "the [wall].": "spoken-as-words: [wall]",
            "the <b>wall</b>.": "dropped-markup: <b>, </b>",
        }
        plain = await client.post("/v1/audio/speech", json={**request, "seed": 1})
        for text, warning in texts.items():
            marked = await client.post("/v1/audio/speech", json={**request, "input": text, "seed": 1})
            assert marked.status_code == 200, marked.text
            assert marked.headers["x-polyvox-warning"] == warning
            assert marked.content == plain.content
        paused = await client.post("/v1/audio/speech", json={**request, "input": "the [pause:2s] wall."})
        assert bytes(2 * 2 * 24_000) in paused.content
        listed = (await client.get("/v1/models/cosyvoice3")).json()
        assert "[laughter]" in listed["capabilities"]["tags"]
        unknown = await client.post("/v1/audio/speech", json={**request, "voice": "nobody"})
        assert error_of(unknown)["code"] == "voice_not_found"


async def test_a_model_that_is_not_there_says_what_to_do(tmp_path):
    settings = load_settings(models=["cosyvoice3"], default_model="cosyvoice3", models_dir=tmp_path)
    async with called(build_service(settings, Catalog.installed().factories)) as client:
        refused = await client.post("/v1/audio/speech", json={"voice": "spk_a", "input": "Hi.", "model": "cosyvoice3"})
        assert refused.status_code == 501
        assert "cosyvoice3" in error_of(refused)["message"]


async def test_weights_of_a_wrong_shape_are_named_to_callers_and_to_whoever_asks_whether_it_is_ready(tmp_path):
    folder = tiny_model(tmp_path / "model", 3)
    weights = load_file(folder / "flow.safetensors") | {"input_embedding.weight": torch.zeros(301, 80)}
    (folder / "flow.safetensors").unlink()
    save_file(weights, folder / "flow.safetensors")
    settings = load_settings(models=["cosyvoice3"], default_model="cosyvoice3", cosyvoice3_dir=folder)
    async with called(build_service(settings, Catalog.installed().factories)) as client:
        refused = await client.post("/v1/audio/speech", json={"voice": "spk_a", "input": "Hi.", "model": "cosyvoice3"})
        ready = await client.get("/ready")
    assert (refused.status_code, ready.status_code) == (501, 503)
    for sentence in (refused.json()["error"]["message"], ready.json()["reasons"]["cosyvoice3"]):
        assert "does not fit its YAML file" in sentence
        assert "input_embedding.weight ((301, 80) for (300, 80))" in sentence
    found = CliRunner().invoke(app, ["models", "check", str(folder)])
    assert found.exit_code == 1
    assert "input_embedding.weight ((301, 80) for (300, 80))" in found.output


@pytest.mark.long
async def test_a_missing_gpu_is_shown_to_whoever_asks_whether_it_is_ready(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    settings = load_settings(
        models=["cosyvoice3"],
        default_model="cosyvoice3",
        cosyvoice3_dir=tiny_model(tmp_path / "model", 3),
        cosyvoice_device="cuda",
    )
    async with called(build_service(settings, Catalog.installed().factories)) as client:
        answer = (await client.get("/ready")).json()
    assert answer["status"] == "ready"
    assert "no GPU" in answer["warnings"]["cosyvoice3"]
