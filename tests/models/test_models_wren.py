"""Wren against samples of the network that was trained."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from helpers.tiny_wren import tiny_input, tiny_wren  # noqa: E402
from training.wren.features import Features, spread_frames  # noqa: E402

GOLDEN = Path(__file__).parents[1] / "golden" / "wren" / "tiny.npz"


def test_decodes_the_samples_of_the_trained_network() -> None:
    given = tiny_input()
    features = Features(*(given[name][0] for name in ("text", "pitch", "energy", "style")))
    samples = tiny_wren()(**given, utterance=spread_frames(features))[0]
    wanted = np.load(GOLDEN)["samples"]
    assert np.abs(samples.numpy() - wanted).max() < 1e-5 * np.abs(wanted).max()
