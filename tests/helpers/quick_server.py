"""A server for the trials whose answers are short, so that an attack reaches many of them: `program` of one.

Its engine makes half a second of noise in five chunks, and takes any recording as a voice. The text `slow` is spoken
for as long as somebody listens, a chunk every 20 ms.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator

import numpy as np

from helpers.attacked_server import AttackedEngine
from polyvox.bench.null import SAMPLE_RATE
from polyvox.installation import load_settings
from polyvox.server.process import run_server
from polyvox.types import AudioChunk, Capabilities, PreparedVoice, Utterance, VoicePrompt

PROGRAM = "helpers.quick_server"
_CHUNK = SAMPLE_RATE // 10
_CHUNKS = 5
_MOST_CHUNKS = 3_000
_PAUSE = 0.02


class QuickEngine(AttackedEngine):
    """Noise, for voices of its own and for those of recordings."""

    capabilities = Capabilities(
        languages=frozenset({"en-us"}), sample_rate=SAMPLE_RATE, native_speed=True, cloning=True, wordless=True
    )

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        return PreparedVoice(self.name, prompt.digest, {"length": np.array([len(prompt.pcm)])})

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        slow = utterance.text.startswith("slow")
        noise = np.random.default_rng(0).uniform(-0.5, 0.5, _CHUNK).astype(np.float32)
        for index in range(_MOST_CHUNKS if slow else _CHUNKS):
            await asyncio.sleep(_PAUSE if slow else 0.0)
            yield AudioChunk(noise, SAMPLE_RATE, index, index * _CHUNK, utterance.text)


if __name__ == "__main__":
    run_server(load_settings(models=["kokoro"], **json.loads(sys.argv[1])), {"kokoro": QuickEngine})
