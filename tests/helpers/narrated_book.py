"""A book and a cheap voice for it; run as a program, it narrates in a process that can be killed."""

import asyncio
import os
import sys
from pathlib import Path

import numpy as np

from polyvox.books.manuscript import Chapter, Manuscript
from polyvox.books.narration.narration import Narration
from polyvox.books.narration.options import NarrationOptions, Pauses
from polyvox.types import AudioChunk, Span, WordTiming

RATE = 24_000
EDGE = 4_800
"""Silent samples at both ends of what `tone` speaks."""


def book(sentences, chapters=4):
    """A book of that many sentences besides its titles."""
    texts = [f"This is sentence number {number}." for number in range(sentences)]
    size = -(-sentences // chapters)
    parts = [texts[start : start + size] for start in range(0, sentences, size)]
    return Manuscript(
        "The Tide",
        "Ann Author",
        "en",
        None,
        tuple(
            Chapter(f"Chapter {n}", tuple(" ".join(p[i : i + 3]) for i in range(0, len(p), 3)))
            for n, p in enumerate(parts, 1)
        ),
    )


async def tone(passage):
    """Two chunks of a tone, as long as the text and in silence, with the words timed evenly; the seed is its pitch."""
    count = len(passage.text) * 60
    pcm = np.zeros(count + 2 * EDGE, np.float32)
    level = 0.05 + 0.2 * (passage.seed % 5)
    pcm[EDGE : count + EDGE] = level * np.sin(np.arange(count) * (1 + passage.seed % 7) / 40)
    words = passage.text.split()
    each = count / RATE / len(words)
    found, at = [], 0
    for number, word in enumerate(words):
        at = passage.text.index(word, at)
        start = EDGE / RATE + number * each
        found.append(WordTiming(word, start, start + each, Span(at, at + len(word))))
    half = len(pcm) // 2
    yield AudioChunk(pcm[:half], RATE, 0, 0)
    await asyncio.sleep(0)
    yield AudioChunk(pcm[half:], RATE, 1, half, words=tuple(found))


def narrate(folder, die_after=None):
    """Narrate what is left; after `die_after` sentences the process kills itself, in the midst of what it does."""
    target = Path(folder)
    narration = (
        Narration.open(target)
        if (target / "plan.json").exists()
        else Narration.create(target, book(200), NarrationOptions(seed=5, pauses=Pauses(0.05, 0.1, 0.1, 0.1, 0.1, 0.1)))
    )
    done = 0

    async def speak(passage):
        nonlocal done
        async for chunk in tone(passage):
            yield chunk
        done += 1
        if done == die_after:
            os.kill(os.getpid(), 9)

    asyncio.run(narration.narrate(speak))


if __name__ == "__main__":
    narrate(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)
