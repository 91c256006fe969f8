"""Words that are timed after they were spoken, behind any engine that does not time its own."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from helpers.fakes import PlainToneEngine, running, tone_service
from helpers.untimed import UntimedStreamEngine, UntimedToneEngine
from polyvox.engines.base import Engine, SupportsMixing, SupportsStreamingText
from polyvox.installation import load_settings
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.kinds.stream_in import SpeakStream
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.words import word_track
from polyvox.service.words.timed_engine import TimedEngine, timed_engine
from polyvox.service.words.word_timer import Stretch, TimedWords, WordTimer
from polyvox.text.timed_words import TimedWord
from polyvox.types import AudioChunk, Span, TimingSource, Utterance, WordTiming

pytestmark = pytest.mark.anyio

TEXT = "One two, three four. Five six seven!"
WORDS = "One two three four Five six seven".split()
ALIGNED = TimingSource.ALIGNMENT
UTTERANCE = Utterance(TEXT, "low")


@pytest.fixture
async def executor() -> AsyncIterator[DeviceExecutor]:
    executor = DeviceExecutor("test-words", 1)
    yield executor
    await asyncio.to_thread(executor.close)


@pytest.fixture
def timer(tmp_path: Path) -> WordTimer:
    """One that has no model, so that it estimates."""
    return WordTimer(load_settings(models_dir=tmp_path))


class ScriptedTimer(WordTimer):
    """Finds a word for each half second of audio as soon as it is there; `gate`, where closed, blocks it."""

    def __init__(self, tmp_path: Path) -> None:
        super().__init__(load_settings(models_dir=tmp_path))
        self.gate = threading.Event()
        self.gate.set()
        self.seen: list[Stretch] = []

    def time(self, stretch: Stretch) -> TimedWords:
        self.gate.wait(10)
        self.seen.append(stretch)
        half = stretch.sample_rate // 2
        start = stretch.timed[-1].end if stretch.timed else stretch.start
        there = (stretch.start + len(stretch.pcm) - start) // half
        count = len(stretch.untimed) if stretch.whole else min(len(stretch.untimed), there)
        timed = TimedWords()
        timed.add([Span(start + place * half, start + (place + 1) * half) for place in range(count)], ALIGNED)
        return timed


async def spoken(engine: Engine, utterance: Utterance = UTTERANCE) -> list[AudioChunk]:
    return [chunk async for chunk in engine.speak(utterance)]


def words_of(chunks: Sequence[AudioChunk]) -> list[WordTiming]:
    return [word for chunk in chunks for word in chunk.words]


def check(words: Sequence[WordTiming], text: str, seconds: float) -> None:
    """Each is a word of the text, in order and within the audio."""
    assert [text[word.span.start : word.span.end] for word in words] == [word.word for word in words]
    assert all(before.start <= after.start for before, after in pairwise(words))
    assert all(0.0 <= word.start <= word.end <= seconds + 1e-9 for word in words)


async def test_samples_and_chunks_stay_as_they_are(timer, executor):
    plain = await spoken(UntimedToneEngine())
    timed = await spoken(timed_engine(UntimedToneEngine(), timer, executor))
    # Since Python 3.13 dataclasses compare field by field with `==`, which has no one truth for an array.
    left_out = {"pcm": None, "wall_seconds": 0.0, "device_seconds": 0.0}
    for before, after in zip(plain, timed, strict=False):
        np.testing.assert_array_equal(before.pcm, after.pcm)
        assert replace(before, **left_out) == replace(after, words=(), **left_out)
    assert [len(chunk.pcm) for chunk in timed[len(plain) :]] == [0]


async def test_every_word_comes_once_and_in_order_with_its_source(timer, executor):
    chunks = await spoken(timed_engine(UntimedToneEngine(), timer, executor))
    words = words_of(chunks)
    assert [word.word for word in words] == WORDS
    check(words, TEXT, chunks[-1].end / 24_000)
    assert {word.source for word in words} == {TimingSource.ESTIMATE}
    assert chunks[-1].timing_source is TimingSource.ESTIMATE


@pytest.mark.long
async def test_words_come_while_the_segment_is_still_spoken(tmp_path, executor):
    engine = UntimedToneEngine(chunks=8, chunk_seconds=0.5, delay=0.05)
    chunks = await spoken(timed_engine(engine, ScriptedTimer(tmp_path), executor))
    assert [word.word for word in words_of(chunks)] == WORDS
    assert len(words_of(chunks[:-1])) >= 3
    assert [word.start for word in words_of(chunks)] == [0.5 * place for place in range(7)]


async def test_audio_does_not_wait_for_words(tmp_path, executor):
    timer = ScriptedTimer(tmp_path)
    timer.gate.clear()
    speech = timed_engine(UntimedToneEngine(chunks=6, chunk_seconds=1.0), timer, executor).speak(UTTERANCE)
    heard = [await asyncio.wait_for(anext(speech), 2) for _ in range(6)]
    assert words_of(heard) == []
    timer.gate.set()
    assert [word.word for word in (await anext(speech)).words] == WORDS


async def test_words_that_are_late_at_the_end_are_estimated(tmp_path, executor, monkeypatch):
    monkeypatch.setattr(word_track, "_MOST_PATIENCE_SECONDS", 0.05)
    timer = ScriptedTimer(tmp_path)
    timer.gate.clear()
    try:
        chunks = await spoken(timed_engine(UntimedToneEngine(), timer, executor))
    finally:
        timer.gate.set()
    assert [word.word for word in words_of(chunks)] == WORDS
    assert chunks[-1].timing_source is TimingSource.ESTIMATE


@pytest.mark.long
async def test_where_more_follows_the_end_waits_for_words_no_longer_than_half_of_the_audio_plays(tmp_path, executor):
    timer = ScriptedTimer(tmp_path)
    timer.gate.clear()
    timer._aligns = False  # nothing has to be loaded
    began = time.monotonic()
    try:
        engine = UntimedToneEngine(chunks=2, chunk_seconds=1.5)
        await spoken(timed_engine(engine, timer, executor, patient=False))
    finally:
        timer.gate.set()
    assert time.monotonic() - began >= 1.4


async def test_an_alignment_that_fails_gives_estimates(tmp_path, executor):
    class Broken(ScriptedTimer):
        def time(self, stretch: Stretch) -> TimedWords:
            raise RuntimeError("the network broke")

    chunks = await spoken(timed_engine(UntimedToneEngine(), Broken(tmp_path), executor))
    assert [word.word for word in words_of(chunks)] == WORDS


async def test_a_caller_that_leaves_ends_the_work(tmp_path, executor):
    engine = UntimedToneEngine(chunks=50, chunk_seconds=1.0)
    speech = timed_engine(engine, ScriptedTimer(tmp_path), executor).speak(UTTERANCE)
    await anext(speech)
    await speech.aclose()
    assert engine.closed == 1
    assert not [task for task in asyncio.all_tasks() if "WordTrack" in repr(task.get_coro())]


async def test_an_engine_that_tells_no_text_has_all_words_at_its_end(timer, executor):
    class Wordless(UntimedToneEngine):
        async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
            async for chunk in super().speak(utterance):
                yield replace(chunk, text="", span=None)

    chunks = await spoken(timed_engine(Wordless(), timer, executor))
    assert [word.word for word in words_of(chunks)] == WORDS


async def test_text_that_no_chunk_claims_is_not_lost(timer, executor):
    class Short(UntimedToneEngine):
        async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
            async for chunk in super().speak(utterance):
                yield replace(chunk, span=Span(0, 8)) if chunk.index == 0 else chunk

    assert [word.word for word in words_of(await spoken(timed_engine(Short(), timer, executor)))] == WORDS


async def test_arriving_text_is_timed_by_what_was_sent(timer, executor):
    pieces = ["One  two, three ", "four.\nFive six", " seven!"]

    async def arriving() -> AsyncIterator[str]:
        for piece in pieces:
            yield piece

    engine = timed_engine(UntimedStreamEngine(chunks=2), timer, executor)
    assert isinstance(engine, SupportsStreamingText)
    chunks = [chunk async for chunk in engine.speak_stream(UTTERANCE, arriving())]
    words = words_of(chunks)
    assert [word.word for word in words] == WORDS
    check(words, "".join(pieces), chunks[-1].end / 24_000)
    assert [word.start >= 0.2 for word in words] == [False] * 3 + [True] * 4, "each passage has its own audio"


def test_an_engine_keeps_exactly_its_abilities(timer):
    plain = timed_engine(UntimedToneEngine(), timer, None)  # type: ignore[arg-type]
    assert isinstance(plain, TimedEngine)
    assert not isinstance(plain, SupportsStreamingText | SupportsMixing)


def test_words_of_an_unfinished_stretch_wait_for_its_end(timer):
    stretch = Stretch(np.zeros(24_000, np.float32), 24_000, 0, [TimedWord(Span(0, 3), "One")], whole=False)
    assert timer.time(stretch).spans == []
    assert len(timer.time(replace(stretch, whole=True)).spans) == 1


async def read(service, **fields) -> tuple[list[WordTiming], list[AudioChunk]]:
    async with await service.open(SpeechRequest(UTTERANCE, **fields), LOCAL_CALL) as session:
        chunks = [chunk async for chunk in session]
    return words_of(chunks), chunks


@pytest.fixture
async def service(tmp_path):
    async with running(tone_service(UntimedToneEngine(native_speed=False), models_dir=tmp_path)) as service:
        yield service


async def test_only_who_asks_for_words_gets_them(service):
    words, chunks = await read(service)
    assert words == []
    assert len(chunks) == 3
    words, chunks = await read(service, words=True)
    assert [word.word for word in words] == WORDS


async def test_times_follow_speed_and_sample_rate(service):
    slow, _ = await read(service, words=True)
    quick = replace(UTTERANCE, speed=2.0)
    async with await service.open(SpeechRequest(quick, words=True, sample_rate=16_000), LOCAL_CALL) as session:
        fast = words_of([chunk async for chunk in session])
    assert [word.start for word in fast] == pytest.approx([word.start / 2 for word in slow])
    assert {word.source for word in fast} == {TimingSource.ESTIMATE}


async def test_arriving_text_is_timed_sentence_by_sentence_behind_an_engine_that_takes_whole_ones(service):
    async def arriving() -> AsyncIterator[str]:
        for piece in ("One two, th", "ree four. Fi", "ve six seven!"):
            yield piece

    words, chunks = await read(service, words=True, kind=SpeakStream(arriving(), 1_000))
    assert [word.word for word in words] == WORDS
    check(words, TEXT, chunks[-1].end / 24_000)
    assert [word.start >= 0.3 for word in words] == [False] * 4 + [True] * 3


async def test_durations_alone_leave_other_engines_without_times(tmp_path):
    for engine, count in ((UntimedToneEngine(), 0), (PlainToneEngine(), 7)):
        async with running(tone_service(engine, models_dir=tmp_path, word_timings="durations")) as service:
            words, _ = await read(service, words=True)
        assert len(words) == count
        assert {word.source for word in words} <= {TimingSource.DURATIONS}
