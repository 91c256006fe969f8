"""Post-processing of an engine's audio for the caller."""

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.fakes import tone
from helpers.tables import each_row
from polyvox.provenance.watermark import WatermarkFinding
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.delivery import Delivery
from polyvox.types import AudioChunk, Pcm, Span, WordTiming

pytestmark = pytest.mark.anyio

RATE = 24_000


@pytest.fixture
async def executor() -> AsyncIterator[DeviceExecutor]:
    executor = DeviceExecutor("test-audio", 1)
    yield executor
    executor.close()


class Source:
    """A tone cut into chunks of the given lengths, a word in each; remembers whether it was closed."""

    def __init__(self, *lengths: int, channels: int = 1) -> None:
        self.lengths = lengths
        self.channels = channels
        self.closed = False

    async def __call__(self) -> AsyncIterator[AudioChunk]:
        try:
            start = 0
            for index, length in enumerate(self.lengths):
                word = WordTiming(f"w{index}", start / RATE, (start + length) / RATE, Span(3 * index, 3 * index + 2))
                yield AudioChunk(
                    pcm=tone(440.0, start, length, RATE, self.channels),
                    sample_rate=RATE,
                    index=index,
                    start=start,
                    text=f"w{index} ",
                    span=word.span,
                    words=(word,),
                    tokens=Span(index, index + 1),
                    wall_seconds=0.5,
                    device_seconds=0.25,
                )
                start += length
        finally:
            self.closed = True


async def carried(delivery: Delivery, source: Source, executor: DeviceExecutor) -> list[AudioChunk]:
    return [chunk async for chunk in delivery.process(source(), executor)]


def joined(chunks: list[AudioChunk]) -> Pcm:
    return np.concatenate([chunk.pcm for chunk in chunks])


def assert_well_kept(chunks: list[AudioChunk], rate: int) -> None:
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert chunks[0].start == 0
    assert all(one.end == other.start for one, other in pairwise(chunks))
    assert {chunk.sample_rate for chunk in chunks} == {rate}


async def test_a_direct_delivery_passes_chunks_through_unchanged(executor: DeviceExecutor) -> None:
    chunk = AudioChunk(pcm=tone(440.0, 0, 10, RATE), sample_rate=RATE, index=7, start=70)

    async def source() -> AsyncIterator[AudioChunk]:
        yield chunk

    delivery = Delivery(RATE, RATE)
    assert delivery.is_direct
    (same,) = [chunk async for chunk in delivery.process(source(), executor)]
    assert same is chunk


@each_row(
    "delivery",
    [
        Delivery(RATE, 16_000),
        Delivery(RATE, RATE, tempo=2.0),
        Delivery(RATE, RATE, loudness=-16.0),
        Delivery(RATE, RATE, volume=0.5),
    ],
)
async def test_every_option_makes_a_delivery_indirect(delivery: Delivery) -> None:
    assert not delivery.is_direct


async def test_volume_scales_the_samples_and_keeps_everything_else(executor: DeviceExecutor) -> None:
    source = Source(1000, 2000)
    chunks = await carried(Delivery(RATE, RATE, volume=0.5), source, executor)
    plain = [chunk async for chunk in source()]
    for chunk, before in zip(chunks, plain, strict=True):
        np.testing.assert_allclose(chunk.pcm, before.pcm * 0.5)
        assert replace(chunk, pcm=before.pcm).words == before.words
        assert (chunk.index, chunk.start, chunk.text, chunk.span, chunk.tokens, chunk.wall_seconds) == (
            before.index,
            before.start,
            before.text,
            before.span,
            before.tokens,
            before.wall_seconds,
        )


