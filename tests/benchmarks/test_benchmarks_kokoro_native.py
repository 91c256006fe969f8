"""The native benchmark's own arithmetic, at toy size."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from benchmarks import kokoro_native  # noqa: E402
from benchmarks.kokoro_native import (  # noqa: E402
    Distance,
    KokoroFigures,
    batched_snr,
    kept,
    measured,
    on_device,
    read_style,
    seeded_network,
    speaking,
    streamed,
    text_of,
    tolerance,
)
from helpers.tiny_kokoro import TINY  # noqa: E402
from polyvox.engines.kokoro.native.network import LaunchedBatch  # noqa: E402
from polyvox.runtime.placement import CPU  # noqa: E402
from polyvox.types import Utterance  # noqa: E402

STYLE = read_style(None)


@pytest.mark.long
@pytest.mark.anyio
async def test_every_stream_speaks_all_of_its_text():
    native = on_device(seeded_network(TINY), CPU, batch=4)
    async with speaking(native, STYLE) as engine:
        figures = await measured(engine, ["No.", "Yes, no.", "Why?"])
    assert figures.streams == len(figures.first_audio) == 3
    assert 0 < min(figures.first_audio) <= max(figures.first_audio) < figures.wall_seconds
    assert 0 < figures.device_seconds < figures.wall_seconds
    alone = await kept(native, STYLE, ["No.", "Yes, no.", "Why?"])
    assert figures.audio_seconds == pytest.approx(sum(map(len, alone)) / 24_000, rel=0.1), "at nearly the same speed"


@pytest.mark.long
@pytest.mark.anyio
async def test_few_streams_are_measured_several_times(monkeypatch):
    monkeypatch.setattr(kokoro_native, "text_of", lambda stream: "No.")
    native = on_device(seeded_network(TINY), CPU, batch=4)
    found = [figures async for figures in streamed(native, STYLE, [3, 5])]
    assert [(figures.streams, len(figures.first_audio)) for figures in found] == [(3, 6), (5, 5)]


@pytest.mark.long
@pytest.mark.anyio
async def test_a_batched_stream_is_compared_with_itself_alone(monkeypatch):
    monkeypatch.setattr(kokoro_native, "text_of", lambda stream: ("No, no.", "Why?", "Yes.")[stream])
    native = on_device(seeded_network(TINY), CPU, batch=4)
    assert await batched_snr(native, STYLE, 3) > 60
    right, drift = LaunchedBatch.rows, itertools.count()
    monkeypatch.setattr(LaunchedBatch, "rows", lambda batch: [pcm * (1 + next(drift) / 9) for pcm in right(batch)])
    assert await batched_snr(native, STYLE, 3) < 40, "nothing is the same twice"


@pytest.mark.long
@pytest.mark.anyio
async def test_what_is_kept_is_what_the_engine_says():
    native = on_device(seeded_network(TINY), CPU, batch=4)
    rows = await kept(native, STYLE, ["No.", "Yes, no."])
    async with speaking(native, STYLE) as engine:
        said = [chunk.pcm async for chunk in engine.speak(Utterance("Yes, no.", "af_heart"))]
    assert [row.dtype for row in rows] == [np.int16] * 2
    np.testing.assert_allclose(rows[1] / 32_767, np.concatenate(said).clip(-1, 1), atol=1 / 32_767)


def test_streams_begin_with_different_sentences():
    texts = {text_of(stream) for stream in range(8)}
    assert len(texts) == 8
    assert {text.count(".") + text.count("?") for text in texts} == {6}


def test_figures_are_of_all_streams():
    first = KokoroFigures(2, (0.5, 1.5), audio_seconds=6.0, wall_seconds=3.0, device_seconds=1.0)
    second = KokoroFigures(2, (1.0, 1.0), audio_seconds=4.0, wall_seconds=2.0, device_seconds=1.0)
    assert str(first + second) == (
        "  2 at once: first audio 1000 ms (median), 1500 ms (last); real-time factor 0.50000; 2.0 s of audio a second; "
        "device busy 40%"
    )


def test_distances_are_in_decibels():
    samples = torch.randn(24_000, generator=torch.Generator().manual_seed(0))
    near = Distance.between(samples * 1.1, samples)
    assert near.snr == pytest.approx(20.0, abs=0.01)
    assert near.spectral == pytest.approx(0.83, abs=0.01)


@pytest.mark.long
def test_sixteen_bits_are_measured_against_thirty_two_on_the_cpu():
    found = tolerance(seeded_network(TINY), STYLE, "cpu")
    assert sorted(found) == ["bfloat16", "float16"]
    assert found["float16"].snr > found["bfloat16"].snr > 10
