"""A synthesizer that asks a server, with a transport in place of one."""

import json

import httpx
import numpy as np
import pytest

from polyvox.audio.pcm import to_pcm16
from polyvox.client import AsyncClient
from polyvox.screen_reader.server_synthesizer import ServerSynthesizer
from polyvox.screen_reader.synthesizer import Phrase

pytestmark = pytest.mark.anyio


async def test_a_server_is_asked_for_raw_audio_which_is_cut_at_whole_samples() -> None:
    asked: list[dict[str, object]] = []
    pcm = np.linspace(-0.5, 0.5, 1001, dtype=np.float32)

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content))
        data = to_pcm16(pcm)

        async def odd_pieces():
            for start in range(0, len(data), 333):
                yield data[start : start + 333]

        headers = {"x-audio-sample-rate": "22050", "x-audio-channels": "1"}
        return httpx.Response(200, headers=headers, content=odd_pieces())

    async with AsyncClient("http://server", transport=httpx.MockTransport(answer)) as client:
        synthesizer = ServerSynthesizer(client, "wren", ())
        pieces = [samples async for samples in synthesizer.speak(Phrase("Hello.", "af_heart", 2.0))]
    wanted = {"input": "Hello.", "voice": "af_heart", "model": "wren", "response_format": "pcm", "speed": 2.0}
    assert wanted.items() <= asked[0].items()
    assert {samples.sample_rate for samples in pieces} == {22050}
    assert np.concatenate([samples.pcm for samples in pieces]) == pytest.approx(pcm, abs=1e-4)
