"""A server for the trials whose engine plays what it reads: the word `440` is a tone of 440 Hz. `program` of a trial.

So it is heard whose text a context speaks, and whether a number was cut in two on its way.
"""

import asyncio
import json
import math
import re
import sys
from collections.abc import AsyncIterator

import numpy as np

from helpers.attacked_server import AttackedEngine
from polyvox.installation import load_settings
from polyvox.server.process import run_server
from polyvox.types import AudioChunk, Capabilities, Span, Utterance, WordTiming

PROGRAM = "helpers.frequency_server"
SAMPLE_RATE = 8_000
WORD_SECONDS = 0.1
WORDS_PER_CHUNK = 4
WORK_SECONDS = 0.02
"""Time that a chunk takes, of which any number can be worked on at once."""
_NUMBER = re.compile(r"\d+")


class FrequencyEngine(AttackedEngine):
    """A tenth of a second of each frequency that the text names, in chunks of four."""

    capabilities = Capabilities(
        languages=frozenset({"en-us"}), sample_rate=SAMPLE_RATE, native_speed=True, word_timings=True
    )

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        numbers = list(_NUMBER.finditer(utterance.text))
        for index, first in enumerate(range(0, len(numbers), WORDS_PER_CHUNK)):
            await asyncio.sleep(WORK_SECONDS)
            yield _chunk(numbers[first : first + WORDS_PER_CHUNK], index, first)


def _chunk(numbers: list[re.Match[str]], index: int, first: int) -> AudioChunk:
    length = round(WORD_SECONDS * SAMPLE_RATE)
    start = first * length
    phase = 2 * math.pi * np.arange(start, start + length * len(numbers)) / SAMPLE_RATE
    hertz = np.repeat([float(number[0]) for number in numbers], length)
    words = tuple(
        WordTiming(number[0], at * WORD_SECONDS, (at + 1) * WORD_SECONDS, Span(*number.span()))
        for at, number in enumerate(numbers, start=first)
    )
    return AudioChunk(
        pcm=(np.sin(phase * hertz) / 2).astype(np.float32),
        sample_rate=SAMPLE_RATE,
        index=index,
        start=start,
        text=" ".join(number[0] for number in numbers),
        span=Span(numbers[0].start(), numbers[-1].end()),
        words=words,
    )


if __name__ == "__main__":
    run_server(load_settings(models=["kokoro"], **json.loads(sys.argv[1])), {"kokoro": FrequencyEngine})
