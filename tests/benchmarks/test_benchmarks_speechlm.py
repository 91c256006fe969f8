"""The full-size benchmark's own arithmetic, on tiny sizes."""

import asyncio

import pytest

torch = pytest.importorskip("torch")

from benchmarks.speechlm_gpu import Sizes, SpeechLmFigures, random_networks, report, run  # noqa: E402
from helpers.tiny_speechlm import tiny_speechlm_settings  # noqa: E402
from polyvox.models.qwen.model import QwenConfig  # noqa: E402
from polyvox.models.speechlm.neucodec import NeuCodecConfig  # noqa: E402

TINY = Sizes(
    QwenConfig(hidden=32, feed_forward=64, layers=2, heads=4, key_heads=2, head_width=8, qkv_bias=False, qk_norm=True),
    NeuCodecConfig(hidden=64, depth=1, heads=4),
    codes=512,
)


@pytest.mark.long
def test_every_utterance_has_the_length_it_was_given(tmp_path):
    networks = random_networks(TINY, torch.device("cpu"), torch.float32)
    (figures,) = asyncio.run(run(networks, tiny_speechlm_settings(tmp_path), [4], tokens=50))
    assert figures.audio_seconds == pytest.approx(16 * 1.0, rel=0.1)
    assert len(figures.first_audio) == 16
    assert 0 < max(figures.first_audio) < figures.seconds


def test_the_report_sets_the_original_s_figures_beside_ours():
    text = report([SpeechLmFigures(50, (0.05, 0.07, 0.06), 500.0, 2.0), SpeechLmFigures(3, (0.1,), 1.0, 1.0)])
    assert text.splitlines()[1].split() == ["50", "60", "70", "250.0", "143.8"]
    assert text.splitlines()[2].split() == ["3", "100", "100", "1.0"]
