"""Hostile recordings, names and addresses in the turns of a dialogue: each refused with its turn."""

import base64
from pathlib import Path

import pytest
from test_voices_hostile_doors import ADDRESSES, NAMES

from helpers.cloning import CloneEngine
from helpers.fakes import tone_service
from helpers.hostile import FILES, SPEECH
from helpers.serving import called
from polyvox.service.voices.voices import VoiceService

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
SOME_FILES = list(FILES)[::12]


def inline(data: bytes) -> str:
    return f"base64+{base64.b64encode(data).decode()}"


async def test_everything_hostile_in_a_turn_is_refused_with_its_place(tmp_path: Path) -> None:
    models_dir = tmp_path / "models"
    service = tone_service(CloneEngine(), data_dir=tmp_path / "data", models_dir=models_dir, allow_fetch=True)
    voices = VoiceService.for_service(service)
    hostile = {repr(name): name for name in NAMES} | {address: f"url+{address}" for address in ADDRESSES}
    hostile |= {what: inline(data) for what in SOME_FILES if len(data := FILES[what]()) < 2_000_000}
    wrong: dict[str, str] = {}
    async with called(service, voices, timeout=60) as client:
        await voices.start()
        for what, voice in hostile.items():
            turns = [{"voice": "low", "text": "Hello."}, {"voice": voice, "text": "Hi.", "prompt_text": "x"}]
            refused = await client.post("/v1/audio/dialogue", json={"turns": turns})
            place = str(refused.json()["error"]["param"])
            if not (400 <= refused.status_code < 500 and place.startswith("turns[1].")):
                wrong[what] = f"{refused.status_code} {refused.text[:200]}"
            assert str(tmp_path) not in refused.text, what
        turns = [{"voice": "low", "text": "Hello."}, {"voice": inline(SPEECH), "text": "Hi.", "prompt_text": "x"}]
        spoken = await client.post("/v1/audio/dialogue", json={"turns": turns})
        await voices.close()
    assert len(hostile) > len(NAMES) + len(ADDRESSES)
    assert wrong == {}
    assert spoken.status_code == 200, spoken.text
