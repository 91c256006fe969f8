"""`python -m training.wren.legacy`: convert checkpoints of the first runs, three `.pt` files, to the present format."""

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from polyvox.models.kokoro.wren import WrenConfig
from training.wren.checkpoint import Checkpoint, Moments, OptimizerState, Progress

CONFIG_NAMES = {
    "kernel": "kernel_size",
    "widening": "expansion",
    "text": "text_dim",
    "style": "style_dim",
    "code": "condition_dim",
    "parts": "noise_frames",
    "part_fft": "noise_fft",
    "bands": "noise_bands",
    "ripples": "modulation_harmonics",
}
MODULE_NAMES = {
    "read_text": "text_conv",
    "read_curves": "curve_conv",
    "read_style": "style_mlp",
    "near": "depthwise",
    "shape": "film",
    "widen": "expand",
    "narrow": "contract",
    "gain": "layer_scale",
    "say": "head",
    "judges": "members",
    "last": "output",
    "direction": "weight_v",
    "length": "weight_g",
}
"""Former attribute names, as parts of state-dict keys."""
_PROGRESS_NAMES = {"judged_steps": "adversarial_steps"}
_FILES = ("student.pt", "descent.pt", "judges.pt")
_KEY_PART = re.compile(r"[^.]+")


def read_legacy(folder: Path) -> Checkpoint:
    """Read `student.pt`, `descent.pt` and `judges.pt`."""
    student, descent, judges = (torch.load(folder / name, map_location="cpu", weights_only=True) for name in _FILES)
    ema, discriminators = _renamed(student["weights"]), _renamed(judges["judges"])
    # Moments were lists in the order of the parameters, which is that of the state dict.
    steps, discriminator_steps = judges["steps"]
    state = OptimizerState(
        _renamed(descent["beside"]),
        Moments(
            steps,
            dict(zip(ema, descent["way"], strict=bool(descent["way"]))),
            dict(zip(ema, judges["squares"], strict=bool(judges["squares"]))),
        ),
        Moments(
            discriminator_steps,
            {name: first for name, (first, _) in zip(discriminators, judges["judging"], strict=False)},
            {name: second for name, (_, second) in zip(discriminators, judges["judging"], strict=False)},
        ),
        judges["usual"],
    )
    config = {CONFIG_NAMES.get(name, name): size for name, size in student["config"].items()}
    progress = {_PROGRESS_NAMES.get(name, name): value for name, value in student["told"].items()}
    return Checkpoint(WrenConfig.of(config), Progress(**progress), ema, discriminators, state)


def _renamed(entries: Mapping[str, Any]) -> dict[str, Any]:
    return {
        _KEY_PART.sub(lambda part: MODULE_NAMES.get(part[0], part[0]), key): _contiguous(value)
        for key, value in entries.items()
    }


def _contiguous(value: Any) -> Any:  # noqa: ANN401 - a tensor, or a dictionary of them
    return value.contiguous() if isinstance(value, Tensor) else value


def main(arguments: Sequence[str] | None = None) -> None:
    """Convert one folder."""
    parser = argparse.ArgumentParser(prog="python -m training.wren.legacy", description=__doc__)
    parser.add_argument("source", type=Path, help=f"folder of {', '.join(_FILES)}")
    parser.add_argument("target", type=Path, help="folder to write")
    parser.add_argument("--no-optimizer", dest="optimizer", action="store_false", help="leave out the optimizer state")
    options = parser.parse_args(arguments)
    read_legacy(options.source).write(options.target, optimizer=options.optimizer)


if __name__ == "__main__":
    main()
