"""A server with several processes of doors whose engine makes tones: `program` of one.

A chunk takes 12 ms. Most texts have five; one that begins with `long` has 100, with `slow` as many as anybody reads.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator

import numpy as np

from helpers.fakes import TONES, PlainToneEngine, tone
from polyvox.config import Settings
from polyvox.deploy.workers.parts import ServerParts
from polyvox.deploy.workers.supervisor import serve_with_workers
from polyvox.installation import load_settings
from polyvox.server.process import run_server
from polyvox.types import AudioChunk, Capabilities, PreparedVoice, Utterance, VoicePrompt

PROGRAM = "helpers.worker_server"
_RATE = 24_000
_SAMPLES = 2_400
_CHUNKS = 5
_LONG = 100
_SLOW = 3_000
LONG_BYTES = _LONG * _SAMPLES * 2
"""Bytes of a long text's speech as 16-bit samples."""
_WORK_SECONDS = 0.012


class WorkerToneEngine(PlainToneEngine):
    """Tones for its own voices, and for those of recordings: of these the pitch is the length of the recording."""

    def __init__(self, settings: Settings) -> None:
        super().__init__("tone")

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            languages=frozenset({"en-us"}),
            sample_rate=_RATE,
            native_speed=True,
            cloning=True,
            wordless=True,
            word_timings=True,
        )

    def check(self, utterance: Utterance) -> None:
        if utterance.prepared is None:
            super().check(utterance)

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        return PreparedVoice(self.name, prompt.digest, {"pitch": np.array([100.0 + len(prompt.pcm) % 400])})

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        prepared = utterance.prepared
        pitch = TONES[utterance.voice] if prepared is None else float(prepared.arrays["pitch"][0])
        chunks = {"slow": _SLOW, "long": _LONG}.get(utterance.text[:4], _CHUNKS)
        for index in range(chunks):
            await asyncio.sleep(_WORK_SECONDS)
            start = index * _SAMPLES
            yield AudioChunk(tone(pitch, start, _SAMPLES, _RATE, 1), _RATE, index, start, utterance.text)


if __name__ == "__main__":
    settings = load_settings(models=["tone"], default_voice="low", **json.loads(sys.argv[1]))
    if settings.workers == 1:
        run_server(settings, {"tone": WorkerToneEngine})
    else:
        serve_with_workers(settings, ServerParts({"tone": WorkerToneEngine}))
