"""Cached speech on disk: bounded, young enough, whole or not there."""

import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.fakes import tone_settings
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.cache.speech_cache import SpeechCache, SpeechKey
from polyvox.service.telemetry.metrics import Metrics
from polyvox.text.warnings import Warnings
from polyvox.types import AudioChunk, ChunkPolicy, MarkTiming, PhonemeShare, Span, TimingSource, WordTiming

pytestmark = pytest.mark.anyio

KEY = SpeechKey("a" * 64)


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def cache_in(folder: Path, clock: Clock | None = None, **settings: Any) -> SpeechCache:
    given = {"speech_cache_bytes": 1_000_000, "speech_cache_folder": folder, "speech_cache_seconds": 60.0} | settings
    return SpeechCache(tone_settings(**given), Metrics(), clock or Clock())


def chunk(index: int = 0, samples: int = 100, channels: int = 1) -> AudioChunk:
    pcm = np.random.default_rng(index).normal(size=(samples, channels)).astype(np.float32)
    return AudioChunk(
        pcm=pcm[:, 0] if channels == 1 else pcm,
        sample_rate=24_000,
        index=index,
        start=index * samples,
        text="Tide \u2603",
        span=Span(0, 4),
        words=(
            WordTiming("Tide", 0.1, 1 / 3, Span(0, 4), TimingSource.ALIGNMENT, (PhonemeShare("tˈaɪ", 0.0, 1 / 3),)),
        ),
        tokens=Span(1, 2),
        policy=ChunkPolicy(1, 1.5, 9),
        voice="low",
        marks=(MarkTiming("here", 0.25),),
    )


async def stream(*chunks: AudioChunk) -> AsyncIterator[AudioChunk]:
    for each in chunks:
        yield each


async def stored(cache: SpeechCache, key: SpeechKey, *chunks: AudioChunk, warnings: tuple[str, ...] = ()) -> None:
    assert [each async for each in cache.record(key, stream(*chunks), Warnings(warnings))] == list(chunks)


async def read(cache: SpeechCache, key: SpeechKey) -> list[AudioChunk] | None:
    found = await cache.find(key)
    if found is None:
        return None
    executor = DeviceExecutor("reader", 1)
    try:
        return [each async for each in found.chunks(executor)]
    finally:
        executor.close()


@pytest.mark.parametrize("channels", [1, 2])
async def test_chunks_come_back_as_they_were_also_after_a_restart(tmp_path: Path, channels: int):
    clock = Clock()
    first, cache = chunk(0, channels=channels), cache_in(tmp_path, clock)
    empty = AudioChunk(first.pcm[:0], 24_000, 1, 100, words=first.words)
    await stored(cache, KEY, first, empty, warnings=("Odd.",))
    await cache.close()
    clock.now += 7.0
    restarted = cache_in(tmp_path, clock)
    found = await restarted.find(KEY)
    assert found is not None
    assert (found.warnings, found.age) == (("Odd.",), 7.0)
    again = await read(restarted, KEY)
    assert again is not None
    for one, other in zip((first, empty), again, strict=True):
        assert np.array_equal(one.pcm, other.pcm)
        assert one.pcm.shape == other.pcm.shape
        plain = {name: getattr(one, name) for name in ("index", "start", "text", "span", "words", "tokens", "voice")}
        assert plain == {name: getattr(other, name) for name in plain}
        assert (one.marks, one.policy) == (other.marks, other.policy)


def modes(folder: Path) -> set[tuple[bool, int]]:
    return {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in folder.rglob("*")}


async def test_an_entry_is_for_this_user_alone(tmp_path: Path):
    cache = cache_in(tmp_path / "new" / "cache")
    await stored(cache, KEY, chunk())
    await cache.close()
    assert modes(tmp_path) == {(True, 0o700), (False, 0o600)}


async def test_a_torn_or_altered_entry_is_none_and_goes(tmp_path: Path):
    cache = cache_in(tmp_path)
    await stored(cache, KEY, chunk())
    await cache.close()
    (path,) = tmp_path.glob("*/*.speech")  # noqa: ASYNC240 - one
    whole = path.read_bytes()
    torn = [whole[:length] for length in (0, 5, 20, 30, 200, len(whole) - 17, len(whole) - 1)]
    altered = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in (3, 18, 40, len(whole) - 100)]
    for broken in (*torn, *altered, whole + b"x"):
        path.write_bytes(broken)
        assert await read(cache_in(tmp_path), KEY) is None
        assert not path.exists()
    path.write_bytes(whole)
    assert await read(cache_in(tmp_path), KEY) is not None


async def test_what_was_used_longest_ago_makes_room(tmp_path: Path):
    clock = Clock()
    cache = cache_in(tmp_path, clock, speech_cache_bytes=100_000)
    keys = [SpeechKey(f"{number:064x}") for number in range(12)]
    for key in keys:
        clock.now += 1
        await stored(cache, key, chunk(samples=2_500))
        assert await cache.find(key) is not None, "find waits until it is written: the writer's clock is this one"
        assert await cache.find(keys[0]) is not None, "the one in use was dropped"
    kept = [key for key in keys if await cache.find(key) is not None]
    assert keys[-1] in kept
    assert len(kept) < 12
    assert sum(path.stat().st_size for path in tmp_path.glob("*/*")) <= 100_000  # noqa: ASYNC240 - few
    await cache.close()


async def test_an_entry_grows_old_and_one_that_is_too_large_is_not_kept(tmp_path: Path):
    clock = Clock()
    cache = cache_in(tmp_path, clock)
    await stored(cache, KEY, chunk())
    clock.now += 59.0
    assert await cache.find(KEY) is not None
    clock.now += 2.0
    assert await cache.find(KEY) is None
    await stored(cache, KEY, *(chunk(index, samples=30_000) for index in range(3)))
    assert await cache.find(KEY) is None
    await cache.close()


async def test_a_stream_that_is_closed_early_is_not_kept(tmp_path: Path):
    cache = cache_in(tmp_path)
    speech = cache.record(KEY, stream(chunk(0), chunk(1)), Warnings())
    await anext(speech)
    await speech.aclose()
    assert await cache.find(KEY) is None
    await stored(cache, KEY)
    assert await cache.find(KEY) is None
    await cache.close()


async def test_a_folder_that_cannot_be_written_costs_nothing_but_the_cache(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"")
    cache = cache_in(tmp_path / "file" / "cache")
    await stored(cache, KEY, chunk())
    assert await cache.find(KEY) is None
    await cache.close()


async def test_speech_in_a_voice_is_forgotten_by_its_tag(tmp_path: Path):
    cache = cache_in(tmp_path)
    await stored(cache, SpeechKey("b" * 64, ("1" * 16, "2" * 16)), chunk())
    await stored(cache, SpeechKey("c" * 64, ("3" * 16,)), chunk())
    assert await cache.forget("2" * 16) == 1
    assert await cache.find(SpeechKey("b" * 64, ("1" * 16, "2" * 16))) is None
    assert await cache.find(SpeechKey("c" * 64, ("3" * 16,))) is not None
    await cache.close()
