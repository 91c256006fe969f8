"""Ranges of layers' inputs, for graphs in 8 bits."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

import training.wren  # noqa: E402
from helpers.tiny_wren import tiny_ranges, tiny_wren  # noqa: E402
from training.wren.checkpoint import load_student  # noqa: E402
from training.wren.ranges import FILE, InputHistogram, read_ranges  # noqa: E402

CHECKPOINT = Path(training.wren.__file__).parent / "checkpoint"


def test_rare_values_are_cut_off_where_that_costs_less_than_coarser_steps() -> None:
    histogram = InputHistogram()
    usual = np.random.default_rng(1).normal(size=100_000).astype(np.float32)
    histogram.add(usual)
    least, greatest = histogram.best_range()
    histogram.add(np.array([-60.0, 60.0], np.float32))
    assert -5 < least < -3
    assert 3 < greatest < 5
    assert histogram.greatest == 60
    assert 5 < histogram.best_range()[1] < 55


@pytest.mark.long
def test_every_layer_of_every_frame_is_measured() -> None:
    ranges = tiny_ranges()
    blocks = [f"{prefix}blocks.{index}.{layer}" for prefix in ("", "refiner.") for index in (0, 1)
              for layer in ("expand", "contract")]  # fmt: skip
    assert set(ranges) == {*blocks, "refiner.hidden_in", "refiner.spectra_in"}
    assert all(least < 0 < greatest for least, greatest in ranges.values())
    assert not any(module._forward_pre_hooks for module in tiny_wren().modules())


def test_a_checkpoint_without_ranges_has_none(tmp_path: Path) -> None:
    assert read_ranges(tmp_path) == {}
    (tmp_path / FILE).write_text(json.dumps({"blocks.0.expand": [-1.0, 2.0]}))
    assert read_ranges(tmp_path) == {"blocks.0.expand": (-1.0, 2.0)}


def test_the_ranges_of_the_repository_are_those_of_its_layers() -> None:
    layers = {name for name, _ in load_student(CHECKPOINT / "wren.safetensors").named_modules()}
    ranges = read_ranges(CHECKPOINT)
    assert len(ranges) == 2 * (8 + 4) + 2
    assert set(ranges) <= layers
