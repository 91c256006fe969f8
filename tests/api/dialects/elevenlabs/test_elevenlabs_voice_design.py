"""Voice design where no model makes voices; with one, see the tests of Qwen3-TTS."""

import pytest

from helpers.fakes import tone_service
from helpers.serving import called

pytestmark = pytest.mark.anyio


async def test_a_server_without_a_model_for_it_says_so() -> None:
    async with called(tone_service()) as client:
        refused = await client.post("/v1/text-to-voice/design", json={"voice_description": "An old voice."})
        named = await client.post(
            "/elevenlabs/v1/text-to-voice/design", json={"voice_description": "An old voice.", "model_id": "tone"}
        )
    assert refused.status_code == 501
    assert "no model that makes voices from descriptions" in refused.json()["detail"]["message"]
    assert (named.status_code, named.json()["detail"]["param"]) == (422, "model_id")
