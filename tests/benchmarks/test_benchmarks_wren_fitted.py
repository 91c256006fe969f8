"""Fits that are kept: a clip is fitted once, and its style comes back as it was."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from benchmarks import wren_fitted
from benchmarks.cloning_clips import CLIPS, Clip
from polyvox.types import Pcm
from polyvox.voices.fitted import FittedStyle

OFFSET = np.linspace(-1, 1, 256, dtype=np.float32)


class ScriptedFitter:
    """Fits the same style to everything, and says what it was asked for."""

    default_steps = 48
    asked: list[tuple[int, int]]

    def __init__(self, models_dir: Path) -> None:
        type(self).asked = []

    def fit(self, pcm: Pcm, rate: int, *, steps: int, seed: int, on_step: object) -> FittedStyle:
        self.asked.append((rate, steps))
        return FittedStyle("kokoro", "af_heart(1)", OFFSET, 0.5, 0.2, 0.0, steps, seed)


@pytest.mark.parametrize(("steps", "taken"), [(0, 48), (4, 4)])
def test_a_clip_is_fitted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], steps: int, taken: int
) -> None:
    monkeypatch.setattr(wren_fitted, "Fitter", ScriptedFitter)
    monkeypatch.setattr(Clip, "read", lambda clip, folder: (np.zeros(8, np.float32), 16_000))
    for _ in range(2):
        style = wren_fitted.KeptFits(tmp_path / "fits", tmp_path, tmp_path, steps).style(CLIPS[0])
        assert (style.name, style.mix) == (CLIPS[0].name, "af_heart(1)")
        np.testing.assert_array_equal(style.offset, OFFSET)
    assert ScriptedFitter.asked == [(16_000, taken)]
    (line,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (line["clip"], line["fitted"]["steps"], "offset" in line["fitted"]) == (CLIPS[0].name, taken, False)


def test_an_unknown_clip_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        wren_fitted.main([str(tmp_path / "a.npz"), "nobody"])
    assert "There is no clip nobody." in capsys.readouterr().err
