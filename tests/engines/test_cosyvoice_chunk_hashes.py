"""Same seed, same hashes: the log of chunks of a CosyVoice server, alone and while other streams run beside."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from helpers.serving import called
from helpers.tiny_cosyvoice import tiny_model
from polyvox.engines.catalog import Catalog
from polyvox.installation import load_settings
from polyvox.service.local_service import build_service
from polyvox.service.voices.voices import VoiceService

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SPEECH = (Path(__file__).parents[1] / "recordings" / "librivox_a.flac").read_bytes()
WISH = {"tts_text": "the wall.", "prompt_text": "a word", "seed": "11"}


async def spoken(client: httpx.AsyncClient, **fields: str) -> str:
    """Speak in the voice of the recording; the id of the session."""
    files = {"prompt_wav": ("prompt_wav", SPEECH, "application/octet-stream")}
    answer = await client.post("/inference_zero_shot", data=WISH | fields, files=files, timeout=120)
    assert answer.status_code == 200, answer.text
    return answer.headers["x-session-id"]


async def test_the_same_seed_gives_the_same_chunks_twice_and_beside_others(tmp_path: Path) -> None:
    path = tmp_path / "chunks.jsonl"
    settings = load_settings(
        models=["cosyvoice3"],
        default_model="cosyvoice3",
        cosyvoice3_dir=tiny_model(tmp_path / "model", 3),
        models_dir=tmp_path / "models",
        data_dir=tmp_path / "data",
        chunk_log=path,
        cosyvoice_first_hop=25,
        cosyvoice_max_hop=25,
        adaptive_sessions=False,
    )
    service = build_service(settings, Catalog.installed().factories)
    voices = VoiceService.for_service(service)
    async with called(service, voices) as client:
        first, second = await spoken(client), await spoken(client)
        beside, other_seed, _ = await asyncio.gather(
            spoken(client), spoken(client, seed="12"), spoken(client, tts_text="a wall.")
        )
        await voices.close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]

    def told(session: str) -> list[tuple[object, ...]]:
        mine = [line for line in lines if line["session"] == session]
        return [(line["index"], line["samples"], line["tokens"], line["frames"], line["sha256"]) for line in mine]

    assert len(told(first)) > 1
    assert told(first) == told(second) == told(beside)
    assert [chunk[4] for chunk in told(other_seed)] != [chunk[4] for chunk in told(first)]
    for line in lines:
        assert line["policy"]["first"] >= 25
        for stage in ("lm", "flow", "vocoder"):
            assert 0 <= line[stage]["device_seconds"] < 60
            assert line[stage]["wall_seconds"] >= 0
        # Each figure is rounded to microseconds.
        stages = line["flow"]["device_seconds"] + line["vocoder"]["device_seconds"]
        assert stages == pytest.approx(line["device_seconds"], abs=3e-6)
    assert all(sum(line["lm"]["device_seconds"] for line in lines if line["session"] == one) > 0 for one in (first,))
