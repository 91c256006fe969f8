"""Two keys, one of which floods the server: the other's first audio comes about as soon as on an idle one."""

import asyncio
import statistics
import time
from contextlib import asynccontextmanager
from itertools import product

import pytest

from helpers.fakes import ToneEngine, running, tone_service
from polyvox.engines.kit.playhead import Playhead
from polyvox.errors import OverloadedError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.stage import Stage
from polyvox.service.call_context import CallContext
from polyvox.service.keys.client_names import key_client
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import Utterance

pytestmark = [pytest.mark.anyio, pytest.mark.alone]

WORK_SECONDS = 0.12
"""Time that a chunk takes; it makes way for a more urgent one between its steps of `STEP_SECONDS`."""
STEP_SECONDS = 0.02
CHUNK_SECONDS = 0.3
TRIALS = 8
FLOOD = 24


class SteppedEngine(ToneEngine):
    """A device that works on one chunk at a time, the most urgent first."""

    pace = CHUNK_SECONDS / WORK_SECONDS

    async def start(self):
        self._device = DeviceExecutor("stepped", 1)
        self._stage = Stage("stepped", self._step, executor=self._device)
        await super().start()

    async def close(self):
        await self._stage.close()
        self._device.close()
        await super().close()

    async def speak(self, utterance):
        playhead = Playhead(asyncio.get_running_loop().time)
        async for chunk in super().speak(utterance):
            steps = round(WORK_SECONDS / STEP_SECONDS)
            await asyncio.gather(*(self._stage(None, due=playhead.due) for _ in range(steps)))
            playhead.push(CHUNK_SECONDS)
            yield chunk

    @staticmethod
    def _step(items):
        time.sleep(STEP_SECONDS)
        return items


async def first_audio(service, client: str, chars: int = 20) -> float:
    """Seconds until the first audio of a stream that is then heard to its end."""
    asked = time.monotonic()
    request = SpeechRequest(Utterance("x" * chars, "low"), door="test")
    async with await service.open(request, CallContext(client, max_wait=30.0)) as session:
        await anext(session)
        seconds = time.monotonic() - asked
        async for _ in session:
            pass
    return seconds


@asynccontextmanager
async def flood(service, client: str, chars: int):
    """Keep the client's requests coming, `FLOOD` of them at any time."""

    async def ask() -> None:
        while True:
            try:
                await first_audio(service, client, chars)
            except OverloadedError:
                await asyncio.sleep(0.25)

    tasks = [asyncio.create_task(ask()) for _ in range(FLOOD)]
    await asyncio.sleep(1.5)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def delay(clients: tuple[str, str], chars: int) -> float:
    """How many times as long the second client waits for its first audio while the first floods the server."""
    flooding, other = clients
    async with running(tone_service(SteppedEngine(chunks=3, chunk_seconds=CHUNK_SECONDS))) as service:
        idle = statistics.median([await first_audio(service, other) for _ in range(3)])
        async with flood(service, flooding, chars):
            busy = [await first_audio(service, other) for _ in range(TRIALS)]
    print({"idle": round(idle, 3), "busy": [round(seconds, 3) for seconds in busy]})
    return statistics.median(busy) / idle


async def test_a_flood_of_one_client_does_not_delay_the_first_audio_of_another():
    """All pairs and lengths at a time, each on a device of its own: devices take time here, and no CPU."""
    rows = list(product([(key_client("a"), key_client("b")), ("10.0.0.7", "10.0.0.8")], [20, 400]))
    delays = await asyncio.gather(*(delay(*row) for row in rows))
    assert {row: times for row, times in zip(rows, delays, strict=True) if times >= 1.5} == {}
