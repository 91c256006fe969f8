"""The ZipVoice benchmark's own arithmetic, at toy size."""

import pytest
import torch

from benchmarks import zipvoice as bench
from benchmarks.seeded_engines import Sizes
from polyvox.engines.zipvoice.tuning import ZipVoiceOptions
from polyvox.models.zipvoice.zipformer import ZipformerConfig

pytestmark = pytest.mark.anyio


@pytest.mark.long
async def test_every_request_is_counted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    small = {"heads": 1, "layers": (1,), "kernels": (3,), "downsampling": (1,), "feed_forward": 16}
    monkeypatch.setattr(bench, "TEXT", ZipformerConfig(8, 100, 8, **small))
    monkeypatch.setattr(bench, "DECODER", ZipformerConfig(300, 100, 8, **small, time=8))
    monkeypatch.setattr(bench, "CHUNK_SECONDS", (0.5, 1.0))
    await bench.measure(torch.device("cpu"), distilled=True, steps=1, requests=[1, 3], prompt_seconds=1.0)
    head, one, three = capsys.readouterr().out.splitlines()
    assert head == "distilled, 1 steps, cpu, 1 s of prompt"
    assert one.startswith("  1 at once")
    assert three.startswith("  3 at once")


def test_precision_is_judged_against_single(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "CHUNK_SECONDS", (0.5,))
    tiny = Sizes.tiny()
    networks = bench.random_networks(torch.device("cpu"), distilled=True, sizes=tiny.zipvoice, vocoder=tiny.vocos)
    manner = ZipVoiceOptions(1, 3.0, 0.5, False, 25.0, 0.1)
    same, rounded = (bench.deviation(networks, dtype, manner, 0.5) for dtype in (torch.float32, torch.bfloat16))
    assert (same.mel, same.samples) == (0, 0)
    assert 0 < rounded.mel < 0.1
    assert rounded.samples > 0
    assert "of its spread" in str(rounded)


def test_figures_are_of_all_requests() -> None:
    figures = bench.ZipVoiceFigures(2, (0.5, 1.5), audio_seconds=10.0, wall_seconds=5.0, cpu_seconds=20.0)
    assert str(figures) == (
        "  2 at once: first audio 1.000 s (median), 1.500 s (last); 2.00 s of audio a second; "
        "2.00 CPU seconds for one of audio"
    )