async def test_louder_speech_is_limited_and_not_clipped(executor: DeviceExecutor) -> None:
    source = Source(12_000, 12_000)
    plain = joined([chunk async for chunk in source()])
    gain = 1.5 / float(np.abs(plain).max())
    loud = joined(await carried(Delivery(RATE, RATE, volume=gain), source, executor))
    assert len(loud) == len(plain)
    assert float(np.abs(loud).max()) == pytest.approx(10 ** (-1 / 20), abs=0.02)


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100, 48_000])
async def test_another_rate_keeps_the_length_in_seconds_and_the_words_where_they_are(
    executor: DeviceExecutor, rate: int
) -> None:
    source = Source(12_000, 12_000, 6_000)
    chunks = await carried(Delivery(RATE, rate), source, executor)
    assert_well_kept(chunks, rate)
    assert len(joined(chunks)) == pytest.approx(30_000 * rate / RATE, abs=2)
    assert [word for chunk in chunks for word in chunk.words] == [
        word async for chunk in source() for word in chunk.words
    ]
    expected = tone(440.0, 0, len(joined(chunks)), rate)
    middle = slice(rate // 10, -rate // 10)
    np.testing.assert_allclose(joined(chunks)[middle], expected[middle], atol=0.01)


async def test_tempo_moves_the_words_with_the_audio(executor: DeviceExecutor) -> None:
    chunks = await carried(Delivery(RATE, RATE, tempo=2.0), Source(24_000, 24_000), executor)
    assert_well_kept(chunks, RATE)
    assert len(joined(chunks)) == pytest.approx(24_000, abs=RATE // 50)
    words = [word for chunk in chunks for word in chunk.words]
    assert [(word.word, word.start, word.end) for word in words] == [("w0", 0.0, 0.5), ("w1", 0.5, 1.0)]


async def test_audio_is_not_delayed_by_a_chunk(executor: DeviceExecutor) -> None:
    """What comes out of the first chunk is all of it but the little that a filter must hold."""
    delivery = Delivery(RATE, 16_000, tempo=1.25, volume=0.5)
    first = await anext(aiter(delivery.process(Source(48_000, 48_000)(), executor)))
    assert first.duration > 48_000 / RATE / 1.25 - 0.3


async def test_the_tail_comes_as_one_chunk_more_without_words(executor: DeviceExecutor) -> None:
    chunks = await carried(Delivery(RATE, 16_000), Source(24_000), executor)
    assert [len(chunk.words) for chunk in chunks] == [1, 0]
    assert 0 < chunks[1].duration < 0.1


async def test_the_words_of_a_chunk_that_is_held_back_go_with_the_next(executor: DeviceExecutor) -> None:
    """Chunks of one millisecond are shorter than what the filters hold."""
    source = Source(*[24] * 5, 24_000, 24)
    chunks = await carried(Delivery(RATE, 16_000), source, executor)
    assert_well_kept(chunks, 16_000)
    assert all(len(chunk.pcm) for chunk in chunks)
    assert [word.word for chunk in chunks for word in chunk.words] == [f"w{n}" for n in range(7)]
    assert "".join(chunk.text for chunk in chunks) == "".join(f"w{n} " for n in range(7))
    assert chunks[0].tokens == Span(0, 6)
    assert sum(chunk.wall_seconds for chunk in chunks) == 7 * 0.5
    assert sum(chunk.device_seconds for chunk in chunks) == 7 * 0.25


async def test_words_without_any_audio_behind_them_are_not_lost(executor: DeviceExecutor) -> None:
    chunks = await carried(Delivery(RATE, RATE, volume=0.5), Source(100, 0), executor)
    assert [(len(chunk.pcm), len(chunk.words)) for chunk in chunks] == [(100, 1), (0, 1)]


async def test_stereo_stays_stereo_through_every_step(executor: DeviceExecutor) -> None:
    delivery = Delivery(RATE, 16_000, channels=2, tempo=1.5, loudness=-20.0, volume=0.5)
    chunks = await carried(delivery, Source(36_000, 36_000, channels=2), executor)
    assert_well_kept(chunks, 16_000)
    assert joined(chunks).shape[1] == 2
    assert len(joined(chunks)) == pytest.approx(32_000, abs=320)


async def test_loudness_brings_the_speech_to_its_target(executor: DeviceExecutor) -> None:
    soft = await carried(Delivery(RATE, RATE, loudness=-30.0), Source(*[24_000] * 4), executor)
    loud = await carried(Delivery(RATE, RATE, loudness=-15.0), Source(*[24_000] * 4), executor)
    late = slice(-24_000, -2_400)
    ratio = np.std(joined(loud)[late]) / np.std(joined(soft)[late])
    assert 20 * np.log10(ratio) == pytest.approx(15.0, abs=1.5)


async def test_closing_it_early_closes_the_source(executor: DeviceExecutor) -> None:
    for delivery in (Delivery(RATE, RATE), Delivery(RATE, 16_000)):
        source = Source(24_000, 24_000)
        line = delivery.process(source(), executor)
        await anext(line)
        await line.aclose()
        assert source.closed


async def test_the_work_is_done_off_the_loop(executor: DeviceExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    from polyvox.service import delivery as room

    where: set[str] = set()
    monkeypatch.setattr(room, "scale", lambda pcm, gain: where.add(threading.current_thread().name) or pcm)
    await carried(Delivery(RATE, RATE, volume=0.5), Source(100, 100), executor)
    assert all(name.startswith("test-audio") for name in where)
    assert where


@pytest.mark.long
@given(
    lengths=st.lists(st.integers(0, 6_000), min_size=1, max_size=8),
    rate=st.sampled_from([8_000, 16_000, 22_050, 24_000, 48_000]),
    tempo=st.sampled_from([0.5, 1.0, 1.7]),
    volume=st.sampled_from([0.3, 1.0]),
)
@examples(25)
def test_no_sample_and_no_word_is_lost_however_the_speech_is_chunked(
    lengths: list[int], rate: int, tempo: float, volume: float
) -> None:
    async def scenario() -> list[AudioChunk]:
        executor = DeviceExecutor("test-any", 1)
        try:
            delivery = Delivery(RATE, rate, tempo=tempo, volume=volume)
            return await carried(delivery, Source(*lengths), executor)
        finally:
            executor.close()

    chunks = asyncio.run(scenario())
    assert_well_kept(chunks, rate)
    samples = sum(len(chunk.pcm) for chunk in chunks)
    assert samples == pytest.approx(sum(lengths) / tempo * rate / RATE, abs=3)
    assert [word.word for chunk in chunks for word in chunk.words] == [f"w{n}" for n in range(len(lengths))]


class Lifting:
    """A watermark that anyone can see: it holds 100 samples back, and adds one to each."""

    name = "lifting"

    def __init__(self) -> None:
        self.held = np.zeros(0, np.float32)

    def stream(self, sample_rate: int, channels: int) -> "Lifting":
        return Lifting()

    def push(self, pcm: Pcm) -> Pcm:
        samples = np.concatenate((self.held, pcm + 1))
        self.held = samples[max(0, len(samples) - 100) :]
        return samples[: len(samples) - len(self.held)]

    def finish(self) -> Pcm:
        return self.held

    def find(self, pcm: Pcm, sample_rate: int) -> WatermarkFinding:
        return WatermarkFinding(1.0, True, len(pcm) / sample_rate)


async def test_speech_is_marked_last_and_keeps_its_length_and_words(executor):
    source = Source(50, 60, 24_000)
    delivery = Delivery(RATE, 16_000, volume=2.0)
    plain = [chunk async for chunk in delivery.process(Source(50, 60, 24_000)(), executor)]
    marked = [chunk async for chunk in replace(delivery, watermark=Lifting()).process(source(), executor)]
    before, after = (np.concatenate([chunk.pcm for chunk in chunks]) for chunks in (plain, marked))
    np.testing.assert_allclose(after, before + 1, atol=1e-6)
    assert [word for chunk in marked for word in chunk.words] == [word for chunk in plain for word in chunk.words]
    assert source.closed
