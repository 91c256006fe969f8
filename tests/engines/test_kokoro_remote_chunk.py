"""Chunks that text workers render: what the engine renders by itself, whatever becomes of a worker or a listener."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
if sys.platform != "linux":
    pytest.skip("processes that read texts run on Linux", allow_module_level=True)

from helpers.tiny_kokoro import tiny_kokoro, tiny_voices
from polyvox.engines.kokoro import remote_chunk
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.engines.kokoro.native.batched_synthesis import BatchedSynthesis
from polyvox.engines.kokoro.native.network import NativeKokoro
from polyvox.errors import UnavailableError
from polyvox.installation import load_settings
from polyvox.types import AudioChunk, Utterance

pytestmark = pytest.mark.anyio

TEXT = "A quick brown fox ran; it cost $5.20. Nobody saw it! [pause:300ms] Then it went on, and on, and on."


async def started(folder: Path, workers: int, **settings: object) -> KokoroEngine:
    engine = KokoroEngine(
        load_settings(models_dir=folder, kokoro_text_workers=workers, first_chunk_phonemes=20, **settings)
    )
    await engine.start_with(BatchedSynthesis(NativeKokoro(tiny_kokoro(), 4), None), tiny_voices(folder))
    return engine


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def alone(tmp_path_factory: pytest.TempPathFactory, anyio_backend: str):
    engine = await started(tmp_path_factory.mktemp("alone"), 0)
    yield engine
    await engine.close()


@pytest.fixture(scope="module")
async def beside(tmp_path_factory: pytest.TempPathFactory, anyio_backend: str):
    engine = await started(tmp_path_factory.mktemp("beside"), 2)
    yield engine
    await engine.close()


async def spoken(
    engine: KokoroEngine, text: str = TEXT, voice: str = "af_heart", speed: float = 1.0
) -> list[AudioChunk]:
    return [chunk async for chunk in engine.speak(Utterance(text, voice, speed=speed))]


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def assert_equal(ours: list[AudioChunk], theirs: list[AudioChunk]) -> None:
    assert len(ours) == len(theirs) > 0
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one.pcm, other.pcm)
        assert (one.start, one.text, one.span, one.words) == (other.start, other.text, other.span, other.words)


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
async def test_the_same_samples_and_words_as_without_them(
    alone: KokoroEngine, beside: KokoroEngine, speed: float
) -> None:
    assert_equal(await spoken(beside, speed=speed), await spoken(alone, speed=speed))


async def test_the_same_for_many_at_once(alone: KokoroEngine, beside: KokoroEngine) -> None:
    texts = [f"This is text number {number}. {TEXT}" for number in range(12)]
    found = await asyncio.gather(*(spoken(beside, text, "am_adam") for text in texts))
    for text, chunks in zip(texts, found, strict=True):
        assert_equal(chunks, await spoken(alone, text, "am_adam"))


async def test_samples_with_no_room_in_their_place_come_with_the_answer(
    alone: KokoroEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_chunk, "_MORE_SAMPLES", 0)
    engine = await started(tmp_path, 1, kokoro_sentence_pause=3.0)
    expected = await started(tmp_path, 0, kokoro_sentence_pause=3.0)
    try:
        assert_equal(await spoken(engine, speed=0.5), await spoken(expected, speed=0.5))
    finally:
        await engine.close()
        await expected.close()


async def test_without_memory_to_share_the_workers_only_read(
    alone: KokoroEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(name: str) -> int:
        raise PermissionError(name)

    monkeypatch.setattr(os, "memfd_create", refused)
    engine = await started(tmp_path, 1)
    try:
        assert (engine._started().workers is None, engine._started().shared) == (False, None)
        assert_equal(await spoken(engine), await spoken(alone))
    finally:
        await engine.close()


async def test_where_the_memory_is_full_the_samples_are_sent(alone: KokoroEngine, beside: KokoroEngine) -> None:
    shared = beside._started().shared
    assert shared is not None
    all_of_it = shared.reserve(len(shared.samples))
    assert all_of_it is not None
    assert_equal(await spoken(beside), await spoken(alone))


async def test_nothing_is_held_after_listeners_have_left(alone: KokoroEngine, beside: KokoroEngine) -> None:
    shared = beside._started().shared
    assert shared is not None
    for left_after in (0.0, 0.01, 0.03, 0.1):
        leaving = [asyncio.create_task(spoken(beside)) for _ in range(4)]
        await asyncio.sleep(left_after)
        for task in leaving:
            task.cancel()
        await asyncio.gather(*leaving, return_exceptions=True)
    assert_equal(await spoken(beside), await spoken(alone))
    for _ in range(500):  # workers may still render for those who left
        if shared.reserve(len(shared.samples)) is not None:
            return
        await asyncio.sleep(0.01)
    pytest.fail("places are held for nobody")


async def test_a_worker_that_is_killed_fails_its_listeners_and_is_replaced(
    alone: KokoroEngine, beside: KokoroEngine
) -> None:
    workers = beside._started().workers
    assert workers is not None
    listening = [asyncio.create_task(spoken(beside, TEXT * 10)) for _ in range(4)]
    await asyncio.sleep(0.1)
    os.kill(children_of(workers._server.pid)[0], signal.SIGKILL)
    ended = await asyncio.gather(*listening, return_exceptions=True)
    assert all(isinstance(each, (list, UnavailableError)) for each in ended)
    assert any(isinstance(each, UnavailableError) for each in ended)
    assert_equal(await spoken(beside), await spoken(alone))
