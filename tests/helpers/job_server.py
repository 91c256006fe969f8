"""A server for the trials of jobs, whose engine takes a moment for a sentence and makes a tone of its own for each."""

import asyncio
import json
import sys
import zlib
from collections.abc import AsyncIterator

from helpers.attacked_server import AttackedEngine
from helpers.fakes import tone
from polyvox.bench.null import SAMPLE_RATE
from polyvox.installation import load_settings
from polyvox.server.process import run_server
from polyvox.types import AudioChunk, Span, Utterance, WordTiming

PROGRAM = "helpers.job_server"
_SAMPLES = SAMPLE_RATE // 20
_PAUSE = 0.004


class TextToneEngine(AttackedEngine):
    """A short tone whose pitch depends on the text and the seed, so that no sentence can stand for another."""

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        await asyncio.sleep(_PAUSE)
        pitch = 200.0 + zlib.crc32(f"{utterance.text} {utterance.seed}".encode()) % 2_000
        word = WordTiming(utterance.text, 0.0, _SAMPLES / SAMPLE_RATE, Span(0, len(utterance.text)))
        yield AudioChunk(tone(pitch, 0, _SAMPLES, SAMPLE_RATE), SAMPLE_RATE, 0, 0, utterance.text, words=(word,))


if __name__ == "__main__":
    run_server(load_settings(models=["kokoro"], **json.loads(sys.argv[1])), {"kokoro": TextToneEngine})
