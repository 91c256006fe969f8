"""`python -m training.wren.compare`: the models `kokoro` and `wren` on held-out sentences, as the server speaks them.

Prints what both cost and how soon they are heard, and writes their recordings for `training.wren.score`. Sentences
alternate between the models in one process, so that a busy machine slows both.
"""

import argparse
import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

from polyvox.engines.base import Engine
from polyvox.engines.catalog import Catalog
from polyvox.installation import load_settings
from polyvox.types import PreparedVoice, Utterance
from training.wren.held_out import SPEAKERS, Recording, read_sentences, save_recordings, sentences_of

MODELS = ("kokoro", "wren")
TEN_WORDS = (
    "The old man walked slowly down to the quiet harbour.",
    "She put the letter on the table and went upstairs.",
    "We will meet again in the garden after the concert.",
    "Nobody knew why the lights had gone out that evening.",
    "A small boat with red sails crossed the wide bay.",
)
_VOICE = "af_heart"
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Spoken:
    """A text by one model: samples, seconds of CPU for all of them, and seconds and those of CPU for the first ones."""

    pcm: npt.NDArray[np.float32]
    cpu_seconds: float
    first_seconds: float
    first_cpu_seconds: float


@asynccontextmanager
async def started(threads: int) -> AsyncIterator[list[Engine]]:
    """The engines of `MODELS` in their order, on ONNX Runtime with one worker each."""
    settings = load_settings(kokoro_executor="onnx", kokoro_threads=threads, kokoro_workers=1)
    engines = [Catalog.installed().factories[model](settings) for model in MODELS]
    for engine in engines:
        await engine.start()
    try:
        yield engines
    finally:
        for engine in engines:
            await engine.close()


async def speak(engine: Engine, text: str, voice: str, prepared: PreparedVoice | None = None) -> Spoken:
    """Speak a text once, by a voice of the engine or by one prepared for it."""
    pieces: list[npt.NDArray[np.float32]] = []
    first: tuple[float, float] | None = None
    cpu, began = time.process_time(), time.perf_counter()
    async for chunk in engine.speak(Utterance(text, voice, prepared=prepared)):
        first = first or (time.perf_counter() - began, time.process_time() - cpu)
        pieces.append(chunk.pcm)
    assert first is not None
    return Spoken(np.concatenate(pieces), time.process_time() - cpu, *first)


def voice_of(weights: Mapping[str, float]) -> str:
    """A mix as the server's requests name it."""
    return "+".join(f"{name}({share})" for name, share in weights.items()) if len(weights) > 1 else next(iter(weights))


async def compare(data: Path, archive: Path | None, threads: int, count: int) -> dict[str, object]:
    """Speak everything by both; returns the figures."""
    async with started(threads) as both:
        engines = dict(zip(MODELS, both, strict=True))
        first = await first_audio(engines)
        cpu, audio, recordings = dict.fromkeys(MODELS, 0.0), dict.fromkeys(MODELS, 0.0), []
        sentences = read_sentences(data / "held_out.json")
        for index, (speaker, weights) in enumerate(SPEAKERS.items()):
            voice = voice_of(weights)
            for sentence in sentences_of(sentences, speaker, index, count):
                spoken = {model: await speak(engine, sentence.text, voice) for model, engine in engines.items()}
                for model, result in spoken.items():
                    cpu[model] += result.cpu_seconds
                    audio[model] += len(result.pcm) / 24_000
                pair = (spoken[model].pcm for model in MODELS)
                recordings.append(Recording(speaker, sentence.language, sentence.text, *pair))
    if archive is not None:
        save_recordings(recordings, archive)
    cost = {f"{model}_cpu_per_audio_second": round(cpu[model] / audio[model], 4) for model in MODELS}
    return {"threads": threads, "audio_seconds": round(audio["wren"], 1), **first, **cost}


async def first_audio(engines: Mapping[str, Engine]) -> dict[str, float]:
    """How soon each is heard, in seconds and in seconds of CPU: medians over sentences of ten words."""
    soon: dict[str, list[Spoken]] = {model: [] for model in engines}
    for text in (text for _ in range(_ROUNDS) for text in TEN_WORDS):
        for model, engine in engines.items():
            soon[model].append(await speak(engine, text, _VOICE))
    return {
        f"{model}_{name}": round(median(getattr(row, name) for row in soon[model]), 4)
        for model in engines
        for name in ("first_seconds", "first_cpu_seconds")
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(prog="python -m training.wren.compare", description=__doc__)
    parser.add_argument("data", type=Path, help="folder of held_out.json")
    parser.add_argument("archive", type=Path, nargs="?", help="file to write, .npz")
    parser.add_argument("--threads", type=int, default=1, help="of each model")
    parser.add_argument("--sentences", type=int, default=3, help="of each English speaker")
    options = parser.parse_args(arguments)
    print(json.dumps(asyncio.run(compare(options.data, options.archive, options.threads, options.sentences))))


if __name__ == "__main__":
    main()
