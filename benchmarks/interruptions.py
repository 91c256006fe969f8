"""First audio of a short text with Kokoro: on an idle engine, right after a cancelled stream, and beside a long one.

    python -m benchmarks.interruptions --rounds 5

The three take turns in one run, so that their ratios can be compared. A long text lets others go first while it is
well ahead of its playback; else the short one is spoken beside it, on the same cores.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.installation import load_settings
from polyvox.types import AudioChunk, Utterance

VOICE = "af_heart"
SHORT = "Hi."
_SENTENCE = "The last tram leaves the old market square at a quarter to twelve, and nobody was sad when it had gone. "
LONG = _SENTENCE * 50
"""A text of 1,000 words."""
_GROWN = 3
"""Chunks after which the next one is long."""
_INTO_CHUNK_SECONDS = 0.2


async def first_audio(engine: KokoroEngine, text: str = SHORT) -> float:
    """Seconds from the request to its first chunk."""
    began = time.perf_counter()
    async with aclosing(stream(engine, text)) as chunks:
        await anext(chunks)
        return time.perf_counter() - began


async def one_round(engine: KokoroEngine) -> dict[str, float]:
    """First audio on an idle engine, amid another stream's long chunk, and after that stream's cancellation."""
    seconds = {"idle": await first_audio(engine)}
    listener, grown = listen(engine)
    await grown.wait()
    await asyncio.sleep(_INTO_CHUNK_SECONDS)
    seconds["beside a long text"] = await first_audio(engine)
    await asyncio.sleep(_INTO_CHUNK_SECONDS)
    listener.cancel()
    seconds["after a cancel"] = await first_audio(engine)
    await asyncio.wait([listener])
    return seconds


def listen(engine: KokoroEngine) -> tuple[asyncio.Task[None], asyncio.Event]:
    """A listener of a long text, and whether its chunks are long by now."""
    grown = asyncio.Event()

    async def read() -> None:
        async with aclosing(stream(engine, LONG)) as chunks:
            async for chunk in chunks:
                if chunk.index + 1 >= _GROWN:
                    grown.set()

    return asyncio.create_task(read()), grown


def stream(engine: KokoroEngine, text: str) -> AsyncGenerator[AudioChunk, None]:
    return cast(AsyncGenerator[AudioChunk, None], engine.speak(Utterance(text, VOICE)))


async def main(rounds: int) -> None:
    engine = KokoroEngine(load_settings())
    await engine.start()
    measured = []
    for _ in range(rounds):
        measured.append(await one_round(engine))
        print({name: round(value, 3) for name, value in measured[-1].items()}, flush=True)
    await engine.close()
    medians = {name: statistics.median(each[name] for each in measured) for name in measured[0]}
    for name, median in medians.items():
        print(f"{name:20} median {median:6.3f} s, {median / medians['idle']:5.2f} x idle")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    asyncio.run(main(parser.parse_args().rounds))
