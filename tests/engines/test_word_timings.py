"""Word timings behind the engines that clone voices, on tiny networks that murmur."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from helpers.tiny_cosyvoice import SEED, prompt, tiny_model
from helpers.tiny_speechlm import tiny_speechlm_settings, write_tiny_model
from helpers.zipvoice_bundle import write_model, write_vocoder
from polyvox.engines.base import Engine, SupportsStreamingText
from polyvox.engines.catalog import Catalog
from polyvox.engines.cosyvoice.engine import CosyVoiceEngine
from polyvox.engines.zipvoice.bundle import load_networks
from polyvox.engines.zipvoice.engine import ZipVoiceEngine
from polyvox.engines.zipvoice.variants import VARIANTS
from polyvox.installation import load_settings
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.words.timed_engine import timed_engine
from polyvox.service.words.word_timer import WordTimer
from polyvox.types import AudioChunk, TimingSource, Utterance, WordTiming

pytestmark = pytest.mark.anyio

TEXT = "It is $5; stop."
WORDS = "It is $5 stop".split()


async def cosyvoice(folder: Path) -> tuple[Engine, Utterance]:
    settings = load_settings(cosyvoice3_dir=tiny_model(folder / "model", 3), cosyvoice_device="cpu")
    engine = CosyVoiceEngine(settings, 3)
    await engine.start()
    return engine, Utterance(TEXT, "", seed=SEED, prepared=await engine.prepare(prompt()))


async def zipvoice(folder: Path) -> tuple[Engine, Utterance]:
    variant, cpu = VARIANTS["zipvoice_distill"], torch.device("cpu")
    model, vocoder = write_model(folder / variant.name, variant.name), write_vocoder(folder / "vocos")
    engine = ZipVoiceEngine(variant, load_settings())
    await engine.start_with(load_networks(variant, model, vocoder, cpu), cpu)
    return engine, Utterance(TEXT, "", seed=1, prepared=await engine.prepare(prompt()), tuning={"num_steps": 1.0})


async def speechlm(folder: Path) -> tuple[Engine, Utterance]:
    engine = Catalog.installed().factories["speechlm"](tiny_speechlm_settings(write_tiny_model(folder)))
    await engine.start()
    return engine, Utterance(TEXT, "husein", language="en", seed=5, tuning={"max_tokens": 60, "temperature": 1.5})


@asynccontextmanager
async def timer(folder: Path) -> AsyncIterator[Callable[[Engine], Engine]]:
    """Makes engines with word timings, all estimated: there is no model in the folder."""
    executor = DeviceExecutor("test-words", 1)
    yield lambda engine: timed_engine(engine, WordTimer(load_settings(models_dir=folder)), executor)
    await asyncio.to_thread(executor.close)


def check(chunks: list[AudioChunk], text: str) -> None:
    words: list[WordTiming] = [word for chunk in chunks for word in chunk.words]
    assert [word.word for word in words] == WORDS
    assert [text[word.span.start : word.span.end] for word in words] == WORDS
    assert all(before.start <= after.start for before, after in pairwise(words))
    assert 0.0 <= words[0].start <= words[-1].end <= chunks[-1].end / chunks[-1].sample_rate
    assert {word.source for word in words} == {TimingSource.ESTIMATE}


async def arriving() -> AsyncIterator[str]:
    for start in range(0, len(TEXT), 5):
        yield TEXT[start : start + 5]


@pytest.mark.long
@pytest.mark.parametrize("started", [cosyvoice, zipvoice, speechlm])
async def test_every_word_has_its_time_and_the_samples_stay(tmp_path, started):
    engine, utterance = await started(tmp_path)
    try:
        plain = np.concatenate([chunk.pcm async for chunk in engine.speak(utterance)])
        async with timer(tmp_path) as timed:
            made = timed(engine)
            chunks = [chunk async for chunk in made.speak(utterance)]
            streams = isinstance(made, SupportsStreamingText)
            streamed = [chunk async for chunk in made.speak_stream(utterance, arriving())] if streams else chunks
    finally:
        await engine.close()
    np.testing.assert_array_equal(plain, np.concatenate([chunk.pcm for chunk in chunks]))
    assert [after.start for after in chunks[1:]] == [before.end for before in chunks[:-1]]
    check(chunks, TEXT)
    check(streamed, TEXT)
