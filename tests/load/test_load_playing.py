"""Twice the load that the engine can keep playing: streams under way have no gap, later ones begin later."""

import asyncio
import time

import pytest

from helpers.fakes import ToneEngine, running, tone_service
from polyvox.bench.player import Arrival, play
from polyvox.engines.kit.playhead import Playhead
from polyvox.errors import OverloadedError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.stage import Stage
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import Utterance

pytestmark = [pytest.mark.anyio, pytest.mark.alone]

CAPACITY = 1.8
"""Seconds of audio per second, for all streams together."""
CHUNK_SECONDS = 0.3
CHUNKS = 10
OVERLOAD = 2.0
TEXT = "x" * 40


class SerialEngine(ToneEngine):
    """Speaks one chunk at a time, the most urgent first, and knows its pace before anybody is heard."""

    pace = CAPACITY

    async def start(self):
        self._device = DeviceExecutor("serial", 1)
        self._stage = Stage("serial", self._run, executor=self._device, max_batch=1)
        await super().start()

    async def close(self):
        await self._stage.close()
        self._device.close()
        await super().close()

    async def speak(self, utterance):
        playhead = Playhead(asyncio.get_running_loop().time)
        async for chunk in super().speak(utterance):
            await self._stage(None, due=playhead.due)
            playhead.push(CHUNK_SECONDS)
            yield chunk

    @staticmethod
    def _run(items):
        time.sleep(CHUNK_SECONDS / CAPACITY)
        return items


async def listen(service, after):
    """Seconds to first audio and of gaps; None for a request that was refused."""
    await asyncio.sleep(after)
    asked = time.monotonic()
    try:
        session = await service.open(SpeechRequest(Utterance(TEXT, "low"), door="test"), LOCAL_CALL)
        async with session:
            arrivals = [Arrival(time.monotonic(), chunk.duration) async for chunk in session]
    except OverloadedError:
        return None
    return arrivals[0].time - asked, play(arrivals).starved


async def test_the_first_streams_of_a_fresh_server_have_no_gap_at_twice_the_load():
    engine = SerialEngine(chunks=CHUNKS, chunk_seconds=CHUNK_SECONDS)
    async with running(tone_service(engine, max_sessions=32)) as service:
        every = CHUNKS * CHUNK_SECONDS / CAPACITY / OVERLOAD
        answers = await asyncio.gather(*(listen(service, every * place) for place in range(10)))
    heard = [answer for answer in answers if answer is not None]
    print({"heard": len(heard), "first": [round(first, 2) for first, _ in heard], "gaps": [gap for _, gap in heard]})
    assert len(heard) >= 4
    assert sum(gap for _, gap in heard) < 0.03 * CHUNKS * CHUNK_SECONDS * len(heard)
