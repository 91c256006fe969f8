"""The native benchmark's own arithmetic, at toy size."""

import pytest

torch = pytest.importorskip("torch")

from polyvox.bench.kokoro_native import (  # noqa: E402
    Distance,
    Figures,
    calls,
    measured,
    on_device,
    read_style,
    seeded_network,
    tolerance,
)
from polyvox.runtime.placing import CPU  # noqa: E402
from tiny_kokoro import TINY  # noqa: E402

STYLE = read_style(None)


@pytest.mark.anyio
async def test_every_stream_speaks_all_its_chunks():
    native = on_device(seeded_network(TINY), CPU, batch=4)
    figures = await measured(native, STYLE, 3, ["nˈO.", "wˈA."])
    assert figures.streams == len(figures.first_audio) == 3
    assert 0 < min(figures.first_audio) <= max(figures.first_audio) < figures.wall_seconds
    frames = sum(
        planned.durations.sum()
        for stream in range(3)
        for planned in native.plan([call.input for call in calls(STYLE, ["nˈO.", "wˈA."], stream)])
    )
    assert figures.audio_seconds == pytest.approx(frames * 600 / 24_000, rel=0.8), "less silence, plus pauses"


def test_figures_are_of_all_streams():
    assert str(Figures(2, (0.5, 1.5), audio_seconds=10.0, wall_seconds=5.0)) == (
        "  2 at once: first audio 1000 ms (median), 1500 ms (last); real-time factor 0.5000; 2.0 s of audio a second"
    )


def test_distances_are_in_decibels():
    samples = torch.randn(24_000, generator=torch.Generator().manual_seed(0))
    near = Distance.between(samples * 1.1, samples)
    assert near.snr == pytest.approx(20.0, abs=0.01)
    assert near.spectral == pytest.approx(0.83, abs=0.01)


def test_sixteen_bits_are_measured_against_thirty_two_on_the_cpu():
    found = tolerance(seeded_network(TINY), STYLE, "cpu")
    assert sorted(found) == ["bfloat16", "float16"]
    assert found["float16"].snr > found["bfloat16"].snr > 10
