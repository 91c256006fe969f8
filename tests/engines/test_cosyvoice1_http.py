"""CosyVoice 1 behind the doors of CosyVoice's own servers and of OpenAI's, on tiny weights."""

import httpx
import pytest

from helpers.serving import called
from helpers.tiny_cosyvoice import tiny_model
from polyvox.engines.catalog import Catalog
from polyvox.installation import load_settings
from polyvox.service.local_service import build_service
from polyvox.service.voices.voices import VoiceService

pytestmark = pytest.mark.anyio


@pytest.fixture
async def door(tmp_path):
    settings = load_settings(
        models=["cosyvoice1"],
        default_model="cosyvoice1",
        cosyvoice1_dir=tiny_model(tmp_path / "model", 1),
        cosyvoice_device="cpu",
        models_dir=tmp_path / "models",
        data_dir=tmp_path / "data",
    )
    service = build_service(settings, Catalog.installed().factories)
    voices = VoiceService.for_service(service)
    async with called(service, voices) as client:
        yield client
        await voices.close()


@pytest.mark.long
async def test_speakers_of_the_model_speak_and_follow_instructions(door: httpx.AsyncClient):
    assert (await door.get("/speakers")).json()[:2] == ["中文女", "english_m"]
    spoken = await door.post("/inference_sft", data={"tts_text": "er", "spk_id": "中文女"}, timeout=120)
    assert spoken.status_code == 200, spoken.text
    assert spoken.headers["x-audio-sample-rate"] == "22050"
    assert len(spoken.content) >= 2 * 256
    fields = {"tts_text": "er", "spk_id": "english_m", "instruct_text": "sadly<|endofprompt|>"}
    instructed = await door.post("/inference_instruct", data=fields, timeout=120)
    assert instructed.status_code == 200, instructed.text
    assert instructed.content != spoken.content
    openai = {"model": "cosyvoice1", "input": "<|en|>er", "voice": "english_m", "response_format": "wav", "seed": 1}
    heard = [await door.post("/v1/audio/speech", json=openai, timeout=120) for _ in range(2)]
    assert heard[0].status_code == 200, heard[0].text
    assert heard[0].content == heard[1].content
    assert heard[0].content[24:28] == (22_050).to_bytes(4, "little")
