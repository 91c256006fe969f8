"""An engine that takes its time and no CPU, and that can be made to hang: for trying what replicas do under load."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Sequence

import numpy as np

from polyvox.config import Settings
from polyvox.errors import UnavailableError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.stage import Stage
from polyvox.types import AudioChunk, Capabilities, Pcm, PreparedVoice, Utterance, Voice, VoicePrompt

SAMPLE_RATE = 24_000
CHUNKS = 8
CHUNK_SECONDS = 0.5
WORK_SECONDS = 0.05
"""What a chunk takes; one replica makes one at a time."""


class PacedEngine:
    """Hums. The file `hang` in the settings' data folder makes the first replica that finds it there hang for good."""

    name = "paced"
    voices: Sequence[Voice] = (Voice("paced", "Paced", "en-us"),)
    capabilities = Capabilities(languages=frozenset({"en-us"}), sample_rate=SAMPLE_RATE, native_speed=True)

    def __init__(self, settings: Settings) -> None:
        self._trap = settings.data_dir / "hang"
        self._device = DeviceExecutor("paced", 1)
        self._stage = Stage[int, Pcm]("paced", self._made, executor=self._device)

    async def start(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        await self._stage.close()
        await asyncio.to_thread(self._device.close)

    def check(self, utterance: Utterance) -> None:
        """Every text will do."""

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        raise UnavailableError("The paced engine clones nothing.")

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        start = 0
        for index in range(CHUNKS):
            pcm = await self._stage(index)
            yield AudioChunk(pcm, SAMPLE_RATE, index, start, utterance.text)
            start += len(pcm)

    def _made(self, places: list[int]) -> list[Pcm]:
        if self._sprung():
            threading.Event().wait()
        time.sleep(WORK_SECONDS)
        phase = np.arange(int(CHUNK_SECONDS * SAMPLE_RATE)) * (2 * np.pi * 220 / SAMPLE_RATE)
        return [np.float32(0.1) * np.sin(phase).astype(np.float32) for _ in places]

    def _sprung(self) -> bool:
        try:
            self._trap.unlink()
        except FileNotFoundError:
            return False
        return True
