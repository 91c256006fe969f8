"""An engine that costs nothing, so that the time of a request is the server's own."""

from collections.abc import AsyncIterator, Sequence

import numpy as np

from polyvox.config import Settings
from polyvox.errors import UnavailableError
from polyvox.types import AudioChunk, Capabilities, PreparedVoice, Utterance, Voice, VoicePrompt

SAMPLE_RATE = 24_000
CHUNK_SECONDS = (2.0, 4.0, 8.0, 6.0)
"""About what a paragraph of sixty words takes, in chunks that grow as an engine's do."""


class NullEngine:
    """Returns the same precomputed samples for every text."""

    name = "null"
    voices: Sequence[Voice] = (Voice("null", "Null", "en-us"),)
    capabilities = Capabilities(languages=frozenset({"en-us"}), sample_rate=SAMPLE_RATE, native_speed=True)

    def __init__(self, settings: Settings) -> None:
        noise = np.random.default_rng(0).uniform(-0.5, 0.5, int(sum(CHUNK_SECONDS) * SAMPLE_RATE))
        self._pcm = noise.astype(np.float32)

    async def start(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Nothing to release."""

    def check(self, utterance: Utterance) -> None:
        """Accept every text."""

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        raise UnavailableError("The null engine cannot clone voices.")

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        start = 0
        for index, seconds in enumerate(CHUNK_SECONDS):
            end = start + int(seconds * SAMPLE_RATE)
            yield AudioChunk(self._pcm[start:end], SAMPLE_RATE, index, start, utterance.text)
            start = end
