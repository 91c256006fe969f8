"""`python -m training.wren.ranges`: measure the inputs of a checkpoint's layers, for graphs in 8 bits.

Writes `ranges.json` beside the checkpoint, which `training.wren.export` reads: for each layer, the least and greatest
input that 8 bits tell apart. Values beyond are rare, and cutting them off costs less than coarser steps for all.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from polyvox.bundles.onnx_graphs.wren import Ranges
from polyvox.models.kokoro.wren import Wren
from training.wren.checkpoint import load_student
from training.wren.features import synthesize
from training.wren.lines import PhonemeLines
from training.wren.teacher import Request, Teacher
from training.wren.voices import StyleTables

FILE = "ranges.json"
_LAYERS = ("expand", "contract", "hidden_in", "spectra_in")
_FEWEST_IDS, _MOST_IDS = 15, 80
_SHARES = np.linspace(0.2, 1.0, 41)
"""Candidates for the part of a measured range that is kept, at either end."""
_BINS, _LIMIT = 32_768, 256.0

Histogram = npt.NDArray[np.int64]


class InputHistogram:
    """How often values occur, and the least and greatest of them."""

    def __init__(self) -> None:
        self.counts: Histogram = np.zeros(_BINS, np.int64)
        self.least, self.greatest = np.inf, -np.inf

    def add(self, values: npt.NDArray[np.float32]) -> None:
        self.counts += np.histogram(np.clip(values, -_LIMIT, _LIMIT), _BINS, (-_LIMIT, _LIMIT))[0]
        self.least, self.greatest = min(self.least, float(values.min())), max(self.greatest, float(values.max()))

    def best_range(self) -> tuple[float, float]:
        """The range whose 256 steps have the least squared error."""
        centres = (np.arange(_BINS) + 0.5) / _BINS * 2 * _LIMIT - _LIMIT
        occurring = self.counts > 0
        values, counts = centres[occurring], self.counts[occurring]
        candidates = ((low * min(self.least, 0.0), high * self.greatest) for low in _SHARES for high in _SHARES)
        best = min(candidates, key=lambda bounds: _squared_error(values, counts, *bounds))
        return round(best[0], 3), round(best[1], 3)


def _squared_error(values: npt.NDArray[np.float64], counts: Histogram, least: float, greatest: float) -> float:
    cut = values - np.clip(values, least, greatest)
    rounding = np.where(cut == 0, ((greatest - least) / 255) ** 2 / 12, 0.0)
    return float((counts * (np.square(cut) + rounding)).sum())


def read_ranges(folder: Path) -> Ranges:
    """The ranges beside a checkpoint; none where they were not measured."""
    file = folder / FILE
    if not file.exists():
        return MappingProxyType({})
    return {name: (least, greatest) for name, (least, greatest) in json.loads(file.read_text("utf-8")).items()}


@contextmanager
def watched(student: Wren) -> Iterator[dict[str, InputHistogram]]:
    """Histograms of the inputs of all layers that are computed in 8 bits for every frame, while it decodes."""
    seen: dict[str, InputHistogram] = {}
    hooks = []
    for name, module in student.named_modules():
        if isinstance(module, nn.Linear) and name.rsplit(".", 1)[-1] in _LAYERS:
            seen[name] = InputHistogram()
            hooks.append(module.register_forward_pre_hook(_recorder(seen[name])))
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _recorder(histogram: InputHistogram) -> Any:  # noqa: ANN401 - torch's hooks are untyped
    def record(_: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        histogram.add(inputs[0].detach().float().numpy().reshape(-1))

    return record


def measure(student: Wren, teacher: Teacher, lines: PhonemeLines, voices: StyleTables, count: int) -> Ranges:
    """Decode random lines of random voices, mixes and perturbed voices, as in training."""
    rng = random.Random(1)  # noqa: S311 - not for cryptography
    torch.manual_seed(1)
    rows = [row for row in lines.rows if _FEWEST_IDS <= len(row[0]) <= _MOST_IDS]
    with watched(student) as seen:
        for ids, language in rng.choices(rows, k=count):
            (features,) = teacher.predict([Request(ids, voices.sample(language, len(ids), rng))])
            synthesize(student, features)
    return {name: histogram.best_range() for name, histogram in seen.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure one checkpoint's ranges, on the CPU."""
    parser = argparse.ArgumentParser(prog="python -m training.wren.ranges", description=__doc__)
    parser.add_argument("student", type=Path, help="wren.safetensors of a checkpoint")
    parser.add_argument("data", type=Path, help="folder of lines.npz")
    parser.add_argument("kokoro", type=Path, help="Kokoro's bundle: model.onnx and voices/")
    parser.add_argument("--utterances", type=int, default=60)
    options = parser.parse_args(arguments)
    device = torch.device("cpu")
    teacher, voices = (
        Teacher(options.kokoro / "model.onnx", device),
        StyleTables.read(options.kokoro / "voices", device),
    )
    lines = PhonemeLines(options.data / "lines.npz", 1)
    found = measure(load_student(options.student), teacher, lines, voices, options.utterances)
    (options.student.parent / FILE).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
