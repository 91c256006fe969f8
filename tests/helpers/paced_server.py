"""A server like `attacked_server` whose engine takes time, but no CPU: one chunk at a time, whoever it is for.

Long texts cost nothing, so that the buffers of clients that do not read are soon full.
"""

import asyncio
import json
import math
import sys
from collections.abc import AsyncIterator

from helpers.attacked_server import AttackedEngine
from polyvox.bench.null import SAMPLE_RATE
from polyvox.config import Settings
from polyvox.installation import load_settings
from polyvox.server.process import run_server
from polyvox.types import AudioChunk, Utterance

CHUNK_SECONDS = 0.5
WORK_SECONDS = 0.02
PACE = CHUNK_SECONDS / WORK_SECONDS
"""Seconds of audio per second, of all streams together."""
SECONDS_PER_CHAR = 0.07
FREE_CHARS = 3_000
"""Length from which a text costs nothing: 3.5 minutes, of which a connection's own buffers hold about one."""
FREE_CHUNK_SECONDS = 4.0


class PacedEngine(AttackedEngine):
    """Noise as long as the text would take to say; streams that run at once wait for each other."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._device = asyncio.Lock()

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        free = len(utterance.text) >= FREE_CHARS
        seconds = FREE_CHUNK_SECONDS if free else CHUNK_SECONDS
        samples = int(seconds * SAMPLE_RATE)
        for index in range(math.ceil(len(utterance.text) * SECONDS_PER_CHAR / seconds)):
            async with self._device:
                await asyncio.sleep(0 if free else WORK_SECONDS)
            yield AudioChunk(self._pcm[:samples], SAMPLE_RATE, index, index * samples, utterance.text)


if __name__ == "__main__":
    run_server(load_settings(models=["kokoro"], **json.loads(sys.argv[1])), {"kokoro": PacedEngine})
