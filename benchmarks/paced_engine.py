"""An engine that takes time but no CPU, and that can be made to hang: for the fault trials."""

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
"""Time of one chunk; a replica makes one at a time."""


class PacedEngine:
    """Produces a tone. A file `hang` in the data folder makes the first replica that finds it hang for good."""

    name = "paced"
    voices: Sequence[Voice] = (Voice("paced", "Paced", "en-us"),)
    capabilities = Capabilities(languages=frozenset({"en-us"}), sample_rate=SAMPLE_RATE, native_speed=True)

    def __init__(self, settings: Settings) -> None:
        self._hang_file = settings.data_dir / "hang"
        self._device = DeviceExecutor("paced", 1)
        self._stage = Stage[int, Pcm]("paced", self._run_batch, executor=self._device)

    async def start(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        await self._stage.close()
        await asyncio.to_thread(self._device.close)

    def check(self, utterance: Utterance) -> None:
        """Accept every text."""

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        raise UnavailableError("The paced engine cannot clone voices.")

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        start = 0
        for index in range(CHUNKS):
            pcm = await self._stage(index)
            yield AudioChunk(pcm, SAMPLE_RATE, index, start, utterance.text)
            start += len(pcm)

    def _run_batch(self, indices: list[int]) -> list[Pcm]:
        if self._hang_requested():
            threading.Event().wait()
        time.sleep(WORK_SECONDS)
        phase = np.arange(int(CHUNK_SECONDS * SAMPLE_RATE)) * (2 * np.pi * 220 / SAMPLE_RATE)
        return [np.float32(0.1) * np.sin(phase).astype(np.float32) for _ in indices]

    def _hang_requested(self) -> bool:
        try:
            self._hang_file.unlink()
        except FileNotFoundError:
            return False
        return True
