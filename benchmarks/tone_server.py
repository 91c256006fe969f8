"""A server whose engine makes a tone in 12 ms a chunk and takes no CPU: what is left is the server's own work.

`python -m benchmarks.tone_server '{"workers": 4, "port": 0}'`
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence

import numpy as np

from polyvox.config import Settings
from polyvox.deploy.workers.parts import ServerParts
from polyvox.deploy.workers.supervisor import serve_with_workers
from polyvox.errors import UnavailableError
from polyvox.installation import load_settings
from polyvox.server.process import run_server
from polyvox.types import AudioChunk, Capabilities, PreparedVoice, Utterance, Voice, VoicePrompt

MODEL = "tone"
SAMPLE_RATE = 24_000
CHUNKS = 4
CHUNK_SECONDS = 0.5
WORK_SECONDS = 0.012


class ToneEngine:
    """Two seconds of a tone for every text."""

    name = MODEL
    voices: Sequence[Voice] = (Voice(MODEL, "Tone", "en-us"),)
    capabilities = Capabilities(languages=frozenset({"en-us"}), sample_rate=SAMPLE_RATE, native_speed=True)

    def __init__(self, settings: Settings) -> None:
        self._samples = int(CHUNK_SECONDS * SAMPLE_RATE)
        phase = np.arange(CHUNKS * self._samples) * (2 * np.pi * 220 / SAMPLE_RATE)
        self._pcm = np.float32(0.1) * np.sin(phase).astype(np.float32)

    async def start(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Nothing to release."""

    def check(self, utterance: Utterance) -> None:
        """Accept every text."""

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        raise UnavailableError("The tone engine cannot clone voices.")

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        for index in range(CHUNKS):
            await asyncio.sleep(WORK_SECONDS)
            start = index * self._samples
            yield AudioChunk(self._pcm[start : start + self._samples], SAMPLE_RATE, index, start, utterance.text)


def main() -> None:
    """Serve with the settings of the first argument."""
    settings = load_settings(models=[MODEL], default_voice=MODEL, **json.loads(sys.argv[1]))
    if settings.workers == 1:
        run_server(settings, {MODEL: ToneEngine})
    else:
        serve_with_workers(settings, ServerParts({MODEL: ToneEngine}))


if __name__ == "__main__":
    main()
